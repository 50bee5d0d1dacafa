"""WAITING_APPROVAL: keep the machine's token, answer at once what is decided, and end what is late.

Not the decision: `approvals` takes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.investigations.current import Present, present
from cairn.investigations.journal import agent_of
from cairn.investigations.ports import ApprovalState
from cairn.investigations.run.ending import halted
from cairn.investigations.run.moving import found, ids, moved, read
from cairn.investigations.snapshot import Snapshots
from cairn.investigations.state import State, Verdict
from cairn.ledger.entry import SYSTEM as CAIRN
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.investigations.journal import Journal, Page
    from cairn.investigations.ports import AgentStores, Approval
    from cairn.investigations.run.closing import Abandon
    from cairn.investigations.run.moving import Opened
    from cairn.investigations.situation import Change

SWEPT = 100
"""Expired questions of a workspace that one sweep ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Keeps the token of a machine that waits; the slot it gave back is for the next ticket."""

    journal: Journal
    admit: Callable[[UUID], object]

    def __call__(
        self,
        workspace_id: UUID,
        investigation_id: UUID,
        *,
        token: str,
        run: int | None = None,
    ) -> Present:
        """Return where the investigation is; the token of another run is not kept.

        When it waits no more the machine is answered through the outbox, with this token.
        """

        def keep(page: Page) -> Present:
            investigation = found(page.stores, investigation_id)
            asked = _newest(page.stores, investigation_id)
            if asked is not None and run in (None, investigation.run):
                page.stores.approvals.keep_token(asked.id, token)
                if investigation.state is not State.WAITING_APPROVAL:
                    page.wake(Topic.APPROVAL, asked.id)
            return present(investigation)

        answer = self.journal.write(workspace_id, (), CAIRN, keep)
        self.admit(workspace_id)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire:
    """Ends investigations whose question nobody answered in time; a person is called."""

    journal: Journal
    abandon: Abandon

    def __call__(self, workspace_id: UUID, investigation_id: UUID) -> Present:
        """Return HALTED when the question has expired, else where the investigation is."""
        try:
            before = read(self.journal, workspace_id, investigation_id)
            if before.investigation.state is State.WAITING_APPROVAL:
                self._expire(before)
        except (BodyUnreadable, SubjectForgotten):
            return self.abandon(workspace_id, investigation_id)
        with self.journal.reading(workspace_id) as stores:
            return present(found(stores, investigation_id))

    def due(self, workspace_id: UUID) -> tuple[Present, ...]:
        """Expire every question of a workspace that is due and return where its investigations are.

        For those whose machine is gone: one that still waits is answered.
        """
        with self.journal.reading(workspace_id) as stores:
            late = stores.approvals.due(self.journal.clock(), SWEPT)
        return tuple(self(workspace_id, one.investigation_id) for one in late)

    def _expire(self, before: Opened) -> None:
        investigation = before.investigation
        snapshots = Snapshots(cipher=self.journal.cipher)

        def expire(page: Page) -> None:
            asked = _newest(page.stores, investigation.id)
            if asked is None or asked.expires_at > page.now:
                return
            if moved(page, snapshots, before, expired(before, asked)):
                page.wake(Topic.APPROVAL, asked.id)

        self.journal.write(
            investigation.workspace_id,
            investigation.data_subjects,
            agent_of(investigation),
            expire,
        )


def expired(before: Opened, asked: Approval) -> Change:
    """Return HALTED: nobody answered in time."""
    hours = round((asked.expires_at - asked.asked_at).total_seconds() / 3600)
    why = f"Nobody answered within {hours} hours whether {asked.tool} may be called."
    change = halted(before.memory, Verdict.NEEDS_TECH, why, code="approval-expired")
    meta = {**ids(before.investigation), "approval_id": str(asked.id)}

    def expire(page: Page) -> None:
        position = page.note("approval.expired", meta, {})
        page.stores.approvals.decide(
            asked.id, ApprovalState.EXPIRED, by=None, position=position, now=page.now
        )
        page.stores.actions.deny(asked.action_id, error="expired", now=page.now)

    return replace(change, memory=replace(change.memory, pending=None), effects=(expire,))


def _newest(stores: AgentStores, investigation_id: UUID) -> Approval | None:
    """Return the question an investigation put last."""
    return next(iter(stores.approvals.of(investigation_id)), None)
