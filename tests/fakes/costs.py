"""The costs of models over calls kept in this process: for tests, and without a database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC
from decimal import Decimal
from typing import TYPE_CHECKING

from cairn.llm.costs import CostBy, CostRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import date
    from uuid import UUID

    from tests.fakes.model_calls import InMemoryCallLog

    from cairn.llm.costs import CallRecord


@dataclass(frozen=True)
class InMemoryCosts:
    """`PostgresCosts` in memory, for one workspace."""

    log: InMemoryCallLog
    workspace_id: UUID

    def days(self, since: date, until: date) -> Sequence[CostRow]:
        """As `PostgresCosts`."""
        rows = _grouped(self._within(since, until), lambda item: _day(item).isoformat())
        plain = [
            replace(
                row,
                input_tokens=None,
                output_tokens=None,
                cache_read_tokens=None,
                cache_write_tokens=None,
            )
            for row in rows
        ]
        return sorted(plain, key=lambda row: row.name)

    def grouped(self, by: CostBy, since: date, until: date) -> Sequence[CostRow]:
        """As `PostgresCosts`."""
        rows = _grouped(
            self._within(since, until),
            lambda item: item.model if by is CostBy.MODEL else item.purpose.value,
        )
        return sorted(rows, key=lambda row: (-row.usd, row.name))

    def of_run(self, run_id: UUID) -> Sequence[CostRow]:
        """As `PostgresCosts`."""
        ours = [our for our in self._ours() if our.run_id == run_id]
        return sorted(_grouped(ours, lambda our: our.purpose.value), key=lambda row: row.name)

    def _ours(self) -> list[CallRecord]:
        return [record for record in self.log.records if record.workspace_id == self.workspace_id]

    def _within(self, since: date, until: date) -> list[CallRecord]:
        return [our for our in self._ours() if since <= _day(our) <= until]


def _day(record: CallRecord) -> date:
    return record.started_at.astimezone(UTC).date()


def _grouped(records: Iterable[CallRecord], name: Callable[[CallRecord], str]) -> list[CostRow]:
    groups: dict[str, list[CallRecord]] = {}
    for record in records:
        groups.setdefault(name(record), []).append(record)
    return [_row(group, kept) for group, kept in groups.items()]


def _row(name: str, kept: Sequence[CallRecord]) -> CostRow:
    usages = [record.usage for record in kept]
    return CostRow(
        name=name,
        calls=len(kept),
        tokens=sum(usage.total for usage in usages),
        usd=float(sum((record.cost_usd or Decimal(0) for record in kept), Decimal(0))),
        unpriced_calls=sum(
            record.cost_usd is None and record.usage.input_tokens + record.usage.output_tokens > 0
            for record in kept
        ),
        input_tokens=sum(usage.input_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        cache_read_tokens=sum(usage.cache_read_tokens for usage in usages),
        cache_write_tokens=sum(usage.cache_write_tokens for usage in usages),
    )
