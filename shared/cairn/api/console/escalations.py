"""Calls of people: where an investigation could not go on, by what, and whether it reached them."""

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import id_of
from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.investigations.ports import EscalationState

ESCALATIONS = "/console/escalations"
SHOWN = 25

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(ESCALATIONS)
def show_escalations(
    request: Request, visitor: Reader, state: str = "all", before: str | None = None
) -> Response:
    """Show whom investigations called, the newest first; each leads to its hand-off."""
    calls = visitor.services.escalations.page(
        visitor.principal,
        state=pages.choice_or_all(EscalationState, state),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return shown(
        request,
        visitor,
        "escalations.html",
        **pages.cut("calls", calls, SHOWN),
        state=state,
        states=pages.choices(EscalationState),
    )
