"""The costs of models in PostgreSQL: sums over calls and days. Not the calls: `model_calls`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.accounts import as_owner
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store
from cairn.llm.costs import CostBy, CostRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import date
    from uuid import UUID

_GROUPED: Mapping[CostBy, str] = {CostBy.MODEL: "cost.by_model", CostBy.PURPOSE: "cost.by_purpose"}


class PostgresCosts(Store):
    """Implements `llm.costs.CostStore`."""

    def days(self, since: date, until: date) -> Sequence[CostRow]:
        """Return a row a day that had calls, in order."""
        return _rows(self.run("cost.days", since=since, until=until))

    def grouped(self, by: CostBy, since: date, until: date) -> Sequence[CostRow]:
        """Return a row a model or purpose of the calls still kept, the dearest first."""
        return _rows(self.run(_GROUPED[by], since=since, until=until))

    def of_run(self, run_id: UUID) -> Sequence[CostRow]:
        """Return a row a purpose of one run, by name."""
        return _rows(self.run("cost.of_run", run_id=run_id))


def costs_by_workspace(owner_url: str, since: date, until: date) -> list[CostRow]:
    """Return a row a workspace that asked models, the dearest first: for the owner."""
    with as_owner(owner_url, snapshot=True) as connection:
        asked = {"since": since, "until": until}
        return _rows(connection.execute(query("cost.by_workspace"), asked).fetchall())


def _rows(found: Iterable[Sequence[Any]]) -> list[CostRow]:
    return [
        CostRow(
            name=name,
            calls=calls,
            tokens=tokens,
            usd=round(float(usd), 9),
            unpriced_calls=unpriced,
            input_tokens=given,
            output_tokens=made,
            cache_read_tokens=read,
            cache_write_tokens=written,
        )
        for name, calls, tokens, usd, unpriced, given, made, read, written in found
    ]
