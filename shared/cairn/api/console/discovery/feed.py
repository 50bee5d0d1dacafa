"""For you: whom a member should meet and what waits for them; and how somebody becomes a member."""

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.discovery.acting import OWN, of_member
from cairn.api.console.forms import Form, refused_deed
from cairn.api.console.guard import Visitor, form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.errors import Conflict, FieldError, NotFound

DONE = {"joined": "You are in the network. Say what you seek or offer under Intents."}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(OWN)
def show_own(request: Request, visitor: Reader) -> Response:
    """Show the member's feed, or how to become one."""
    return _own(request, visitor)


@routes.post(OWN + "/join")
def join(request: Request, body: Body) -> Response:
    """Be in the network that an invite lets into; who is no member becomes one."""
    visitor, form = form_from(request, body)
    token = form.get("link", "").strip().rpartition("#")[2]
    try:
        visitor.services.ties.join(visitor.principal, token)
    except NotFound as error:
        wrong = Form(values=form, wrong=(FieldError("link", error.detail),))
        return _own(request, visitor, form=wrong, status=422)
    except Conflict as error:
        return _own(request, visitor, **refused_deed(form, error, "link"))
    return pages.go_to(f"{OWN}?done=joined")


def _own(
    request: Request, visitor: Visitor, *, form: Form | None = None, status: int = 200
) -> Response:
    member = visitor.services.ties.member(visitor.principal)
    done = DONE.get(request.query_params.get("done", ""), "")
    values = {"form": form or Form(), "done": done, "status": status}
    if member is None:
        return shown(request, visitor, "own/nobody.html", **values)
    services = visitor.services
    return of_member(
        request,
        visitor,
        "feed.html",
        member,
        feed=services.feeds.get(member),
        networks=services.networks.page(member, joined=True),
        **values,
    )
