"""Fake taints for the API's tests."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from cairn.graph.projection import TaintKind
from cairn.kernel.access import Principal
from cairn.kernel.errors import NotFound
from cairn.reading.views import Page
from cairn.taint.taint import NewTaint, Tainted, TaintLifted, TaintReport
from cairn.writing.taint_views import TaintView

NOW = datetime(2026, 3, 15, 10, tzinfo=UTC)
TAINT = UUID(int=91)


@dataclass
class TaintWorld:
    """Remembers what was asked."""

    asked: list[tuple[NewTaint, bool]] = field(default_factory=list)

    def apply(self, principal: Principal, new: NewTaint, *, dry_run: bool = False) -> Tainted:
        self.asked.append((new, dry_run))
        return Tainted(
            taint_id=None if dry_run else TAINT,
            held=3,
            complete=dry_run or len(self.asked) > 1,
            dry_run=dry_run,
            node_ids=(UUID(int=1),),
            actions=(),
            searches=(),
        )

    def lift(self, principal: Principal, taint_id: UUID) -> TaintLifted:
        self._known(taint_id)
        return TaintLifted(taint_id=taint_id, restored=3, complete=True)

    def get(self, principal: Principal, taint_id: UUID) -> TaintReport:
        self._known(taint_id)
        return TaintReport(taint=_view(), actions=(), searches=())

    def page(self, principal: Principal, *, limit: int, after: int | None) -> Page[TaintView]:
        return Page(items=(_view(),), next_after=None)

    def _known(self, taint_id: UUID) -> None:
        if taint_id != TAINT:
            raise NotFound("There is no such taint.", taint_id=str(taint_id))


def _view() -> TaintView:
    return TaintView(
        id=TAINT,
        kind=TaintKind.AGENT,
        value="scout",
        source=None,
        roots=(),
        causes=False,
        reason="forged tickets",
        position=9,
        applied_at=NOW,
        lifted_position=None,
        lifted_at=None,
        nodes=3,
        quarantined=3,
    )
