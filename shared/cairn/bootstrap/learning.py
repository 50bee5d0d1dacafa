"""What stages, archives and proposes what may be learned, in every workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.investigations.people.learning import Learn, StageCandidates
from cairn.investigations.people.proposing import ProposeObservations
from cairn.kernel.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any
    from uuid import UUID

    from cairn.bootstrap.investigating import InvestigationParts


def learn(
    made: InvestigationParts,
    workspaces: Callable[[], Sequence[UUID]],
    report: Callable[[str, dict[str, Any]], None],
) -> Learn:
    """Return what stages, archives and proposes, hourly."""
    return Learn(
        workspaces=workspaces,
        stage=StageCandidates(journal=made.journal),
        propose=ProposeObservations(journal=made.journal, graph=made.helpdesk.graph),
        clock=utc_now,
        report=report,
    )
