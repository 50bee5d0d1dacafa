"""A ticket that came in is taken up: screened, remembered, queued, and offered for investigation.

Safe at least once. What fails on the way leaves the ticket as it was; the queue's message comes
again, and after that the sweep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, NotFound, Unavailable
from cairn.ledger.entry import NewEntry
from cairn.ledger.keys import BodyUnreadable
from cairn.tickets.gateway import is_discarded
from cairn.tickets.remembered import records_of
from cairn.tickets.ticket import MOST_MESSAGES, TicketStatus
from cairn.writing.append import append_and_project, principal_actor
from cairn.writing.entries import Planned

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import Dump
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.text.json_value import JsonValue
    from cairn.kernel.transaction import Transactions
    from cairn.tickets.gateway import Redact, Screened
    from cairn.tickets.ports import MessageRow, TicketRow, TicketStores
    from cairn.tickets.sealing import Sealed
    from cairn.tickets.ticket import Ticket

SWEPT = 100
"""Tickets of a workspace that one sweep screens."""


class Screen(Protocol):
    """Says what a message looks like; never fails. See `helpdesk.gateway`."""

    def __call__(self, workspace_id: UUID, text: str, *, channel: str) -> Screened: ...


class GraphWriter(Protocol):
    """Writes records of the memory graph; what stands already is left alone."""

    def __call__(self, workspace_id: UUID, records: Sequence[Dump]) -> None: ...


class Admit(Protocol):
    """Starts investigations of queued tickets while there is room; returns how many."""

    def __call__(self, workspace_id: UUID) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeTicket:
    """Takes up one ticket, and then whatever of its workspace has room to be investigated."""

    transactions: Transactions[TicketStores]
    sealed: Sealed
    screen: Screen
    redact: Redact
    graph: GraphWriter
    admit: Admit
    clock: Clock
    new_id: IdSource
    warn: Callable[[str, dict[str, Any]], None]

    def __call__(
        self, workspace_id: UUID, ticket_id: UUID, outbox_ids: Collection[UUID] = ()
    ) -> str:
        """Return the ticket's status after it. NotFound when there is none; Unavailable: again.

        `outbox_ids` are done in the same transaction.
        """
        principal = system_principal(workspace_id)
        with self.transactions.reading(principal) as stores:
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
        """Screen a new ticket and remember it; what was forgotten meanwhile has no labels.

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
            records = records_of(ticket, redact, self.clock())
            self.graph(ticket.workspace_id, records)
        except Unavailable:
            raise
        except CairnError as refused:
            told = {"ticket_id": str(ticket.id), "reason": refused.reason}
            self.warn("ticket.not_remembered", told)

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
        with self.transactions.writing(principal) as stores:
            now = self.clock()
            moved = stores.tickets.screened(row.id, labels, status, now)
            if moved:
                meta: dict[str, JsonValue] = {"ticket_id": str(row.id), "status": status.value}
                entry = NewEntry(
                    id=self.new_id(),
                    workspace_id=principal_id,
                    type="ticket.screened",
                    actor=principal_actor(principal),
                    occurred_at=now,
                    meta={**meta, **labels},
                )
                append_and_project(stores, [Planned(entry=entry, body={})], now)
            stores.outbox.done(outbox_ids)
            found = stores.tickets.find(row.id)
        return found.status if found else status


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTickets:
    """Takes up what a lost message left behind, in every workspace where tickets wait."""

    workspaces: Callable[[], Sequence[UUID]]
    transactions: Transactions[TicketStores]
    take: TakeTicket
    warn: Callable[[str, dict[str, Any]], None]

    def __call__(self) -> int:
        """Return how many tickets were screened; others that wait are offered for investigation."""
        return sum(self._workspace(one) for one in self.workspaces())

    def _workspace(self, workspace_id: UUID) -> int:
        taken = 0
        try:
            with self.transactions.reading(system_principal(workspace_id)) as stores:
                new = stores.tickets.unscreened(SWEPT)
            for ticket_id in new:
                self.take(workspace_id, ticket_id)
                taken += 1
            if not new:
                self.take.admit(workspace_id)
        except CairnError as error:
            told = {"workspace_id": str(workspace_id), "reason": error.reason}
            self.warn("tickets.not_swept", told)
        return taken
