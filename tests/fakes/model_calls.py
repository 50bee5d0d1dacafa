"""What was asked of chat models, kept in this process: for tests, and without a database."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal
from threading import Lock
from typing import TYPE_CHECKING

from cairn.llm.budget import Spent
from cairn.llm.costs import Spending

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from uuid import UUID

    from cairn.llm.costs import CallRecord


class InMemoryCallLog:
    """Implements `llm.calls.CallLog`."""

    def __init__(self) -> None:
        self._records: dict[tuple[UUID, UUID], CallRecord] = {}
        self._lock = Lock()

    @property
    def records(self) -> tuple[CallRecord, ...]:
        """Return every call, the oldest first."""
        with self._lock:
            return tuple(self._records.values())

    def spent(self, workspace_id: UUID, run_id: UUID | None, at: datetime) -> Spending:
        """As `CallLog`."""
        day = at.astimezone(UTC).date()
        ours = [one for one in self.records if one.workspace_id == workspace_id]
        return Spending(
            day=_sum(one for one in ours if one.started_at.astimezone(UTC).date() == day),
            run=_sum(one for one in ours if run_id is not None and one.run_id == run_id),
        )

    def record(self, record: CallRecord) -> None:
        """As `CallLog`."""
        with self._lock:
            self._records.setdefault((record.workspace_id, record.id), record)


def _sum(records: Iterable[CallRecord]) -> Spent:
    kept = list(records)
    unpriced = [one for one in kept if one.cost_usd is None]
    return Spent(
        tokens=sum(one.usage.total for one in kept),
        usd=sum((one.cost_usd or Decimal(0) for one in kept), Decimal(0)),
        unpriced_calls=sum(
            one.usage.input_tokens + one.usage.output_tokens > 0 for one in unpriced
        ),
    )
