"""Tickets: add one, see them and what was answered, put one back; and how long the queue is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Idempotency, Options, Services, Writer
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Metadata, Name, Text, Timestamp, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.bootstrap.api import ApiServices
from cairn.investigations.views import InvestigationView
from cairn.kernel.access import Principal, Role
from cairn.kernel.ids import new_id
from cairn.kernel.records import convert
from cairn.tickets import queue
from cairn.tickets.adapter import Incoming, Message
from cairn.tickets.intake import From, Outcome, Received
from cairn.tickets.messages import MessageOutcome
from cairn.tickets.personas import DEFAULT
from cairn.tickets.queue import QueueView, TicketView
from cairn.tickets.sealing import (
    MAX_CUSTOMER_CHARS,
    MAX_EMAIL_CHARS,
    MAX_EXTERNAL_ID_CHARS,
    MAX_STORED_CHARS,
)
from cairn.tickets.ticket import API_SOURCE, MAX_TITLE_CHARS, Priority, TicketStatus
from cairn.writing.items import IdempotencyKey

routes = router("tickets")

_ROUTE = "tickets"
TicketId = Annotated[UUID, Path(description="The ticket's id.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketDetail(queue.TicketDetail):
    """A ticket with everything there is to it; a `cut` body is whole in the ledger.

    `messages` are the last fifty of the requester's later ones, the oldest first.
    """

    investigations: Sequence[InvestigationView]


class TicketTaken(TypedDict):
    """A ticket that came in, and the ledger position of its entry."""

    id: UUID
    outcome: Literal[Outcome.NEW, Outcome.CHANGED, Outcome.KNOWN]
    position: int


class TicketMessageTaken(TypedDict):
    """A message that came in, and the ledger position of its entry."""

    id: UUID
    outcome: Literal[MessageOutcome.NEW, MessageOutcome.KNOWN]
    position: int


class TicketQueued(TypedDict):
    """A ticket and where it stands now."""

    id: UUID
    status: TicketStatus


class TicketIn(Body):
    """A ticket. `external_id` is the caller's own: the same one again changes nothing.

    `modified_at` says which of two forms of it is the later one.
    """

    model_config = examples(
        {
            "title": "Cannot sign in",
            "body": "Since this morning the portal says my account is locked.",
            "external_id": "desk-4711",
            "customer": "Harbour Lane",
            "requester_email": "marta@harbourlane.example",
            "priority": "high",
            "received_at": "2026-06-01T08:30:00Z",
        }
    )

    title: Annotated[Text, at_most(MAX_TITLE_CHARS)]
    body: Annotated[str, at_most(MAX_STORED_CHARS)] = ""
    external_id: Annotated[str, Field(min_length=1, max_length=MAX_EXTERNAL_ID_CHARS)] | None = None
    customer: Annotated[str, Field(max_length=MAX_CUSTOMER_CHARS)] = ""
    requester_email: Annotated[str, Field(max_length=MAX_EMAIL_CHARS)] | None = None
    priority: Annotated[Priority, Field(strict=False)] = Priority.MEDIUM
    persona: Name = DEFAULT.name
    sla_at: Timestamp | None = None
    received_at: Timestamp | None = None
    modified_at: Timestamp | None = None
    source_metadata: Metadata = Field(default_factory=dict[str, Any])

    def record(self) -> Incoming:
        """Return the use case's record."""
        return convert(self, Incoming, external_id=self.external_id or str(new_id()))


@routes.post(
    "/v1/tickets",
    summary="Add a ticket",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is kept and will be taken up", TicketTaken),
        **answers(200, "It was known already", TicketTaken),
        **problems("not-found", "conflict", body=True),
    },
)
def add_ticket(
    body: TicketIn, caller: Writer, services: Services, idempotency: Idempotency
) -> Response:
    """Take a ticket in. It is screened, queued and investigated after the answer."""
    taken = take_ticket(services, caller, body, idempotency)
    status = 201 if taken.outcome is Outcome.NEW else 200
    shown = {"id": taken.id, "outcome": taken.outcome, "position": taken.position}
    return answer(shown, status=status)


def take_ticket(
    services: ApiServices, caller: Principal, body: TicketIn, idempotency: IdempotencyKey | None
) -> Received:
    """Take a ticket in for a persona that there is."""
    services.personas.get(caller, body.persona)
    origin = From(source=API_SOURCE, persona=body.persona, advisory=caller.role is Role.ADMIN)
    return services.intake.add(caller, origin, body.record(), idempotency=idempotency)


@routes.get(
    "/v1/tickets",
    summary="List tickets",
    response_model=None,
    responses={**answers(200, "Tickets, the newest first", PageOf[TicketView]), **problems()},
)
def list_tickets(
    caller: Admin,
    services: Services,
    options: Options,
    status: Annotated[TicketStatus | None, Query(description="Only those that stand so.")] = None,
    source: Annotated[
        str | None, Query(max_length=64, description="Only those of this source.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List tickets without their bodies; discarded ones are among them."""
    filters: dict[str, Any] = {"status": status, "source": source}
    return newest_answer(
        partial(services.tickets.page, caller, **filters),
        limit=limit,
        cursor=cursor,
        key="received_at",
        route=_ROUTE,
        filters=filters,
        options=options,
    )


@routes.get(
    "/v1/tickets/queue",
    summary="See the queue",
    response_model=None,
    responses={
        **answers(200, "How long it is, and how long it will take", QueueView),
        **problems(),
    },
)
def get_ticket_queue(caller: Writer, services: Services) -> Response:
    """Show how many tickets wait, for how long a new one would, and whether it is too long."""
    return answer(services.ticket_queue(caller))


@routes.get(
    "/v1/tickets/{ticket_id}",
    summary="Show a ticket",
    response_model=None,
    responses={
        **answers(200, "The ticket, its replies and its investigations", TicketDetail),
        **problems("not-found"),
    },
)
def get_ticket(ticket_id: TicketId, caller: Admin, services: Services) -> Response:
    """Show what a ticket says, what was said since, and which investigations it had."""
    return answer(services.tickets.get(caller, ticket_id))


class TicketMessageIn(Body):
    """What the requester wrote later. `external_id` is the caller's own: it makes a message once.

    One `written_at` before our answer stays with the ticket and does not put it back.
    """

    text: Annotated[Text, at_most(MAX_STORED_CHARS)]
    external_id: Annotated[str, Field(min_length=1, max_length=MAX_EXTERNAL_ID_CHARS)] | None = None
    written_at: Timestamp | None = None

    def record(self) -> Message:
        """Return the use case's record."""
        return convert(self, Message, ticket="", id=self.external_id or str(new_id()))


@routes.post(
    "/v1/tickets/{ticket_id}/messages",
    summary="Add a requester's message to a ticket",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is kept with the ticket", TicketMessageTaken),
        **answers(200, "It was known already", TicketMessageTaken),
        **problems("not-found", "conflict", body=True),
    },
)
def add_ticket_message(
    ticket_id: TicketId,
    body: TicketMessageIn,
    caller: Writer,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    """Keep what the requester wrote; a ticket that waits for it, or is done, is taken up again."""
    taken = services.ticket_messages.add(caller, ticket_id, body.record(), idempotency=idempotency)
    status = 201 if taken.outcome is MessageOutcome.NEW else 200
    return answer(taken, status=status)


@routes.post(
    "/v1/tickets/{ticket_id}/requeue",
    summary="Put a ticket back into the queue",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "It waits to be investigated", TicketQueued),
        **problems("not-found", "conflict"),
    },
)
def requeue_ticket(ticket_id: TicketId, caller: Admin, services: Services) -> Response:
    """Queue a ticket that has ended or was discarded; it is not screened again."""
    status = services.requeue(caller, ticket_id)
    return answer({"id": ticket_id, "status": status}, status=202)
