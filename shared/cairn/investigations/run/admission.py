"""Who is investigated next: a slot, a ticket and an investigation in one transaction.

Tickets are rows and wait in order; nothing is held in memory. Not the investigation's own steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.investigations.run.moving import ids
from cairn.investigations.run.resume import MOST_BY_ITSELF, STALE_AFTER
from cairn.investigations.run.step import execution_name
from cairn.investigations.state import Investigation, State
from cairn.investigations.views import Present, present
from cairn.kernel.access import Role
from cairn.kernel.errors import CairnError, Conflict, Denied, NotFound
from cairn.kernel.traces import joined, within
from cairn.ledger.entry import SYSTEM
from cairn.ledger.entry import SYSTEM as CAIRN
from cairn.safety.tools import Autonomy
from cairn.tickets.ticket import TicketStatus
from cairn.writing.append import principal_actor
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.investigations.approvals import Expire
    from cairn.investigations.journal import Journal
    from cairn.investigations.run.closing import AbandonExecution, Close
    from cairn.investigations.run.resume import Resume
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.stores import Stores
    from cairn.tickets.ticket import TicketRow
    from cairn.tickets.write_back import Desk
    from cairn.writing.writer import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepInvestigations:
    """Takes up what lost messages and lost executions left behind, however often they were lost.

    `tickets` takes up tickets that nobody took and returns how many; `requeue` puts back what waits
    for something that was mended while it was investigated: nobody saw it then. What fails is told
    to `report`, and keeps neither other investigations nor other workspaces waiting.
    """

    workspaces: Callable[[], Sequence[UUID]]
    tickets: Callable[[], int]
    requeue: Callable[[UUID, str], int]
    expire: Expire
    resume: Resume
    close: Close
    leave: AbandonExecution
    admit: Admit
    clock: Clock
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self, lost_before: datetime | None = None) -> dict[str, int]:
        """Return how many tickets were taken, questions expired, executions and others started.

        No execution that was under way before `lost_before` lives any more: it is not waited for.
        """
        since = lost_before or self.clock() - STALE_AFTER
        counts = {"tickets": self.tickets(), "expired": 0, "resumed": 0, "started": 0}
        for workspace_id in self.workspaces():
            try:
                counts["expired"] += len(self.expire.due(workspace_id))
                for item in self.resume.still_since(workspace_id, since):
                    counts["resumed"] += self._taken_up(item, stopped=lost_before is not None)
                counts["tickets"] += self._put_back(workspace_id)
                counts["started"] += self.admit(workspace_id)
            except CairnError as error:
                fields = {"workspace_id": str(workspace_id), "reason": error.reason}
                self.report("investigations.not_swept", fields)
        return counts

    def _put_back(self, workspace_id: UUID) -> int:
        with self.admit.journal.reading(workspace_id) as stores:
            mended = stores.tickets.mended()
        return sum(self.requeue(workspace_id, item) for item in mended)

    def _taken_up(self, investigation: Investigation, *, stopped: bool) -> bool:
        """Close what has ended, let another execution of the rest begin; False when it fails.

        A person is called for one whose executions end by themselves, not for those that stopped
        with everything.
        """
        try:
            if investigation.state.is_end:
                self.close(investigation.workspace_id, investigation.id)
                return True
            if investigation.run > MOST_BY_ITSELF and not stopped:
                self.leave(investigation.workspace_id, investigation.id)
            now = self.resume.again(investigation, actor=CAIRN)
        except CairnError as error:
            fields = {"investigation_id": str(investigation.id), "reason": error.reason}
            self.report("investigation.not_taken_up", fields)
            return False
        return now.run != investigation.run


AT_ONCE = 8
"""Investigations of a workspace that run at once, unless set otherwise."""

HANDED_OVER = frozenset(
    {
        TicketStatus.AUTO_RESOLVED,
        TicketStatus.NEEDS_TECH,
        TicketStatus.NEEDS_CLIENT,
        TicketStatus.NEEDS_L2,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admit:
    """Starts investigations of queued tickets while slots last.

    Safe to call at any time and by many at once: every ticket is claimed by one of them.
    """

    journal: Journal
    at_once: int = AT_ONCE

    def __call__(self, workspace_id: UUID) -> int:
        """Return how many were started."""
        started = 0
        while self._may_start(workspace_id) and self._start(workspace_id):
            started += 1
        return started

    def _may_start(self, workspace_id: UUID) -> bool:
        """Look without a lock: nobody waits for a writing transaction that has nothing to do."""
        with self.journal.reading(workspace_id) as stores:
            return stores.slots.taken() < self.at_once and stores.tickets.depth(1) > 0

    def _start(self, workspace_id: UUID) -> bool:
        def start(write: Write) -> bool:
            stores, investigation_id = write.stores, self.journal.platform.new_id()
            if stores.slots.taken() >= self.at_once:
                return False
            if not stores.slots.take(investigation_id, self.at_once, write.now):
                return False
            ticket = stores.tickets.claim(investigation_id, write.now)
            if ticket is None:
                stores.slots.free(investigation_id)
                return False
            return self._begun(write, ticket, investigation_id)

        return self.journal.write(workspace_id, (), SYSTEM, start)

    def _begun(self, write: Write, ticket: TicketRow, investigation_id: UUID) -> bool:
        investigation = Investigation(
            id=investigation_id,
            workspace_id=write.entries.workspace_id,
            ticket_id=ticket.id,
            persona=ticket.persona,
            state=State.CREATED,
            data_subjects=ticket.data_subjects,
            execution=execution_name(investigation_id, 1),
            traceparent=joined(write.stores.ledger.trace_at(ticket.position), investigation_id),
            created_at=write.now,
            moved_at=write.now,
        )
        if not write.stores.investigations.add(investigation, b""):
            raise Conflict("The ticket is being investigated.", reason="investigated-already")
        with within(investigation.traceparent):
            write.note("investigation.started", {**ids(investigation), "run": 1}, {})
        write.wake(Topic.INVESTIGATION, investigation_id, batch=1)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Puts a ticket into the queue because somebody asks for it, and starts it if there is room.

    A ticket that was answered or handed over is not: that takes the decision to put it back.
    """

    journal: Journal
    admit: Admit
    desk: Desk

    def __call__(self, principal: Principal, ticket_id: UUID) -> Present | None:
        """Return where its investigation is; None while it waits in the queue.

        Raises NotFound, Denied (`autonomy-off`) when its persona is off, Conflict
        (`investigated-already`) when one is under way, (`ticket-ended`) when one has handed the
        ticket over and nobody put it back since.
        """
        principal.require(Role.ADMIN, Role.AGENT)
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            ticket = _find_ticket(stores, ticket_id)
        if self.desk.persona(workspace_id, ticket.persona).autonomy is Autonomy.OFF:
            raise Denied("Agents are switched off for this ticket.", reason="autonomy-off")

        def queue(write: Write) -> None:
            row = _find_ticket(write.stores, ticket_id)
            if row.status is TicketStatus.INVESTIGATING:
                raise Conflict("The ticket is being investigated.", reason="investigated-already")
            if row.status in HANDED_OVER:
                raise Conflict(
                    f"The ticket's investigation ended as {row.status}; another one would hand it "
                    f"over again. An admin may put the ticket back into the queue.",
                    reason="ticket-ended",
                )
            if write.stores.tickets.requeue(ticket_id, write.now):
                write.note("ticket.requeued", {"ticket_id": str(ticket_id)}, {})

        self.journal.write(workspace_id, (), principal_actor(principal), queue)
        self.admit(workspace_id)
        return self._open(workspace_id, ticket_id)

    def _open(self, workspace_id: UUID, ticket_id: UUID) -> Present | None:
        with self.journal.reading(workspace_id) as stores:
            investigations = stores.investigations.page(
                before=None, limit=1, state=None, ticket_id=ticket_id
            )
        return (
            present(investigations[0])
            if investigations and not investigations[0].state.is_end
            else None
        )


def _find_ticket(stores: Stores, ticket_id: UUID) -> TicketRow:
    ticket = stores.tickets.find(ticket_id)
    if ticket is None:
        raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
    return ticket
