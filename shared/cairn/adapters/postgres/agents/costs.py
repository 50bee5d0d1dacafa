"""The costs of models in PostgreSQL: sums over calls and days. Not the calls: `model_calls`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.accounts import as_owner
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.llm.costs import CostBy, CostRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date
    from uuid import UUID

_GROUPED: Mapping[CostBy, str] = {CostBy.MODEL: "cost.by_model", CostBy.PURPOSE: "cost.by_purpose"}


COST = record(CostRow, usd=lambda usd: round(float(usd), 9))


class PostgresCosts(Store):
    """The sums of the transaction's workspace."""

    def days(self, since: date, until: date) -> Sequence[CostRow]:
        """Return a row a day that had calls, in order."""
        return self.all_of(COST, "cost.days", since=since, until=until)

    def grouped(self, by: CostBy, since: date, until: date) -> Sequence[CostRow]:
        """Return a row a model or purpose of the calls still kept, the dearest first."""
        return self.all_of(COST, _GROUPED[by], since=since, until=until)

    def of_run(self, run_id: UUID) -> Sequence[CostRow]:
        """Return a row a purpose of one run, by name: an investigation, a consolidation."""
        return self.all_of(COST, "cost.of_run", run_id=run_id)


def costs_by_workspace(owner_url: str, since: date, until: date) -> list[CostRow]:
    """Return a row a workspace that asked models, the dearest first: for the owner."""
    with as_owner(owner_url, snapshot=True) as connection:
        cursor = connection.cursor(row_factory=COST)
        return cursor.execute(
            query("cost.by_workspace"), {"since": since, "until": until}
        ).fetchall()
