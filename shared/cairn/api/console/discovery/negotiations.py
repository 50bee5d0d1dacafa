"""A member's own negotiations: the turns as they come, what one's agent asks, whether they hold.

A turn shows what was said aloud and by whose key; what weighed with the other side is theirs.
"""

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.discovery.acting import OWN, member_of, of_member
from cairn.api.console.forms import Form, refused_deed
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader
from cairn.discovery.negotiation.rows import NegotiationState
from cairn.discovery.negotiation.signing import Verified, verify
from cairn.kernel.errors import Conflict, ValidationFailed

NEGOTIATIONS = OWN + "/negotiations"
SHOWN = 25

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(NEGOTIATIONS)
def show_negotiations(
    request: Request, visitor: Reader, state: str = "all", before: str | None = None
) -> Response:
    """Show the member's negotiations, the newest first."""
    member = member_of(visitor)
    rows = visitor.services.negotiations.page(
        member,
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
        state=pages.choice_or_all(NegotiationState, state),
    )
    return of_member(
        request,
        visitor,
        "negotiations.html",
        member,
        **pages.cut("negotiations", rows, SHOWN),
        state=state,
        states=pages.choices(NegotiationState),
    )


@routes.get(NEGOTIATIONS + "/{negotiation_id}")
def show_negotiation(request: Request, visitor: Reader, negotiation_id: str) -> Response:
    """Show one, turn by turn; it asks for itself again while it is open."""
    return _negotiation(request, visitor, negotiation_id)


@routes.post(NEGOTIATIONS + "/{negotiation_id}/answer")
def answer(request: Request, body: Body, negotiation_id: str) -> Response:
    """Answer the one question that one's own agent asks."""
    (visitor, form), id_ = form_from(request, body), id_of(negotiation_id)
    try:
        text = form.get("answer", "").strip()
        visitor.services.negotiations.answer(member_of(visitor), id_, text)
    except (Conflict, ValidationFailed) as error:
        refused = refused_deed(form, error, "answer")
        return _negotiation(request, visitor, negotiation_id, **refused)
    return pages.go_to(f"{NEGOTIATIONS}/{id_}")


@routes.post(NEGOTIATIONS + "/{negotiation_id}/verify")
def verify_turns(request: Request, body: Body, negotiation_id: str) -> Response:
    """Check signatures, hashes and texts of all turns, and say what came of it."""
    visitor, _ = form_from(request, body)
    export = visitor.services.negotiations.export(member_of(visitor), id_of(negotiation_id))
    return _negotiation(request, visitor, negotiation_id, verified=verify(export))


def _negotiation(
    request: Request,
    visitor: Visitor,
    negotiation_id: str,
    *,
    form: Form | None = None,
    verified: Verified | None = None,
    status: int = 200,
) -> Response:
    member = member_of(visitor)
    return of_member(
        request,
        visitor,
        "negotiation.html",
        member,
        status=status,
        each=visitor.services.negotiations.get(member, id_of(negotiation_id)),
        form=form or Form(),
        verified=verified,
    )
