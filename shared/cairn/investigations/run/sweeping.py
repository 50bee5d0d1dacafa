"""What stands still in any workspace is moved on: tickets, questions, executions. Hourly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.investigations.run.resume import MOST_BY_ITSELF, STALE_AFTER
from cairn.kernel.errors import CairnError
from cairn.ledger.entry import SYSTEM as CAIRN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.investigations.approvals.waiting import Expire
    from cairn.investigations.run.abandon import AbandonExecution
    from cairn.investigations.run.admission import Admit
    from cairn.investigations.run.closing import Close
    from cairn.investigations.run.resume import Resume
    from cairn.investigations.state import Investigation
    from cairn.kernel.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepInvestigations:
    """Takes up what lost messages and lost executions left behind, however often they were lost.

    `tickets` takes up tickets that nobody took and returns how many; `requeue` puts back what waits
    for something that was mended while it was investigated: nobody saw it then. What fails is told
    to `report`, and keeps neither other investigations nor other workspaces waiting.
    """

    workspaces: Callable[[], Sequence[UUID]]
    tickets: Callable[[], int]
    requeue: Callable[[UUID, str], int]
    expire: Expire
    resume: Resume
    close: Close
    leave: AbandonExecution
    admit: Admit
    clock: Clock
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self, lost_before: datetime | None = None) -> dict[str, int]:
        """Return how many tickets were taken, questions expired, executions and others started.

        No execution that was under way before `lost_before` lives any more: it is not waited for.
        """
        since = lost_before or self.clock() - STALE_AFTER
        counts = {"tickets": self.tickets(), "expired": 0, "resumed": 0, "started": 0}
        for workspace_id in self.workspaces():
            try:
                counts["expired"] += len(self.expire.due(workspace_id))
                for one in self.resume.still_since(workspace_id, since):
                    counts["resumed"] += self._taken_up(one, stopped=lost_before is not None)
                counts["tickets"] += self._put_back(workspace_id)
                counts["started"] += self.admit(workspace_id)
            except CairnError as error:
                told = {"workspace_id": str(workspace_id), "reason": error.reason}
                self.report("investigations.not_swept", told)
        return counts

    def _put_back(self, workspace_id: UUID) -> int:
        with self.admit.journal.reading(workspace_id) as stores:
            mended = stores.tickets.mended()
        return sum(self.requeue(workspace_id, one) for one in mended)

    def _taken_up(self, one: Investigation, *, stopped: bool) -> bool:
        """Close what has ended, let another execution of the rest begin; False when it fails.

        A person is called for one whose executions end by themselves, not for those that stopped
        with everything.
        """
        try:
            if one.state.is_end:
                self.close(one.workspace_id, one.id)
                return True
            if one.run > MOST_BY_ITSELF and not stopped:
                self.leave(one.workspace_id, one.id)
            now = self.resume.again(one, actor=CAIRN)
        except CairnError as error:
            told = {"investigation_id": str(one.id), "reason": error.reason}
            self.report("investigation.not_taken_up", told)
            return False
        return now.run != one.run
