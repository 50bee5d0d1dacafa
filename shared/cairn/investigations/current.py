"""Where an investigation is: what every step of the machine answers. Not its record."""

from dataclasses import dataclass
from uuid import UUID

from cairn.investigations.state import Investigation, State


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """The present state of an investigation, and which of its executions counts."""

    workspace_id: UUID
    investigation_id: UUID
    state: State
    run: int

    def as_answer(self) -> dict[str, str | int]:
        """Return it as a state of the machine passes it on: ids, a state and a number."""
        return {
            "workspace_id": str(self.workspace_id),
            "investigation_id": str(self.investigation_id),
            "state": self.state.value,
            "run": self.run,
        }


def present(investigation: Investigation) -> Present:
    """Return where an investigation is."""
    return Present(
        workspace_id=investigation.workspace_id,
        investigation_id=investigation.id,
        state=investigation.state,
        run=investigation.run,
    )
