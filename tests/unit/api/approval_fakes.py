"""Approvals and standing grants behind the fake API: one question, decided once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cairn.investigations.approvals import AlreadyDecided
from cairn.investigations.ports import ApprovalState, QuestionView
from cairn.investigations.state import State
from cairn.investigations.views import ApprovalView, Decided, ShownEvidence
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.ids import new_id
from cairn.kernel.records import convert
from cairn.kernel.text.json_value import JsonValue
from cairn.safety.grants import Grant, NewGrant
from cairn.safety.profiles import DEFAULT_PROFILE, check_profile

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
BINDING = "ab" * 32
TARGETS = {
    ApprovalState.GRANTED: State.ACTING,
    ApprovalState.REJECTED: State.PLANNING,
    ApprovalState.EDITED: State.SAFETY_CHECK,
}


def question(**changes: object) -> ApprovalView:
    asked = ApprovalView(
        id=new_id(),
        investigation_id=new_id(),
        ticket_id=new_id(),
        action_id=new_id(),
        tool="accounts.unlock",
        arguments={"user": "ada@example.com"},
        binding=BINDING,
        policy_version="p1",
        state=ApprovalState.PENDING,
        title="I cannot sign in",
        why="The account is locked after five failed sign-ins.",
        rule="propose",
        detail="Every write waits for a person.",
        dangerous=True,
        rollback=None,
        rehearsal="would unlock 1 account",
        evidence=(ShownEvidence(citation="[tool:1]", text="locked_at 11:58"),),
        evidence_change=None,
        asked_at=NOON,
        expires_at=NOON + timedelta(hours=24),
        decided_at=None,
        decided_by=None,
        decision_position=None,
    )
    return replace(asked, **changes)  # type: ignore[arg-type]


@dataclass
class ApprovalWorld:
    """Questions, what was decided and why, and the grants that were made."""

    asked: dict[UUID, ApprovalView] = field(default_factory=dict[UUID, ApprovalView])
    reasons: list[str] = field(default_factory=list[str])
    arguments: list[Mapping[str, JsonValue]] = field(default_factory=list[Mapping[str, JsonValue]])
    grants: dict[UUID, Grant] = field(default_factory=dict[UUID, Grant])
    made: list[tuple[NewGrant, bool]] = field(default_factory=list[tuple[NewGrant, bool]])
    now: datetime = NOON

    def add(self, **changes: object) -> ApprovalView:
        one = question(**changes)
        self.asked[one.id] = one
        return one

    def questions(
        self,
        principal: Principal,
        *,
        state: ApprovalState | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[QuestionView]:
        found = [
            item
            for item in sorted(self.asked.values(), key=lambda each: each.id, reverse=True)
            if (state is None or item.state is state) and (before is None or item.id < before)
        ]
        return [convert(item, QuestionView) for item in found[:limit]]

    def get(self, principal: Principal, approval_id: UUID) -> ApprovalView:
        principal.require(Role.ADMIN)
        if approval_id not in self.asked:
            raise NotFound("There is no such approval.")
        return self.asked[approval_id]

    def approve(
        self, principal: Principal, approval_id: UUID, *, binding: str, reason: str = ""
    ) -> Decided:
        self._check(principal, approval_id, binding)
        return self._decide(principal, approval_id, ApprovalState.GRANTED, reason)

    def reject(self, principal: Principal, approval_id: UUID, *, reason: str) -> Decided:
        self._check(principal, approval_id, None)
        return self._decide(principal, approval_id, ApprovalState.REJECTED, reason)

    def edit(
        self,
        principal: Principal,
        approval_id: UUID,
        *,
        binding: str,
        arguments: Mapping[str, JsonValue],
        reason: str,
    ) -> Decided:
        self._check(principal, approval_id, binding)
        self.arguments.append(arguments)
        return self._decide(principal, approval_id, ApprovalState.EDITED, reason)

    def make(self, principal: Principal, new: NewGrant, *, as_asked: bool = False) -> Grant:
        principal.require(Role.ADMIN)
        self.made.append((new, as_asked))
        grant = Grant(
            id=new_id(),
            tool=new.tool,
            declaration="d" * 64,
            arguments=new.arguments,
            expires_at=new.expires_at,
            max_uses=new.max_uses,
            reason=new.reason,
            made_by=principal.principal_id,
            made_at=self.now,
            approval_id=new.approval_id,
            data_subjects=(UUID(int=5),),
        )
        self.grants[grant.id] = grant
        return grant

    def page(self, principal: Principal, *, before: UUID | None, limit: int) -> Sequence[Grant]:
        principal.require(Role.ADMIN)
        newest = sorted(self.grants.values(), key=lambda grant: grant.id, reverse=True)
        return [item for item in newest if before is None or item.id < before][:limit]

    def revoke(self, principal: Principal, grant_id: UUID) -> Grant:
        principal.require(Role.ADMIN)
        if grant_id not in self.grants:
            raise NotFound("There is no such grant.")
        found = self.grants[grant_id]
        self.grants[grant_id] = replace(found, revoked_at=found.revoked_at or self.now)
        return self.grants[grant_id]

    def _check(self, principal: Principal, approval_id: UUID, binding: str | None) -> None:
        one = self.get(principal, approval_id)
        if one.state is not ApprovalState.PENDING:
            raise AlreadyDecided("This was decided before.")
        if one.expires_at <= self.now:
            raise Conflict("The question has expired.", reason="approval-expired")
        if binding is not None and binding != one.binding:
            raise Conflict("This is not what was shown.", reason="changed-content")

    def _decide(
        self, principal: Principal, approval_id: UUID, state: ApprovalState, reason: str
    ) -> Decided:
        self.reasons.append(reason)
        one = replace(
            self.asked[approval_id],
            state=state,
            decided_at=self.now,
            decided_by=principal.principal_id,
        )
        self.asked[approval_id] = one
        return Decided(
            id=one.id,
            state=state,
            investigation_id=one.investigation_id,
            investigation_state=TARGETS[state],
            position=42,
        )


@dataclass
class ProfileWorld:
    """The redaction profile of the workspace."""

    profile: str = DEFAULT_PROFILE

    def show(self, principal: Principal, /) -> str:
        principal.require(Role.ADMIN)
        return self.profile

    def choose(self, principal: Principal, profile: str, /) -> str:
        principal.require(Role.ADMIN)
        self.profile = check_profile(profile, field="profile")
        return self.profile
