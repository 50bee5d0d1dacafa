"""A member's own opportunities: whom they could meet, why, what each said; yes, no, and since when.

What is shown is what the use case shows its reader; nothing of the other one's own goes in.
"""

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.discovery.acting import OWN, member_of, of_member
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader
from cairn.discovery.matching.rows import OpportunityState
from cairn.kernel.errors import Conflict, NotFound

OPPORTUNITIES = OWN + "/opportunities"
SHOWN = 25
DONE = {
    "send": "They see it now. Your yes is in it; theirs is their own.",
    "accept": "You said yes.",
    "reject": "It is over: the two of you are not proposed for this again.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(OPPORTUNITIES)
def show_opportunities(
    request: Request, visitor: Reader, state: str = "all", before: str | None = None
) -> Response:
    """Show those that the member has a part in, the newest first."""
    member = member_of(visitor)
    chosen = pages.choice_or_all(OpportunityState, state)
    rows = visitor.services.opportunities.page(
        member,
        states=None if chosen is None else (chosen,),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return of_member(
        request,
        visitor,
        "opportunities.html",
        member,
        **pages.cut("opportunities", rows, SHOWN),
        state=state,
        states=pages.choices(OpportunityState),
    )


@routes.get(OPPORTUNITIES + "/{opportunity_id}")
def show_opportunity(request: Request, visitor: Reader, opportunity_id: str) -> Response:
    """Show one: both sides, the reason, what may be done, and how it came to be so."""
    return _opportunity(request, visitor, opportunity_id)


@routes.post(OPPORTUNITIES + "/{opportunity_id}/{deed}")
def decide(request: Request, body: Body, opportunity_id: str, deed: str) -> Response:
    """Send it, say yes or say no, for oneself alone; or let agents negotiate about it."""
    (visitor, _), id_ = form_from(request, body), id_of(opportunity_id)
    member, services = member_of(visitor), visitor.services
    try:
        if deed == "negotiate":
            begun = services.negotiations.begin(member, id_)
            return pages.go_to(f"{OWN}/negotiations/{begun.id}")
        use = services.opportunities
        deeds = {"send": use.send, "accept": use.accept, "reject": use.reject}
        if deed not in deeds:
            raise NotFound("There is no such deed.")
        deeds[deed](member, id_)
    except Conflict as error:
        return _opportunity(request, visitor, opportunity_id, **pages.refusal(error))
    return pages.go_to(f"{OPPORTUNITIES}/{id_}?done={deed}")


def _opportunity(
    request: Request, visitor: Visitor, opportunity_id: str, *, wrong: str = "", status: int = 200
) -> Response:
    member, id_, services = member_of(visitor), id_of(opportunity_id), visitor.services
    view = services.opportunities.get(member, id_)
    return of_member(
        request,
        visitor,
        "opportunity.html",
        member,
        status=status,
        each=view,
        changes=services.opportunities.timeline(member, id_),
        negotiation_id=services.negotiations.about(member, id_),
        wrong=wrong,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
