"""Tickets: the queue with its depth and wait, and one ticket with all that became of it."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.errors import Conflict
from cairn.tickets.ticket import TicketStatus

TICKETS = "/console/tickets"
SHOWN = 25

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(TICKETS)
def show_tickets(
    request: Request, visitor: Reader, status: str = "all", before: str | None = None
) -> Response:
    """Show the queue, and tickets, the newest first."""
    services = visitor.services
    tickets = services.tickets.page(
        visitor.principal,
        status=pages.choice_or_all(TicketStatus, status),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return shown(
        request,
        visitor,
        "tickets.html",
        queue=services.ticket_queue(visitor.principal),
        **pages.cut("tickets", tickets, SHOWN),
        chosen=status,
        statuses=pages.choices(TicketStatus),
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
    return pages.go_to(f"{TICKETS}/{id_of(ticket_id)}")


def _ticket(
    request: Request, visitor: Visitor, ticket_id: str, *, wrong: str = "", status: int = 200
) -> Response:
    ticket = visitor.services.tickets.get(visitor.principal, id_of(ticket_id))
    return shown(request, visitor, "ticket.html", status=status, ticket=ticket, wrong=wrong)
