"""Runs that stand still: their execution is lost, or nobody decided in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.workflows.rows import RunState
from cairn.workflows.runs import MOST_EXECUTIONS, STALE_AFTER, rerun
from cairn.workflows.step import EXPIRED, failed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.workflows.moving import Opened, Runner

LOST = "executions-lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepWorkflows:
    """Goes on with runs of every workspace; what fails in one leaves the others be."""

    workspaces: Callable[[], Sequence[UUID]]
    runner: Runner
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self, lost_before: datetime | None = None) -> dict[str, int]:
        """Return how many runs go on with another execution, and how many waits expired.

        No execution that was under way before `lost_before` lives any more: it is not waited for.
        """
        counts = {"workflows_resumed": 0, "workflows_expired": 0}
        for workspace_id in self.workspaces():
            for run_id in self._still(workspace_id, lost_before):
                try:
                    counts[self._moved(self.runner.read(workspace_id, run_id))] += 1
                except CairnError as error:
                    fields = {"workflow_run_id": str(run_id), "reason": error.reason}
                    self.report("workflow.not_swept", fields)
        return counts

    def _still(self, workspace_id: UUID, lost_before: datetime | None) -> Sequence[UUID]:
        platform = self.runner.platform
        now = platform.clock()
        since = lost_before or now - STALE_AFTER
        try:
            with self.runner.platform.transactions.reading(
                system_principal(workspace_id)
            ) as stores:
                return [run.id for run in stores.workflows.still(since, now)]
        except CairnError as error:
            fields = {"workspace_id": str(workspace_id), "reason": error.reason}
            self.report("workflows.not_swept", fields)
            return ()

    def _moved(self, before: Opened) -> str:
        run, step = before.run, before.step
        if step is not None and run.state is RunState.WAITING:
            self.runner.move(before, failed(run, step, EXPIRED))
            return "workflows_expired"
        if step is not None and run.execution >= MOST_EXECUTIONS:
            self.runner.move(before, failed(run, step, LOST))
        elif run.state is RunState.RUNNING:
            self.runner.move(before, rerun(run))
        return "workflows_resumed"
