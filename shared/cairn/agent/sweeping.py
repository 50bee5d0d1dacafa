"""What stands still in any workspace is moved on: tickets, questions, executions. Hourly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.agent.admission import Admit
    from cairn.agent.resume import Resume
    from cairn.agent.waiting import Expire


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepInvestigations:
    """Takes up what lost messages and lost executions left behind.

    `tickets` takes up tickets that nobody took and returns how many. A workspace that fails is
    told to `report`, and does not keep the others waiting.
    """

    workspaces: Callable[[], Sequence[UUID]]
    tickets: Callable[[], int]
    expire: Expire
    resume: Resume
    admit: Admit
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self) -> dict[str, int]:
        """Return how many tickets were taken, questions expired, executions and others started."""
        counts = {"tickets": self.tickets(), "expired": 0, "resumed": 0, "started": 0}
        for workspace_id in self.workspaces():
            try:
                counts["expired"] += len(self.expire.due(workspace_id))
                counts["resumed"] += len(self.resume.all_stale(workspace_id))
                counts["started"] += self.admit(workspace_id)
            except CairnError as error:
                told = {"workspace_id": str(workspace_id), "reason": error.reason}
                self.report("investigations.not_swept", told)
        return counts
