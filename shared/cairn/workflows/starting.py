"""Begins the runs that are due, once each, and keeps the daily briefing as settings say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.ledger.entry import SYSTEM
from cairn.workflows.briefing import BRIEFING, briefing
from cairn.workflows.definitions import body_of, schedule_of
from cairn.workflows.rows import Trigger
from cairn.workflows.runs import begin_run
from cairn.workflows.schedule import check_schedule, next_due
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.workflows.definitions import Workflows
    from cairn.workflows.rows import WorkflowRow
    from cairn.workspace.settings import BriefingSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class StartDue:
    """Begins what is due in every workspace. What was missed while nobody looked runs once.

    What fails in one workspace leaves the others be, and so does one workflow: it stays due.
    """

    workspaces: Callable[[], Sequence[UUID]]
    workflows: Workflows
    settings: Callable[[Principal], BriefingSettings | None]
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self) -> dict[str, int]:
        """Return how many runs began."""
        started = 0
        for workspace_id in self.workspaces():
            try:
                started += self._workspace(system_principal(workspace_id))
            except CairnError as error:
                fields = {"workspace_id": str(workspace_id), "reason": error.reason}
                self.report("workflows.not_started", fields)
        return {"workflows_started": started}

    def _workspace(self, principal: Principal) -> int:
        platform = self.workflows.platform
        self._keep_briefing(principal)
        with platform.transactions.reading(principal) as stores:
            due = stores.workflows.due(platform.clock())
        return sum(self._started(principal, row) for row in due)

    def _started(self, principal: Principal, row: WorkflowRow) -> bool:
        """Begin a run that is due; False when it cannot begin now, or somebody else began it."""
        try:
            return self._start(principal, row)
        except CairnError as error:
            ids = {"workspace_id": str(principal.workspace_id), "workflow_id": str(row.id)}
            self.report("workflow.not_started", {**ids, "reason": error.reason})
            return False

    def _keep_briefing(self, principal: Principal) -> None:
        """Make, change or remove the daily briefing where the settings say otherwise by now."""
        setting = self.settings(principal)
        with self.workflows.platform.transactions.reading(principal) as stores:
            row = stores.workflows.find(BRIEFING)
        if setting is None:
            if row is not None:
                self.workflows.ship(principal, None, name=BRIEFING)
        elif row is None or row.body != body_of(briefing(setting)):
            self.workflows.ship(principal, briefing(setting), name=BRIEFING)

    def _start(self, principal: Principal, row: WorkflowRow) -> bool:
        platform = self.workflows.platform
        schedule = schedule_of(row.body["schedule"])
        if schedule is None:
            return False
        check_schedule(schedule)  # a time zone may be gone since
        keys = platform.keys.get_or_create(principal.workspace_id, (principal.workspace_id,))
        with open_write(platform, principal, actor=SYSTEM, keys=keys) as write:
            if not write.stores.workflows.reschedule(row, next_due(schedule, write.now)):
                return False
            begin_run(platform, principal, write, row, GLOBAL_CLIENT, {}, Trigger.SCHEDULE)
        return True
