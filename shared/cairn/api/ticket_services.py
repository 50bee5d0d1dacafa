"""What the API needs of tickets, their sources and personas: use cases, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.tickets.adapter import Delivered, Incoming, Message
    from cairn.tickets.inbound import EventsTaken
    from cairn.tickets.intake import From, Received
    from cairn.tickets.messages import MessageTaken
    from cairn.tickets.persona import Persona
    from cairn.tickets.polling import PollResult
    from cairn.tickets.ports import PersonaVersion, TicketSource
    from cairn.tickets.queue import QueueView
    from cairn.tickets.reading import TicketDetail, TicketView
    from cairn.tickets.sources import NewSource, SourceChange
    from cairn.tickets.ticket import TicketStatus
    from cairn.writing.items import IdempotencyKey


class AddTicket(Protocol):
    """Take a ticket in; ValidationFailed or TooLarge names the field that cannot be kept."""

    def __call__(
        self,
        principal: Principal,
        origin: From,
        given: Incoming,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Received: ...


class AddMessage(Protocol):
    """Take in what the requester wrote later; NotFound, Conflict for a help desk's ticket."""

    def __call__(
        self,
        principal: Principal,
        ticket_id: UUID,
        given: Message,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> MessageTaken: ...


class ReadTickets(Protocol):
    """List tickets, the newest first, and show one; NotFound without it."""

    def page(
        self,
        principal: Principal,
        *,
        status: TicketStatus | None = None,
        source: str | None = None,
        before: UUID | None = None,
        limit: int,
    ) -> Sequence[TicketView]: ...
    def get(self, principal: Principal, ticket_id: UUID) -> TicketDetail: ...


class RequeueTicket(Protocol):
    """Put one back into the queue; NotFound without it, Conflict while it is investigated."""

    def __call__(self, principal: Principal, ticket_id: UUID) -> TicketStatus: ...


class WatchQueue(Protocol):
    """Return how the queue is."""

    def __call__(self, principal: Principal) -> QueueView: ...


class KeepSources(Protocol):
    """Register, list, show, change and remove ticket sources; secrets go in and never out."""

    def create(self, principal: Principal, new: NewSource) -> TicketSource: ...
    def all(self, principal: Principal) -> Sequence[TicketSource]: ...
    def get(self, principal: Principal, source_id: UUID) -> TicketSource: ...
    def change(
        self, principal: Principal, source_id: UUID, change: SourceChange
    ) -> TicketSource: ...
    def remove(self, principal: Principal, source_id: UUID) -> None: ...


class PollSource(Protocol):
    """Fetch what is new at a source now; what the help desk raises comes through."""

    def __call__(self, principal: Principal, source_id: UUID, *, seconds: float) -> PollResult: ...


class ReceiveEvents(Protocol):
    """Take a help desk's delivery in, proved by its signature; see `helpdesk.inbound`."""

    def __call__(self, source_id: UUID, delivered: Delivered) -> EventsTaken: ...
    def check(self, source_id: UUID) -> None: ...


class KeepPersonas(Protocol):
    """List, show, change and remove personas; every change is a version."""

    def all(self, principal: Principal) -> Sequence[Persona]: ...
    def get(self, principal: Principal, name: str) -> Persona: ...
    def versions(self, principal: Principal, name: str) -> Sequence[PersonaVersion]: ...
    def create(self, principal: Principal, persona: Persona) -> Persona: ...
    def put(self, principal: Principal, persona: Persona) -> Persona: ...
    def remove(self, principal: Principal, name: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketServices:
    """The use cases of tickets."""

    add: AddTicket
    message: AddMessage
    read: ReadTickets
    requeue: RequeueTicket
    queue: WatchQueue
    sources: KeepSources
    poll: PollSource
    receive: ReceiveEvents
    personas: KeepPersonas
