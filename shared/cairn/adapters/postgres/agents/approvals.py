"""What people are asked and what they allowed in advance, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.investigations.ports import Approval, ApprovalState
from cairn.safety.grants import GrantRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


APPROVAL = record(Approval, state=ApprovalState)


class PostgresApprovals(Store):
    """The approvals of the transaction's workspace."""

    def add(self, approval: Approval) -> None:
        """Keep a question."""
        self.write("approval.add", approval)

    def find(self, approval_id: UUID) -> Approval | None:
        """Return one."""
        return self.first_of(APPROVAL, "approval.find", id=approval_id)

    def granted(self, investigation_id: UUID, now: datetime) -> Sequence[Approval]:
        """Return its granted approvals that are neither used nor expired, the newest first.

        A binding covers its expiry: whoever compares computes it anew for each of them.
        """
        parameters = {"investigation_id": investigation_id, "now": now}
        return self.all_of(APPROVAL, "approval.granted", **parameters)

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
        parameters = {"state": state.value if state else None, "before": before, "limit": limit}
        return self.all_of(APPROVAL, "approval.page", **parameters)

    def pending(self) -> int:
        """Return how many wait."""
        return self.value("approval.pending")


class PostgresGrants(Store):
    """The standing grants of the transaction's workspace."""

    def add(self, grant: GrantRow) -> None:
        """Keep a new one."""
        self.write("grant.add", grant)

    def find(self, grant_id: UUID) -> GrantRow | None:
        """Return one, over or not."""
        return self.first_of(record(GrantRow), "grant.find", id=grant_id)

    def page(self, *, before: UUID | None, limit: int) -> Sequence[GrantRow]:
        """Return grants, the newest first."""
        return self.all_of(record(GrantRow), "grant.page", before=before, limit=limit)

    def in_force(self, tool: str, now: datetime) -> Sequence[GrantRow]:
        """Return those for a tool that may be used once more, the oldest first."""
        return self.all_of(record(GrantRow), "grant.in_force", tool=tool, now=now)

    def open_count(self, now: datetime) -> int:
        """Return how many may be used once more."""
        return self.value("grant.open_count", now=now)

    def revoke(self, grant_id: UUID, now: datetime) -> bool:
        """Revoke one; False when it is revoked already or there is none."""
        return self.run("grant.revoke", id=grant_id, now=now).rowcount == 1

    def use(self, grant_id: UUID, action_id: UUID, now: datetime) -> bool:
        """Count a use by an action; the same action again counts once.

        False when it is revoked, expired or used up: nothing is counted. Two at once never use
        the last one twice.
        """
        parameters = {"id": grant_id, "action_id": action_id}
        if self.run("grant.used_by", **parameters).fetchone() is not None:
            return True
        return self.run("grant.use", **parameters, now=now).rowcount == 1
