"""Reading reports: the newest about something, and the catalogue. Not writing them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.kernel.access import Principal, Scope
from cairn.kernel.clock import Stopwatch
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import Transactions
from cairn.reading.views import Page

MAX_LATEST = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEntry:
    """A report without its body. `parent_id` is the conversation or the admin that produced it."""

    id: UUID
    position: int
    title: str
    keywords: tuple[str, ...]
    scope: Scope
    occurred_at: datetime
    recorded_at: datetime
    agents: tuple[str, ...] = ()
    source_agent: str | None = None
    source_workflow: str | None = None
    parent_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report with its body."""

    report: ReportEntry
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFilter:
    """Which reports; None means any. `keyword` is case folded."""

    keyword: str | None = None
    source_workflow: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPage:
    """One page of the catalogue, and how many reports there are under its filter."""

    page: Page[ReportEntry]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseReports:
    """The reads of reports; each writes one line to the log, with counts and no texts."""

    transactions: Transactions[Stores]
    stopwatch: Stopwatch
    log: Callable[[str, Mapping[str, Any]], None]

    def latest(
        self, principal: Principal, *, keyword: str | None = None, limit: int = 1
    ) -> tuple[Report, ...]:
        """Return the newest reports, with their bodies; one unless asked for more."""
        start = self.stopwatch()
        folded = keyword.casefold() if keyword else None
        with self.transactions.reading(principal) as stores:
            reports = tuple(stores.report_views.latest(folded, limit=limit))
        self._say("read-latest", start, hits=len(reports), keywords=int(folded is not None))
        return reports

    def list(
        self, principal: Principal, where: ReportFilter, *, limit: int, after: int | None
    ) -> ReportPage:
        """Return a page of the catalogue, newest first, and the total."""
        start = self.stopwatch()
        with self.transactions.reading(principal) as stores:
            entries, total = stores.report_views.page(where, limit=limit + 1, after=after)
        items = tuple(entries[:limit])
        following = items[-1].position if len(entries) > limit else None
        self._say("list", start, hits=len(items), total=total)
        return ReportPage(page=Page(items=items, next_after=following), total=total)

    def _say(self, op: str, start: float, **counts: int) -> None:
        ms = round((self.stopwatch() - start) * 1000, 1)
        self.log("reports", {"op": op, "ms": ms, **counts})
