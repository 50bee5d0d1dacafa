"""Calls of people, their words and what may be learned, behind the fake API: one of each."""

# pyright: basic

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from cairn.investigations.people.proposing import Proposal, Remembered
from cairn.investigations.ports import CandidateState, Channel, EscalationState
from cairn.investigations.state import Investigation, State, Verdict
from cairn.investigations.views import (
    CandidateView,
    EscalationView,
    HandOff,
    InvestigationView,
    MendView,
    OpinionView,
)
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.ids import new_id

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def call(**changes: object) -> EscalationView:
    given = EscalationView(
        id=new_id(),
        investigation_id=new_id(),
        ticket_id=new_id(),
        verdict=Verdict.NEEDS_TECH,
        channel="ticket-note",
        state=EscalationState.FAILED,
        why="Nobody may do this.",
        attempts=12,
        noted=False,
        error="timeout",
        queued_at=NOON,
        updated_at=NOON,
        delivered_at=None,
    )
    return replace(given, **changes)  # type: ignore[arg-type]


def candidate(**changes: object) -> CandidateView:
    given = CandidateView(
        id=new_id(),
        investigation_id=new_id(),
        ticket_id=new_id(),
        state=CandidateState.STAGED,
        cause="rated",
        title="Locked out",
        text="# Locked out",
        rejected_because=None,
        reason=None,
        staged_at=NOON,
        edited_at=None,
        decided_at=None,
        decided_by=None,
        document_id=None,
        ingestion_id=None,
    )
    return replace(given, **changes)  # type: ignore[arg-type]


def proposal(node_id: UUID, status: str) -> Proposal:
    return Proposal(
        id=node_id,
        label="observation",
        natural_key="observation:1",
        properties={"times": 3},
        provenance="proposed",
        status=status,
    )


@dataclass
class PeopleWorld:
    """One call, one candidate, some proposals, and what was asked."""

    call: EscalationView = field(default_factory=call)  # pyright: ignore
    candidate: CandidateView = field(default_factory=candidate)  # pyright: ignore
    node_ids: list[UUID] = field(default_factory=lambda: [new_id()])
    channels: dict[str, Channel] = field(default_factory=dict[str, Channel])
    urls: list[str] = field(default_factory=list[str])
    said: list[Any] = field(default_factory=list[Any])

    @property
    def node_id(self) -> UUID:
        return self.node_ids[0]

    def services(self) -> dict[str, Any]:
        return {
            "escalations": SimpleNamespace(
                page=lambda *_, **asked: self._asked(asked) or [self.call],
                show=self.show,
                retry=self.retry,
            ),
            "channels": SimpleNamespace(
                create=self.create, all=lambda _: list(self.channels.values()), remove=self.remove
            ),
            "opinions": SimpleNamespace(rate=self.rate, dispute=self.dispute, of=self.of),
            "candidates": SimpleNamespace(
                page=lambda *_, **asked: self._asked(asked) or [replace(self.candidate, text=None)],
                show=lambda _, one: self._candidate(one),
                edit=self.edit,
                reject=self.reject,
                accept=self.accept,
            ),
            "remember_step": self.remember,
            "proposals": SimpleNamespace(
                page=self.proposed,
                accept=lambda _, one: self._decided(one, "active"),
                reject=lambda _, one: self._decided(one, "archived"),
            ),
        }

    def show(self, principal: Principal, one: UUID) -> HandOff:
        principal.require(Role.ADMIN)
        if one != self.call.id:
            raise NotFound("There is no such escalation.")
        return HandOff(
            escalation=self.call,
            investigation=_investigation(),
            transcript=(),
            tool_calls=(),
            citations=("[tool:1]",),
            memory={"verdict_reason": "<EMAIL_1> is locked out."},
            mend=(
                MendView(
                    kind="connector", name="crm", path="/v1/connectors/crm", command="c", page="/p"
                ),
            ),
        )

    def retry(self, principal: Principal, one: UUID) -> EscalationView:
        if self.call.state is not EscalationState.FAILED:
            raise Conflict("This call has not failed.", reason="not-failed")
        self.call = replace(self.call, state=EscalationState.QUEUED, attempts=0)
        return self.call

    def create(self, principal: Principal, *, name: str, url: str) -> Channel:
        if name in self.channels:
            raise Conflict("There is a channel of this name.", reason="name-taken")
        self.urls.append(url)
        by = principal.principal_id
        self.channels[name] = Channel(name=name, kind="slack", created_at=NOON, created_by=by)
        return self.channels[name]

    def remove(self, principal: Principal, name: str) -> None:
        if self.channels.pop(name, None) is None:
            raise NotFound("There is no such channel.")

    def rate(self, principal: Principal, one: UUID, *, rating: int, comment: str) -> OpinionView:
        return self._say(principal, one, rating, comment)

    def dispute(self, principal: Principal, one: UUID, *, reason: str) -> OpinionView:
        return self._say(principal, one, None, reason)

    def of(self, principal: Principal, one: UUID) -> Sequence[OpinionView]:
        return [each for each in self.said if isinstance(each, OpinionView)]

    def edit(
        self, principal: Principal, one: UUID, *, title: str | None, text: str | None
    ) -> CandidateView:
        found = self._candidate(one)
        self.candidate = replace(found, title=title or found.title, text=text or found.text)
        return self.candidate

    def reject(self, principal: Principal, one: UUID, *, reason: str) -> CandidateView:
        return self._decide(one, CandidateState.REJECTED, rejected_because=reason)

    def accept(self, principal: Principal, one: UUID, *, scope: Scope) -> CandidateView:
        self.said.append(scope)
        return self._decide(one, CandidateState.ACCEPTED, document_id=new_id())

    def remember(
        self, principal: Principal, one: UUID, seq: int, *, label: str, text: str | None
    ) -> Remembered:
        self.said.append((seq, label, text))
        return Remembered(node_id=self.node_id, label=label, natural_key="fact:1", text=text or "?")

    def proposed(self, principal: Principal, *, before: UUID | None, limit: int) -> list[Proposal]:
        newest = sorted(self.node_ids, reverse=True)
        found = [item for item in newest if before is None or item < before]
        return [proposal(item, "provisional") for item in found[:limit]]

    def _say(self, principal: Principal, one: UUID, rating: int | None, text: str) -> OpinionView:
        said = OpinionView(
            investigation_id=one,
            principal_id=principal.principal_id,
            kind="rating" if rating else "dispute",
            rating=rating,
            text=text,
            said_at=NOON,
        )
        self.said.append(said)
        return said

    def _candidate(self, one: UUID) -> CandidateView:
        if one != self.candidate.id:
            raise NotFound("There is no such candidate.")
        return self.candidate

    def _decide(self, one: UUID, state: CandidateState, **changes: Any) -> CandidateView:
        if self._candidate(one).state is not CandidateState.STAGED:
            raise Conflict("This candidate is not staged any more.", reason="already-decided")
        self.candidate = replace(self.candidate, state=state, **changes)
        return self.candidate

    def _decided(self, one: UUID, status: str) -> Proposal:
        if one not in self.node_ids:
            raise NotFound("There is no such proposal.")
        return proposal(one, status)

    def _asked(self, asked: dict[str, Any]) -> None:
        self.said.append(asked)


def _investigation() -> InvestigationView:
    from cairn.investigations.browse import view_of

    return view_of(
        Investigation(
            id=new_id(),
            workspace_id=new_id(),
            ticket_id=new_id(),
            persona="default",
            state=State.DONE,
            verdict=Verdict.NEEDS_TECH,
            created_at=NOON,
            moved_at=NOON,
        )
    )
