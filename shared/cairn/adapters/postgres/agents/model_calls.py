"""What was asked of chat models and what it cost, in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from psycopg.rows import kwargs_row, scalar_row

from cairn.adapters.postgres.accounts import as_owner
from cairn.adapters.postgres.database import Database, bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.kernel.access.system import system_principal
from cairn.llm.budget import Spent
from cairn.llm.costs import CostBy, CostRow, Spending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cairn.llm.costs import CallRecord


TIMEOUT_MS = 2_000


class PostgresCallLog:
    """Implements `CallLog`: short transactions of their own, whose commits do not wait.

    A call is made outside any transaction, and paid for whatever becomes of the work around it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def spent(self, workspace_id: UUID, run_id: UUID | None, at: datetime) -> Spending:
        """As `CallLog`."""
        parameters = {
            "workspace_id": workspace_id,
            "run_id": run_id,
            "day": at.astimezone(UTC).date(),
        }
        who = system_principal(workspace_id)
        with bound(self._database, who, timeout_ms=TIMEOUT_MS) as connection:
            cursor = connection.cursor(row_factory=kwargs_row(_spent_row))
            return Spending(**dict(cursor.execute(query("llm_call.spent"), parameters)))

    def record(self, record: CallRecord) -> None:
        """As `CallLog`."""
        who = system_principal(record.workspace_id)
        with bound(self._database, who, timeout_ms=TIMEOUT_MS, read_only=False) as connection:
            connection.execute(query("search_run.commit_lightly"))
            connection.execute(query("llm_call.record"), _row(record))


@dataclass(frozen=True)
class DropCalls:
    """Calls the definer function that removes old calls, in every workspace."""

    database: Database

    def __call__(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` calls older than `before`; return how many went."""
        parameters = {"before": before, "limit": limit}
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(query("llm_call.drop_old"), parameters).fetchone() or 0


def _spent_row(name: str, **spent: Any) -> tuple[str, Spent]:
    return name, Spent(**spent)


def _row(record: CallRecord) -> dict[str, object]:
    usage = record.usage
    return {
        "workspace_id": record.workspace_id,
        "id": record.id,
        "run_id": record.run_id,
        "purpose": record.purpose.value,
        "provider": record.provider,
        "model": record.model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost_usd": record.cost_usd,
        "ms": record.ms,
        "outcome": record.outcome,
        "started_at": record.started_at,
    }


_GROUPED: Mapping[CostBy, str] = {
    CostBy.MODEL: "cost.by_model",
    CostBy.PURPOSE: "cost.by_purpose",
    CostBy.INVESTIGATION: "cost.by_investigation",
    CostBy.PERSONA: "cost.by_persona",
}


COST = record(CostRow, usd=lambda usd: round(float(usd), 9))


class PostgresCosts(Store):
    """The sums of the transaction's workspace."""

    def days(self, since: date, until: date) -> Sequence[CostRow]:
        """Return a row a day that had calls, in order."""
        return self.all_of(COST, "cost.days", since=since, until=until)

    def grouped(self, by: CostBy, since: date, until: date) -> Sequence[CostRow]:
        """Return a row a model, purpose, and so on, of the calls still kept, the dearest first."""
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
