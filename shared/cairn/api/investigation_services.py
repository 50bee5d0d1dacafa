"""What the API needs of investigations: use-case callables, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.investigations.current import Present
    from cairn.investigations.state import State
    from cairn.investigations.views import (
        InvestigationDetail,
        InvestigationView,
        StepsView,
        ToolCallView,
    )
    from cairn.kernel.access import Principal


class StartInvestigation(Protocol):
    """Put a ticket into the queue and start its investigation if there is room; None: it waits.

    NotFound for an unknown ticket, Denied (`autonomy-off`), Conflict (`investigated-already`,
    `ticket-ended`).
    """

    def __call__(self, principal: Principal, ticket_id: UUID, /) -> Present | None: ...


class ResumeInvestigations(Protocol):
    """Takes up what lost its execution; `agent.resume.Resume`."""

    def one(self, principal: Principal, investigation_id: UUID, /) -> Present:
        """Start a new execution of one; NotFound, and Conflict when it has ended."""
        ...

    def stale(self, principal: Principal, /) -> Sequence[Present]:
        """Start new executions of all that have not moved for a while."""
        ...


class BrowseInvestigations(Protocol):
    """Reads investigations; `agent.browse.BrowseInvestigations`."""

    def page(
        self,
        principal: Principal,
        *,
        state: State | None,
        ticket_id: UUID | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[InvestigationView]: ...
    def show(self, principal: Principal, investigation_id: UUID, /) -> InvestigationDetail: ...
    def steps(
        self, principal: Principal, investigation_id: UUID, /, *, after: int, limit: int
    ) -> StepsView: ...
    def look(
        self, principal: Principal, investigation_id: UUID, /, *, after: int, limit: int
    ) -> tuple[InvestigationView, StepsView]: ...
    def tool_calls(
        self,
        principal: Principal,
        *,
        investigation_id: UUID | None,
        connector: str | None,
        session_id: str | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[ToolCallView]: ...
    def tool_call(self, principal: Principal, action_id: UUID, /) -> ToolCallView: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InvestigationServices:
    """The use cases of investigations."""

    start: StartInvestigation
    resume: ResumeInvestigations
    browse: BrowseInvestigations
