"""Questions to people in PostgreSQL. Task tokens go in, and come out by one function only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.investigations.ports import Approval, ApprovalState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


APPROVAL = record(Approval, state=ApprovalState)


class PostgresApprovals(Store):
    """The approvals of the transaction's workspace."""

    def add(self, approval: Approval) -> None:
        """Keep a question."""
        one = approval
        self.run(
            "approval.add",
            id=one.id,
            investigation_id=one.investigation_id,
            ticket_id=one.ticket_id,
            action_id=one.action_id,
            tool=one.tool,
            binding=one.binding,
            policy_version=one.policy_version,
            content=one.content,
            state=one.state.value,
            data_subjects=list(one.data_subjects),
            asked_at=one.asked_at,
            expires_at=one.expires_at,
            decided_at=one.decided_at,
            decided_by=one.decided_by,
            decision_position=one.decision_position,
        )

    def find(self, approval_id: UUID) -> Approval | None:
        """Return one."""
        return self.first_of(APPROVAL, "approval.find", id=approval_id)

    def granted(self, investigation_id: UUID, now: datetime) -> Sequence[Approval]:
        """Return its granted approvals that are neither used nor expired, the newest first.

        A binding covers its expiry: whoever compares computes it anew for each of them.
        """
        asked = {"investigation_id": investigation_id, "now": now}
        return self.all_of(APPROVAL, "approval.granted", **asked)

    def decide(
        self,
        approval_id: UUID,
        state: ApprovalState,
        *,
        by: UUID | None,
        position: int,
        now: datetime,
    ) -> bool:
        """Decide a pending one; False when it was decided before or has expired.

        EXPIRED and VOID are decided of expired ones too.
        """
        decided = self.run(
            "approval.decide", id=approval_id, state=state.value, by=by, position=position, now=now
        )
        return decided.rowcount == 1

    def use(self, approval_id: UUID) -> bool:
        """Use a granted one; False when it is not granted (any more)."""
        return self.run("approval.use", id=approval_id).rowcount == 1

    def keep_token(self, approval_id: UUID, token: str) -> None:
        """Keep the machine's task token, whatever was decided; the newest counts."""
        self.run("approval.keep_token", id=approval_id, token=token)

    def token(self, approval_id: UUID) -> str | None:
        """Return the task token, for the process that answers the machine; None while pending."""
        return self.value("approval.token", id=approval_id)

    def of(self, investigation_id: UUID) -> Sequence[Approval]:
        """Return an investigation's approvals, the newest first."""
        return self.all_of(APPROVAL, "approval.of", investigation_id=investigation_id)

    def due(self, now: datetime, limit: int) -> Sequence[Approval]:
        """Return pending ones that have expired, the longest first."""
        return self.all_of(APPROVAL, "approval.due", now=now, limit=limit)

    def page(
        self, *, state: ApprovalState | None, before: UUID | None, limit: int
    ) -> Sequence[Approval]:
        """Return approvals, the newest first."""
        asked = {"state": state.value if state else None, "before": before, "limit": limit}
        return self.all_of(APPROVAL, "approval.page", **asked)

    def pending(self) -> int:
        """Return how many wait."""
        return self.value("approval.pending")
