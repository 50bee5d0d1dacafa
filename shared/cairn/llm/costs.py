"""What a workspace's models have cost: sums of the calls that were kept. Not a provider's bill.

Sums of days are kept for good; what a call was for and which model answered leaves with the call
itself, after the deployment's retention. `dropped_calls` says how many a report lacks for that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.metrics import Metric
from cairn.llm.budget import Spent
from cairn.llm.port import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cairn.kernel.clock import Clock
    from cairn.kernel.metrics import Metrics
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.llm.port import Purpose


ANSWERED = "answered"
"""The outcome of a call that was good; every other outcome is a reason, such as chat-busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """On whose account a model is asked: a workspace, and the run (or search) it is part of.

    Each provider is tried `attempts` times at most, all of them together within `seconds`.
    """

    workspace_id: UUID
    run_id: UUID | None = None
    attempts: int = 3
    seconds: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One request to one provider. `cost_usd` None: without a price, or nobody knows.

    A request that failed has no tokens: what a provider that did not answer counts is not known.
    """

    id: UUID
    workspace_id: UUID
    run_id: UUID | None
    purpose: Purpose
    provider: str
    model: str
    started_at: datetime
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None
    ms: float = 0.0
    outcome: str = ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What was spent so far: in the workspace on one day (UTC), and in one run."""

    day: Spent = field(default_factory=Spent)
    run: Spent = field(default_factory=Spent)


class CallLog(Protocol):
    """Keeps the calls of every workspace, each seen by its own workspace only."""

    def spent(self, workspace_id: UUID, run_id: UUID | None, at: datetime) -> Spending:
        """Return what the day of `at` and the run have cost. Raises Unavailable."""
        ...

    def record(self, record: CallRecord) -> None:
        """Keep one call; a second time changes nothing. Raises Unavailable."""
        ...


@dataclass(frozen=True)
class MeasuredCalls:
    """A log of model calls that counts what it keeps."""

    log: CallLog
    metrics: Metrics

    def spent(self, workspace_id: UUID, run_id: UUID | None, at: datetime) -> Spending:
        """As `CallLog`."""
        return self.log.spent(workspace_id, run_id, at)

    def record(self, record: CallRecord) -> None:
        """As `CallLog`; a call without a known price adds nothing to the cost."""
        self.log.record(record)
        labels = {"workspace": record.workspace_id, "model": record.model}
        if record.usage.total:
            self.metrics(
                Metric.LLM_TOKENS, record.usage.total, **labels, purpose=record.purpose.value
            )
        if record.cost_usd is not None:
            self.metrics(Metric.LLM_USD, float(record.cost_usd), **labels)


DEFAULT_DAYS = 30
MAX_DAYS = 366
_DAYS = re.compile(r"[0-9]{1,3}d")


class CostBy(StrEnum):
    """What the rows of a report are put together by."""

    WORKSPACE = "workspace"
    MODEL = "model"
    PURPOSE = "purpose"
    DAY = "day"
    INVESTIGATION = "investigation"  # the dearest hundred
    PERSONA = "persona"  # of investigations


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """What one model, purpose, day or workspace has cost; cached tokens count as tokens.

    `usd` is of the calls with a known price, the others are counted in `unpriced_calls`. The sorts
    of tokens are None where only the sum was kept.
    """

    name: str
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unpriced_calls: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """The costs of the days from `since` to `until` (UTC, both included); dearest row first.

    Days come in their order. `dropped_calls` are in the total and in no row: their details are
    gone, or, by investigation and persona, they were made for something else.
    """

    workspace_id: UUID
    by: CostBy
    since: str
    until: str
    total: CostRow
    rows: tuple[CostRow, ...]
    dropped_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GetCosts:
    """Reports what models have cost, to admins."""

    transactions: Transactions[Stores]
    clock: Clock

    def __call__(
        self, principal: Principal, /, *, by: CostBy, since: date | None, until: date | None
    ) -> CostReport:
        """Return the costs of a period, the last 30 days unless said.

        Denied unless an admin asks; ValidationFailed for a period that ends before it begins or is
        longer than a year.
        """
        principal.require(Role.ADMIN)
        last = until or self.clock().astimezone(UTC).date()
        first = since or _before(last, DEFAULT_DAYS)
        _check(first, last)
        with self.transactions.reading(principal) as stores:
            days = stores.costs.days(first, last)
            unsummed = (
                ()
                if by in (CostBy.DAY, CostBy.WORKSPACE)
                else stores.costs.grouped(by, first, last)
            )
        return _report(principal.workspace_id, by, (first, last), days, unsummed)


def total_of(name: str, rows: Sequence[CostRow]) -> CostRow:
    """Return the sum of rows."""
    return CostRow(
        name=name,
        calls=sum(row.calls for row in rows),
        tokens=sum(row.tokens for row in rows),
        usd=round(sum(row.usd for row in rows), 9),
        unpriced_calls=sum(row.unpriced_calls for row in rows),
    )


def day_of(text: str, last: date, field: str = "since") -> date:
    """Return the day of `2026-03-01`, or the first of the `7d` that end with `last`.

    ValidationFailed, which names `field`, for others.
    """
    days = int(text[:-1]) if _DAYS.fullmatch(text) else 0
    if 0 < days <= MAX_DAYS:
        return _before(last, days)
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise _bad(field, f"is a day such as 2026-03-01, or 1d to {MAX_DAYS}d") from None


def _before(last: date, days: int) -> date:
    """Return the first of so many days that end with `last`, as far back as days go."""
    return date.fromordinal(max(1, last.toordinal() - days + 1))


def _report(
    workspace_id: UUID,
    by: CostBy,
    period: tuple[date, date],
    days: Sequence[CostRow],
    unsummed: Sequence[CostRow],
) -> CostReport:
    total = total_of("total", days)
    summed: Mapping[CostBy, tuple[CostRow, ...]] = {
        CostBy.DAY: tuple(days),
        CostBy.WORKSPACE: (total_of(str(workspace_id), days),),
    }
    rows = summed.get(by, tuple(unsummed))
    return CostReport(
        workspace_id=workspace_id,
        by=by,
        since=period[0].isoformat(),
        until=period[1].isoformat(),
        total=total,
        rows=rows,
        dropped_calls=max(0, total.calls - sum(row.calls for row in rows)),
    )


def _check(first: date, last: date) -> None:
    if last < first:
        raise _bad("until", "is before since")
    if (last - first).days >= MAX_DAYS:
        raise _bad("since", f"is more than {MAX_DAYS} days before until")


def _bad(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(
        f"{field} {message}.", reason="period", errors=[FieldError(f"query.{field}", message)]
    )
