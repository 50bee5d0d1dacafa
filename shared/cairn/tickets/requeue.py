"""Putting tickets back into the queue: because somebody asks, or because something was mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound
from cairn.ledger.entry import NewEntry
from cairn.tickets.ticket import TicketStatus
from cairn.writing.append import append_and_project, principal_actor
from cairn.writing.entries import Planned
from cairn.writing.ports import OutboxRow, Topic

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.transaction import Transactions
    from cairn.tickets.ports import TicketStores
    from cairn.writing.ports import Dispatcher

AT_ONCE = 200
"""Tickets that one transaction puts back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Puts tickets back, with an entry each, and wakes the stage that takes them up."""

    transactions: Transactions[TicketStores]
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource

    def __call__(self, principal: Principal, ticket_id: UUID) -> TicketStatus:
        """Put one back and return its status; one that is queued or new stays as it is.

        Denied but for admins, NotFound without it, Conflict while it is being investigated.
        """
        principal.require(Role.ADMIN)
        rows: list[OutboxRow] = []
        with self.transactions.writing(principal) as stores:
            now = self.clock()
            found = stores.tickets.find(ticket_id)
            if found is None:
                raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
            if found.status is TicketStatus.INVESTIGATING:
                raise Conflict("This ticket is being investigated.", reason="investigating")
            if not found.sealed:
                raise Conflict("What this ticket said was forgotten.", reason="ticket-forgotten")
            if not stores.tickets.requeue(ticket_id, now):
                return found.status
            rows.append(put_back(stores, principal, ticket_id, "asked", now, self.new_id))
        self.dispatcher.send(rows)
        return TicketStatus.QUEUED

    def mended(self, workspace_id: UUID, waits_for: str) -> int:
        """Put back what waits for `connector:<name>` or `source:<name>`; return how many."""
        principal = system_principal(workspace_id)
        done = 0
        while rows := self._batch(principal, waits_for):
            self.dispatcher.send(rows)
            done += len(rows)
        return done

    def _batch(self, principal: Principal, waits_for: str) -> list[OutboxRow]:
        with self.transactions.writing(principal) as stores:
            now = self.clock()
            return [
                put_back(stores, principal, ticket_id, "mended", now, self.new_id)
                for ticket_id in stores.tickets.waiting(waits_for, AT_ONCE)
                if stores.tickets.requeue(ticket_id, now)
            ]


def put_back(
    stores: TicketStores,
    principal: Principal,
    ticket_id: UUID,
    why: str,
    now: datetime,
    new_id: IdSource,
) -> OutboxRow:
    """Add the entry of a ticket that went back, and the message that wakes who takes it up."""
    entry = NewEntry(
        id=new_id(),
        workspace_id=principal.workspace_id,
        type="ticket.requeued",
        actor=principal_actor(principal),
        occurred_at=now,
        meta={"ticket_id": str(ticket_id), "why": why},
    )
    (appended,) = append_and_project(stores, [Planned(entry=entry, body={})], now)
    row = OutboxRow(
        workspace_id=principal.workspace_id,
        id=new_id(),
        topic=Topic.TICKET,
        position=appended.position,
        reference=ticket_id,
    )
    stores.outbox.add(row, now)
    return row
