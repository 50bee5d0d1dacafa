"""The same steps in one process, until the end or until a person is asked. Not a state machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations.state import State

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.investigations.current import Present
    from cairn.investigations.run.closing import Close
    from cairn.investigations.run.resume import Enter
    from cairn.investigations.run.step import RunStep

MOST_STEPS = 1_000
"""More than any budget of iterations allows: a loop that is longer has a mistake in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Runs an investigation as the machine would."""

    enter: Enter
    run: RunStep
    close: Close

    def __call__(self, workspace_id: UUID, investigation_id: UUID, *, run: int = 1) -> Present:
        """Return where it ended, or that it waits for a person.

        Raises what a step raises; called again with the next run it goes on.
        """
        return self.go_on(self.enter(workspace_id, investigation_id, run=run))

    def go_on(self, now: Present) -> Present:
        """Do the same from where it is, as a machine does that was answered."""
        ids = now.workspace_id, now.investigation_id
        for _ in range(MOST_STEPS):
            if now.state.is_end:
                return self.close(*ids)
            if now.state is State.WAITING_APPROVAL:
                return now
            now = self.run(*ids, state=now.state, run=now.run)
        raise RuntimeError("an investigation takes more steps than its budget allows")
