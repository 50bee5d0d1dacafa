"""Tickets: the queue with its depth and wait, and one ticket with all that became of it.

A form has the id that its ticket or message will have, so that one sent twice adds one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, refused_deed, wrong_field
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.tickets import TicketIn, TicketMessageIn, take_ticket
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.ticket import Priority, TicketStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

TICKETS = "/console/tickets"
SHOWN = 25
FIELDS = ("title", "body", "requester_email", "customer", "priority", "persona")
DONE = {
    "added": "It is kept, and looked at as soon as there is room.",
    "said": "It is kept with the ticket. One that waited for it is taken up again.",
    "queued": "It waits to be investigated again.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(TICKETS)
def show_tickets(
    request: Request, visitor: Reader, status: str = "all", before: str | None = None
) -> Response:
    """Show the queue, and tickets, the newest first."""
    return _list(request, visitor, chosen=status, before=before)


@routes.post(TICKETS)
def add_ticket(request: Request, body: Body) -> Response:
    """Take a ticket in that somebody wrote down here."""
    visitor, form = form_from(request, body)
    visitor.principal.require_operator()
    try:
        taken = take_ticket(visitor.services, visitor.principal, _new(form), None)
    except NotFound:
        gone = wrong_field("persona", "is not there any more")
        return _list(request, visitor, **refused_deed(form, gone, "persona"))
    except (Conflict, ValidationFailed) as error:
        return _list(request, visitor, **refused_deed(form, error, "title"))
    return pages.go_to(f"{TICKETS}/{taken.id}?done=added")


def _new(form: Mapping[str, str]) -> TicketIn:
    values = {name: text for name in FIELDS if (text := _text(form, name))}
    return checked(TicketIn, {**values, "external_id": _own_id(form)})


def _text(form: Mapping[str, str], name: str) -> str:
    return form.get(name, "").replace("\r\n", "\n").strip()


def _own_id(form: Mapping[str, str]) -> str:
    """Return the caller's own id of what a form adds, which no other door gives."""
    return f"console-{id_of(form.get('id', ''))}"


def _list(
    request: Request,
    visitor: Visitor,
    *,
    chosen: str = "all",
    before: str | None = None,
    form: Form | None = None,
    status: int = 200,
) -> Response:
    services, who = visitor.services, visitor.principal
    tickets = services.tickets.page(
        who,
        status=pages.choice_or_all(TicketStatus, chosen),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return shown(
        request,
        visitor,
        "tickets.html",
        status=status,
        queue=services.ticket_queue(who),
        **pages.cut("tickets", tickets, SHOWN),
        chosen=chosen,
        statuses=pages.choices(TicketStatus),
        personas=[each.name for each in services.personas.all(who)] if visitor.works else [],
        priorities=[each.value for each in Priority],
        form=form or Form(),
        fields=FIELDS,
        new_id=new_id(),
    )


@routes.get(TICKETS + "/{ticket_id}")
def show_ticket(request: Request, visitor: Reader, ticket_id: str) -> Response:
    """Show what a ticket says, what was answered, and its investigations."""
    return _ticket(request, visitor, ticket_id)


@routes.post(TICKETS + "/{ticket_id}/requeue")
def requeue_ticket(request: Request, body: Body, ticket_id: str) -> Response:
    """Put a ticket back into the queue."""
    visitor, _ = form_from(request, body)
    try:
        visitor.services.requeue(visitor.principal, id_of(ticket_id))
    except Conflict as error:
        return _ticket(request, visitor, ticket_id, **pages.refusal(error))
    return pages.go_to(f"{TICKETS}/{id_of(ticket_id)}?done=queued")


@routes.post(TICKETS + "/{ticket_id}/messages")
def add_message(request: Request, body: Body, ticket_id: str) -> Response:
    """Keep what the requester said elsewhere, on the telephone for instance."""
    visitor, form = form_from(request, body)
    visitor.principal.require_operator()
    try:
        values = {"text": _text(form, "text"), "external_id": _own_id(form)}
        message = checked(TicketMessageIn, values).record()
        visitor.services.ticket_messages.add(
            visitor.principal, id_of(ticket_id), message, idempotency=None
        )
    except (Conflict, ValidationFailed) as error:
        return _ticket(request, visitor, ticket_id, **refused_deed(form, error, "text"))
    return pages.go_to(f"{TICKETS}/{id_of(ticket_id)}?done=said")


def _ticket(
    request: Request,
    visitor: Visitor,
    ticket_id: str,
    *,
    wrong: str = "",
    form: Form | None = None,
    status: int = 200,
) -> Response:
    ticket = visitor.services.tickets.get(visitor.principal, id_of(ticket_id))
    return shown(
        request,
        visitor,
        "ticket.html",
        status=status,
        ticket=ticket,
        wrong=wrong,
        form=form or Form(),
        new_id=new_id(),
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
