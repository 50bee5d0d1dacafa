"""What the API needs of approvals, standing grants and redaction, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.approvals.views import ApprovalView, Decided
    from cairn.investigations.ports import ApprovalState
    from cairn.investigations.views import QuestionView
    from cairn.kernel.access import Principal
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.grants import Grant, NewGrant


class ListApprovals(Protocol):
    """Return questions to people without what was asked, the newest first."""

    def __call__(
        self,
        principal: Principal,
        *,
        state: ApprovalState | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[QuestionView]: ...


class DecideApprovals(Protocol):
    """Shows questions to admins and takes their decisions; `agent.approvals.Approvals`.

    NotFound for another workspace's, AlreadyDecided, Conflict (`approval-expired`,
    `changed-content`, `policy-changed`), ValidationFailed naming the field.
    """

    def get(self, principal: Principal, approval_id: UUID, /) -> ApprovalView: ...
    def approve(
        self, principal: Principal, approval_id: UUID, /, *, binding: str, reason: str = ""
    ) -> Decided: ...
    def reject(self, principal: Principal, approval_id: UUID, /, *, reason: str) -> Decided: ...
    def edit(
        self,
        principal: Principal,
        approval_id: UUID,
        /,
        *,
        binding: str,
        arguments: Mapping[str, JsonValue],
        reason: str,
    ) -> Decided: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalServices:
    """The use cases of approvals."""

    page: ListApprovals
    decide: DecideApprovals


class MakeGrant(Protocol):
    """Make a standing grant, from a question where one is named; `agent.granting`."""

    def __call__(
        self, principal: Principal, new: NewGrant, /, *, as_asked: bool = False
    ) -> Grant: ...


class KeepGrants(Protocol):
    """Lists and revokes standing grants; `lifecycle.grants.Grants`."""

    def page(
        self, principal: Principal, /, *, before: UUID | None, limit: int
    ) -> Sequence[Grant]: ...
    def revoke(self, principal: Principal, grant_id: UUID, /) -> Grant: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantServices:
    """The use cases of standing grants."""

    make: MakeGrant
    keep: KeepGrants


class KeepRedaction(Protocol):
    """Shows and changes a workspace's redaction profile; `lifecycle.redaction.RedactionProfile`."""

    def show(self, principal: Principal, /) -> str: ...
    def choose(self, principal: Principal, profile: str, /) -> str: ...
