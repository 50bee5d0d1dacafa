"""What the API needs of people around investigations: use-case callables, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.investigations.people.ports import CandidateState, Channel, EscalationState
    from cairn.investigations.people.proposing import Proposal
    from cairn.investigations.people.remembering import Remembered
    from cairn.investigations.people.views import (
        CandidateView,
        EscalationView,
        HandOff,
        OpinionView,
    )
    from cairn.kernel.access import Principal, Scope


class KeepEscalations(Protocol):
    """Lists calls of people, shows them and tries them again; `agent.people.bundle`."""

    def page(
        self,
        principal: Principal,
        /,
        *,
        state: EscalationState | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[EscalationView]: ...
    def show(self, principal: Principal, escalation_id: UUID, /) -> HandOff: ...
    def retry(self, principal: Principal, escalation_id: UUID, /) -> EscalationView: ...


class KeepChannels(Protocol):
    """Makes, lists and removes channels; `agent.people.channels`."""

    def create(self, principal: Principal, /, *, name: str, url: str) -> Channel: ...
    def all(self, principal: Principal, /) -> Sequence[Channel]: ...
    def remove(self, principal: Principal, name: str, /) -> None: ...


class TakeOpinions(Protocol):
    """Takes ratings and disputes; `agent.people.opinions`."""

    def rate(
        self, principal: Principal, investigation_id: UUID, /, *, rating: int, comment: str
    ) -> OpinionView: ...
    def dispute(
        self, principal: Principal, investigation_id: UUID, /, *, reason: str
    ) -> OpinionView: ...
    def of(self, principal: Principal, investigation_id: UUID, /) -> Sequence[OpinionView]: ...


class ReviewCandidates(Protocol):
    """The review queue; `agent.people.candidates`."""

    def page(
        self,
        principal: Principal,
        /,
        *,
        state: CandidateState | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[CandidateView]: ...
    def show(self, principal: Principal, candidate_id: UUID, /) -> CandidateView: ...
    def edit(
        self,
        principal: Principal,
        candidate_id: UUID,
        /,
        *,
        title: str | None,
        text: str | None,
    ) -> CandidateView: ...
    def reject(
        self, principal: Principal, candidate_id: UUID, /, *, reason: str
    ) -> CandidateView: ...
    def accept(
        self, principal: Principal, candidate_id: UUID, /, *, scope: Scope
    ) -> CandidateView: ...


class RememberStep(Protocol):
    """Turn a line of a timeline into a node of the graph; `agent.people.remembering`."""

    def __call__(
        self,
        principal: Principal,
        investigation_id: UUID,
        seq: int,
        /,
        *,
        label: str,
        text: str | None,
    ) -> Remembered: ...


class ReviewProposals(Protocol):
    """Shows proposed nodes and takes decisions on them; `agent.people.proposing`."""

    def page(
        self, principal: Principal, /, *, before: UUID | None, limit: int
    ) -> Sequence[Proposal]: ...
    def accept(self, principal: Principal, node_id: UUID, /) -> Proposal: ...
    def reject(self, principal: Principal, node_id: UUID, /) -> Proposal: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleServices:
    """The use cases of people around investigations."""

    escalations: KeepEscalations
    channels: KeepChannels
    opinions: TakeOpinions
    candidates: ReviewCandidates
    remember: RememberStep
    proposals: ReviewProposals
