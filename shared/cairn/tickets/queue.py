"""How long the queue is, how long it will take, and when it is too long. Pure, but for one read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.records import convert
from cairn.tickets.ticket import (
    MessageRow,
    QueueNumbers,
    ReplyRow,
    TicketFields,
    TicketRow,
    TicketStatus,
)
from cairn.writing.ports import Topic
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.tickets.sealing import Sealed, TicketText
    from cairn.writing.platform import Platform


MOST_SHOWN = 50
"""Later messages that are shown with a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketView(TicketFields):
    """A ticket in a list. `title` and `customer` are None when whom it is about was forgotten."""

    title: str | None
    customer: str | None
    requester_email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyView:
    """What was answered to a ticket; `text` is None when whom it is about was forgotten."""

    id: UUID
    investigation_id: UUID
    private: bool
    text: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """What the requester wrote later; `text` is None when whom it is about was forgotten."""

    id: UUID
    external_id: str
    text: str | None
    written_at: datetime
    received_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketDetail(TicketView):
    """A ticket with everything there is to it; a `cut` body is whole in the ledger.

    `messages` are the last fifty of the requester's later ones, the oldest first.
    """

    body: str | None
    cut: bool
    source_metadata: Mapping[str, Any]
    messages: Sequence[MessageView]
    replies: Sequence[ReplyView]
    investigations: Sequence[Any]


InvestigationsOf: TypeAlias = "Callable[[Principal, UUID], Sequence[Any]]"
"""Lists the investigations a ticket had, the newest first, as they are shown in a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTickets:
    """Lists tickets and shows one to admins and people: tickets say what customers wrote."""

    platform: Platform
    sealed: Sealed
    investigations: InvestigationsOf

    def page(
        self,
        principal: Principal,
        *,
        status: TicketStatus | None = None,
        source: str | None = None,
        before: UUID | None = None,
        limit: int,
    ) -> Sequence[TicketView]:
        """Return tickets, the newest first."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.tickets.page(status=status, source=source, before=before, limit=limit)
        texts = self.sealed.tickets(principal.workspace_id, rows)
        return [_view(row, texts.get(row.id)) for row in rows]

    def get(self, principal: Principal, ticket_id: UUID) -> TicketDetail:
        """Return one; NotFound without it."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            row = stores.tickets.find(ticket_id)
            messages = stores.ticket_messages.newest(ticket_id, MOST_SHOWN)
            replies = stores.write_backs.replies(ticket_id)
        if row is None:
            raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
        text = self.sealed.tickets(principal.workspace_id, [row]).get(row.id)
        return convert(
            _view(row, text),
            TicketDetail,
            body=text.body if text else None,
            cut=text.cut if text else False,
            source_metadata=text.source_metadata if text else {},
            messages=[self._message(principal, message) for message in reversed(messages)],
            replies=[self._reply(principal, reply) for reply in replies],
            investigations=self.investigations(principal, ticket_id),
        )

    def _message(self, principal: Principal, row: MessageRow) -> MessageView:
        return convert(row, MessageView, text=self.sealed.said(principal.workspace_id, row))

    def _reply(self, principal: Principal, row: ReplyRow) -> ReplyView:
        return convert(row, ReplyView, text=self.sealed.said(principal.workspace_id, row))


def _view(row: TicketRow, text: TicketText | None) -> TicketView:
    return convert(
        row,
        TicketView,
        title=text.title if text else None,
        customer=text.customer if text else None,
        requester_email=text.requester_email if text else None,
    )


MOST_REOPENINGS = 3
"""How often a ticket's messages put it back before a person has to look."""

WAITING = frozenset([TicketStatus.NEEDS_CLIENT, TicketStatus.AUTO_RESOLVED])
"""Where the next word is the requester's. Tickets that people have are left to them."""


def reopen(write: Write, ticket: TicketRow) -> None:
    """Take a ticket up again if it was answered since we wrote.

    With its entry, and the message that wakes whoever screens it. What was written before our own
    answer is no answer to it, and thanks for what was done ask for nothing more.
    """
    stores, done = write.stores, ticket.status is TicketStatus.AUTO_RESOLVED
    newest = stores.ticket_messages.newest(ticket.id, 1, asking=done)
    if not newest or ticket.investigation_id is None:
        return
    ours = stores.write_backs.answered_at(ticket.investigation_id) or ticket.ended_at
    if ours is None or newest[0].written_at <= ours or not stores.tickets.reopen(ticket.id):
        return
    stores.ticket_messages.reopens(newest[0].id)
    put_back(write, ticket.id, "answered")


AT_ONCE = 200
"""Tickets that one transaction puts back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Puts tickets back, with an entry each, and wakes the stage that takes them up."""

    platform: Platform

    def __call__(self, principal: Principal, ticket_id: UUID) -> TicketStatus:
        """Put one back and return its status; one that is queued or new stays as it is.

        Denied but for admins and operators, NotFound without it, Conflict while it is being
        investigated.
        """
        principal.require_operator()
        with open_write(self.platform, principal) as write:
            tickets = write.stores.tickets
            ticket = tickets.find(ticket_id)
            if ticket is None:
                raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
            if ticket.status is TicketStatus.INVESTIGATING:
                raise Conflict("This ticket is being investigated.", reason="investigating")
            if not ticket.sealed:
                raise Conflict("What this ticket said was forgotten.", reason="ticket-forgotten")
            if not tickets.requeue(ticket_id, write.now):
                return ticket.status
            put_back(write, ticket_id, "asked")
        return TicketStatus.QUEUED

    def mended(self, workspace_id: UUID, waits_for: str) -> int:
        """Put back what waits for `connector:<name>` or `source:<name>`; return how many."""
        done = 0
        while batch := self._batch(system_principal(workspace_id), waits_for):
            done += batch
        return done

    def _batch(self, principal: Principal, waits_for: str) -> int:
        with open_write(self.platform, principal) as write:
            tickets = write.stores.tickets
            waiting = tickets.waiting(waits_for, AT_ONCE)
            back = [ticket for ticket in waiting if tickets.requeue(ticket, write.now)]
            for ticket_id in back:
                put_back(write, ticket_id, "mended")
        return len(back)


def put_back(write: Write, ticket_id: UUID, why: str) -> None:
    """Plan the entry of a ticket that went back, and wake who takes it up."""
    write.note("ticket.requeued", {"ticket_id": str(ticket_id), "why": why})
    write.wake(Topic.TICKET, ticket_id)


DEGRADED_ABOVE = 50
"""Queued tickets above which low-priority ones skip retrieval, unless set otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView(QueueNumbers):
    """The queue as it is shown. `expected_wait_s` is a new ticket's, None before any has ended.

    `held` tickets are queued for personas that are off; `new` ones are not screened yet.
    """

    at_once: int
    expected_wait_s: float | None
    degraded: bool
    degraded_above: int


def view_of(numbers: QueueNumbers, *, at_once: int, above: int = DEGRADED_ABOVE) -> QueueView:
    """Return the view: expected wait = queue length x average duration / how many run at once."""
    wait = None
    if numbers.average_s is not None:
        wait = numbers.depth * numbers.average_s / at_once
    return convert(
        numbers,
        QueueView,
        at_once=at_once,
        expected_wait_s=wait,
        degraded=is_degraded(numbers.depth, above=above),
        degraded_above=above,
    )


def is_degraded(depth: int, *, above: int = DEGRADED_ABOVE) -> bool:
    """Return whether low-priority tickets are to skip retrieval so that the queue drains."""
    return depth > above


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchQueue:
    """Reads the queue of a workspace. `at_once` is how many investigations run at once."""

    platform: Platform
    at_once: int
    above: int = DEGRADED_ABOVE

    def __call__(self, principal: Principal) -> QueueView:
        """Return how the queue is."""
        with self.platform.transactions.reading(principal) as stores:
            return view_of(stores.tickets.numbers(), at_once=self.at_once, above=self.above)

    def degraded(self, workspace_id: UUID) -> bool:
        """Return whether a workspace's queue is too long; it is counted no further than that."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            return is_degraded(stores.tickets.depth(self.above + 1), above=self.above)
