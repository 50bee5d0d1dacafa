"""What its executions do not get done: a person is called, and others go first.

The investigation stays open, and the hourly sweep takes it up again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations.current import Present, present
from cairn.investigations.run.moving import add_lines, found, ids, line_bodies
from cairn.investigations.state import Step, Verdict
from cairn.ledger.entry import SYSTEM as CAIRN
from cairn.ledger.keys import SubjectForgotten

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.investigations.journal import Journal, Page
    from cairn.investigations.ports import Escalate

WHY = "Its executions keep failing. Cairn tries again every hour; somebody has to look why."


@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonExecution:
    """Frees the slot of an investigation and calls a person; `admit` takes up who is next."""

    journal: Journal
    escalate: Escalate
    admit: Callable[[UUID], object]

    def __call__(self, workspace_id: UUID, investigation_id: UUID) -> Present:
        """Return where the investigation is: whoever was called before is not called again.

        Raises NotFound, and Unavailable when nobody could be called: repeat it.
        """
        answer = self.journal.write(
            workspace_id, (), CAIRN, lambda page: _freed(page, investigation_id)
        )
        with suppress(SubjectForgotten):  # there is nobody to call for: the next execution ends it
            self.escalate(workspace_id, investigation_id, verdict=Verdict.FAILED, why=WHY)
        self.admit(workspace_id)
        return answer


def _freed(page: Page, investigation_id: UUID) -> Present:
    page.stores.slots.free(investigation_id)
    investigation = found(page.stores, investigation_id)
    if page.stores.escalations.of(investigation_id) is None:
        line = Step(system="resume", action="left", detail=WHY, kind="error")
        meta = {**ids(investigation), "run": investigation.run}
        position = page.note("investigation.left", meta, {"lines": line_bodies([line])})
        add_lines(page, investigation, [line], position)
    return present(investigation)
