"""A ticket that came in: screened, remembered, queued; and the sweep of those left behind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, NotFound, Unavailable
from cairn.ledger.keys import BodyUnreadable
from cairn.safety.screening import Verdict
from cairn.tickets.ticket import MOST_MESSAGES, TicketStatus
from cairn.tickets.write_back import records_of
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import Dump
    from cairn.inbound.gateway import InboundGateway, Redact
    from cairn.tickets.sealing import Sealed
    from cairn.tickets.ticket import MessageRow, Ticket, TicketRow
    from cairn.writing.platform import Platform


SWEPT = 100
"""Tickets of a workspace that one sweep screens."""


GraphWriter: TypeAlias = "Callable[[UUID, Sequence[Dump]], None]"
"""Writes records of the memory graph; what stands already is left alone."""


Admit: TypeAlias = "Callable[[UUID], int]"
"""Starts investigations of queued tickets while there is room; returns how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeTicket:
    """Takes up one ticket, and then whatever of its workspace has room to be investigated."""

    platform: Platform
    sealed: Sealed
    screen: InboundGateway
    redact: Redact
    graph: GraphWriter
    admit: Admit

    def __call__(
        self, workspace_id: UUID, ticket_id: UUID, outbox_ids: Collection[UUID] = ()
    ) -> str:
        """Return the ticket's status after it. NotFound when there is none; Unavailable: again.

        `outbox_ids` are done in the same transaction.
        """
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            row = stores.tickets.find(ticket_id)
            messages = stores.ticket_messages.newest(ticket_id, MOST_MESSAGES)
        if row is None:
            raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
        labels: Mapping[str, Any] = {}
        if row.status is TicketStatus.NEW:
            labels = self._labels(workspace_id, row, messages)
        status = self._queue(row, labels, principal_id=workspace_id, outbox_ids=outbox_ids)
        self.admit(workspace_id)
        return status.value

    def _labels(
        self, workspace_id: UUID, row: TicketRow, messages: Sequence[MessageRow]
    ) -> Mapping[str, Any]:
        """InboundGateway a new ticket and remember it; what was forgotten meanwhile has no labels.

        One that its requester answered is screened with what they said, and is remembered already.
        """
        try:
            ticket = self.sealed.ticket(workspace_id, row)
        except BodyUnreadable:
            return {}
        ticket = replace(ticket, messages=self.sealed.messages(workspace_id, messages))
        text = f"{ticket.title}\n{ticket.words}"
        labels = self.screen(workspace_id, text, channel=ticket.source).labels()
        if row.claimed_at is None and not is_discarded({**row.screening, **labels}):
            self._remember(ticket)
        return labels

    def _remember(self, ticket: Ticket) -> None:
        """Write the ticket's nodes. What the graph refuses is reported and holds nothing up."""
        try:
            redact = partial(self.redact, ticket.workspace_id)
            records = records_of(ticket, redact, self.platform.clock())
            self.graph(ticket.workspace_id, records)
        except Unavailable:
            raise
        except CairnError as refused:
            fields = {"ticket_id": str(ticket.id), "reason": refused.reason}
            self.platform.warn("ticket.not_remembered", fields)

    def _queue(
        self,
        row: TicketRow,
        labels: Mapping[str, Any],
        *,
        principal_id: UUID,
        outbox_ids: Collection[UUID],
    ) -> TicketStatus:
        """Move the ticket on, once, with its entry; return how it stands."""
        principal = system_principal(principal_id)
        discarded = is_discarded({**row.screening, **labels})
        if row.claimed_at is not None and is_discarded(row.screening):
            discarded = False  # somebody put it back in spite of that before
        status = TicketStatus.DISCARDED if discarded else TicketStatus.QUEUED
        with open_write(self.platform, principal) as write:
            stores = write.stores
            if stores.tickets.screened(row.id, labels, status, write.now):
                meta = {"ticket_id": str(row.id), "status": status.value, **labels}
                write.note("ticket.screened", meta)
            stores.outbox.done(outbox_ids)
            ticket_row = stores.tickets.find(row.id)
        return ticket_row.status if ticket_row else status


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTickets:
    """Takes up what a lost message left behind, in every workspace where tickets wait."""

    platform: Platform
    workspaces: Callable[[], Sequence[UUID]]
    take: TakeTicket

    def __call__(self) -> int:
        """Return how many tickets were screened; others that wait are offered for investigation."""
        return sum(self._workspace(workspace) for workspace in self.workspaces())

    def _workspace(self, workspace_id: UUID) -> int:
        taken = 0
        try:
            with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
                new = stores.tickets.unscreened(SWEPT)
            for ticket_id in new:
                self.take(workspace_id, ticket_id)
                taken += 1
            if not new:
                self.take.admit(workspace_id)
        except CairnError as error:
            fields = {"workspace_id": str(workspace_id), "reason": error.reason}
            self.platform.warn("tickets.not_swept", fields)
        return taken


def is_discarded(screening: Mapping[str, Any]) -> bool:
    """Return whether a ticket with these labels is kept without being investigated.

    What an administrator said is only labelled.
    """
    return screening.get("verdict") == Verdict.DISCARD and not screening.get("advisory")
