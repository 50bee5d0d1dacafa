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
    """Implements `llm.costs.CallLog`."""

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
        ours = [record for record in self.records if record.workspace_id == workspace_id]
        return Spending(
            day=_sum(our for our in ours if our.started_at.astimezone(UTC).date() == day),
            run=_sum(our for our in ours if run_id is not None and our.run_id == run_id),
        )

    def record(self, record: CallRecord) -> None:
        """As `CallLog`."""
        with self._lock:
            self._records.setdefault((record.workspace_id, record.id), record)


def _sum(records: Iterable[CallRecord]) -> Spent:
    kept = list(records)
    unpriced = [item for item in kept if item.cost_usd is None]
    return Spent(
        tokens=sum(item.usage.total for item in kept),
        usd=sum((item.cost_usd or Decimal(0) for item in kept), Decimal(0)),
        unpriced_calls=sum(
            item.usage.input_tokens + item.usage.output_tokens > 0 for item in unpriced
        ),
    )
