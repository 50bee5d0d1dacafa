"""Forgetting behind the fake API: one client is known, and was forgotten once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from cairn.forgetting.forget import ForgetPlan, Forgotten, Target
from cairn.forgetting.ports import Forgetting, Reason
from cairn.forgetting.prove import Looked, Proof, checked
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import NotFound

KNOWN = ("client", "acme")
SUBJECT, FORGETTING, NODE = UUID(int=1), UUID(int=2), UUID(int=3)
PLACES = (Looked(store="postgresql", place="public.node", items=7, found=0),)


@dataclass
class ForgetWorld:
    """What the routes were called with."""

    forgotten: list[tuple[Target, Reason]] = field(default_factory=list[tuple[Target, Reason]])
    canaries: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])


@dataclass
class FakeForget:
    world: ForgetWorld

    def __call__(self, principal: Principal, target: Target, reason: Reason, /) -> Forgotten:
        self.plan(principal, target)
        self.world.forgotten.append((target, reason))
        already = len(self.world.forgotten) > 1
        return Forgotten(forgetting=self.get(principal, FORGETTING), already=already)

    def plan(self, principal: Principal, target: Target, /) -> ForgetPlan:
        principal.require(Role.ADMIN)
        if target.owner != KNOWN and target.subject_id != SUBJECT:
            raise NotFound("Nobody is known by that.", reason="unknown-subject")
        counts = {"node.Memory": 1}
        return ForgetPlan(
            subject_id=SUBJECT, kind="client", keyed=True, counts=counts, node_ids=(NODE,)
        )

    def get(self, principal: Principal, forgetting_id: UUID, /) -> Forgetting:
        principal.require(Role.ADMIN)
        if forgetting_id != FORGETTING:
            raise NotFound("There is no such forgetting.")
        moment = datetime(2026, 5, 1, tzinfo=UTC)
        return Forgetting(
            id=FORGETTING,
            workspace_id=principal.workspace_id,
            subject_id=SUBJECT,
            kind="client",
            mark=b"m" * 32,
            keyed=True,
            reason="request",
            principal_id=principal.principal_id,
            status="done",
            position=7,
            begun_at=moment,
            purged_position=8,
            counts={"node": 1},
            done_at=moment,
        )


@dataclass
class FakeProve:
    world: ForgetWorld

    def __call__(
        self, principal: Principal, forgetting_id: UUID, canaries: Sequence[str] = (), /
    ) -> Proof:
        FakeForget(self.world).get(principal, forgetting_id)
        self.world.canaries.append(checked(canaries))
        return Proof(
            forgetting_id=forgetting_id,
            subject_id=SUBJECT,
            clean=True,
            canaries=len(canaries),
            places=PLACES,
        )

    def before(
        self,
        principal: Principal,
        target: Target,
        node_ids: Sequence[UUID],
        canaries: Sequence[str],
        /,
    ) -> tuple[Proof, tuple[str, ...]]:
        texts = checked([*canaries, "acme"])
        return self(principal, FORGETTING, texts), texts
