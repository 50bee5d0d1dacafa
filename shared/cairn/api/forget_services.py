"""What the routes of forgetting call. Contracts; the use cases are in `lifecycle`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.forgetting.forget import ForgetPlan, Forgotten, Target
    from cairn.forgetting.ports import Forgetting, Reason
    from cairn.forgetting.prove import Proof
    from cairn.kernel.access import Principal


class ForgetSubject(Protocol):
    """Forget somebody or a source, or say what would go; Denied unless an admin."""

    def __call__(self, principal: Principal, target: Target, reason: Reason, /) -> Forgotten: ...

    def plan(self, principal: Principal, target: Target, /) -> ForgetPlan:
        """Return what would go; nothing is changed."""
        ...

    def get(self, principal: Principal, forgetting_id: UUID, /) -> Forgetting:
        """Return a forgetting; NotFound for another workspace's."""
        ...


class ProveForgotten(Protocol):
    """Look for what was forgotten in every store."""

    def __call__(
        self, principal: Principal, forgetting_id: UUID, canaries: Sequence[str] = (), /
    ) -> Proof: ...

    def before(
        self,
        principal: Principal,
        target: Target,
        node_ids: Sequence[UUID],
        canaries: Sequence[str],
        /,
    ) -> tuple[Proof, tuple[str, ...]]:
        """Look for what is not forgotten yet; return the canaries it took, too."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetServices:
    """The use cases of forgetting."""

    forget: ForgetSubject
    prove: ProveForgotten
