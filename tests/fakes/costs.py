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
    """Implements `llm.costs.CostStore` for one workspace."""

    log: InMemoryCallLog
    workspace_id: UUID

    def days(self, since: date, until: date) -> Sequence[CostRow]:
        """As `CostStore`."""
        rows = _grouped(self._within(since, until), lambda one: _day(one).isoformat())
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
        """As `CostStore`."""
        rows = _grouped(
            self._within(since, until),
            lambda one: one.model if by is CostBy.MODEL else one.purpose.value,
        )
        return sorted(rows, key=lambda row: (-row.usd, row.name))

    def of_run(self, run_id: UUID) -> Sequence[CostRow]:
        """As `CostStore`."""
        ours = [one for one in self._ours() if one.run_id == run_id]
        return sorted(_grouped(ours, lambda one: one.purpose.value), key=lambda row: row.name)

    def _ours(self) -> list[CallRecord]:
        return [one for one in self.log.records if one.workspace_id == self.workspace_id]

    def _within(self, since: date, until: date) -> list[CallRecord]:
        return [one for one in self._ours() if since <= _day(one) <= until]


def _day(record: CallRecord) -> date:
    return record.started_at.astimezone(UTC).date()


def _grouped(records: Iterable[CallRecord], name: Callable[[CallRecord], str]) -> list[CostRow]:
    groups: dict[str, list[CallRecord]] = {}
    for one in records:
        groups.setdefault(name(one), []).append(one)
    return [_row(group, kept) for group, kept in groups.items()]


def _row(name: str, kept: Sequence[CallRecord]) -> CostRow:
    usages = [one.usage for one in kept]
    return CostRow(
        name=name,
        calls=len(kept),
        tokens=sum(one.total for one in usages),
        usd=float(sum((one.cost_usd or Decimal(0) for one in kept), Decimal(0))),
        unpriced_calls=sum(
            one.cost_usd is None and one.usage.input_tokens + one.usage.output_tokens > 0
            for one in kept
        ),
        input_tokens=sum(one.input_tokens for one in usages),
        output_tokens=sum(one.output_tokens for one in usages),
        cache_read_tokens=sum(one.cache_read_tokens for one in usages),
        cache_write_tokens=sum(one.cache_write_tokens for one in usages),
    )
