"""The pages that sign a connector or a mailbox in by a device code: the code, the wait, the end.

A page asks the authorization server while it is open, no more often than that allows. The links
that call a person to authorise something again lead here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.connectors.requests import NAME
from cairn.kernel.errors import Conflict, NotFound, Unavailable
from cairn.oauth_client.sign_in import SignInShown

CONNECTOR = "/console/connectors/{name}/sign-in"
SOURCE = "/console/ticket-sources/{name}/sign-in"

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holder:
    """What signs in, for a visitor: its name, its own page, its deeds and its command."""

    kind: str
    name: str
    page: str
    path: str
    call: str
    command: str
    begin: Callable[[], SignInShown]
    show: Callable[[], SignInShown]
    poll: Callable[[], SignInShown]
    end: Callable[[], None]


@routes.get(CONNECTOR)
def show_connector_sign_in(request: Request, visitor: Reader, name: str) -> Response:
    """Show the code of a connector, or how its sign-in went."""
    return _shown(request, visitor, _connector(visitor, name))


@routes.post(CONNECTOR + "/{deed}")
def do_connector_sign_in(request: Request, name: str, deed: str, body: Body) -> Response:
    """Begin, ask about or end the sign-in of a connector."""
    visitor, _ = form_from(request, body)
    return _done(request, visitor, _connector(visitor, name), deed)


@routes.get(SOURCE)
def show_source_sign_in(request: Request, visitor: Reader, name: str) -> Response:
    """Show the code of a mailbox, or how its sign-in went. It is called by its name or its id."""
    return _shown(request, visitor, _source(visitor, name))


@routes.post(SOURCE + "/{deed}")
def do_source_sign_in(request: Request, name: str, deed: str, body: Body) -> Response:
    """Begin, ask about or end the sign-in of a mailbox."""
    visitor, _ = form_from(request, body)
    return _done(request, visitor, _source(visitor, name), deed)


def _connector(visitor: Visitor, name: str) -> _Holder:
    if not NAME.fullmatch(name):
        raise NotFound("There is no such connector.")
    use, caller = visitor.services.connectors, visitor.principal
    return _Holder(
        kind="connector",
        name=name,
        page=f"/console/connectors/{name}",
        path=CONNECTOR.format(name=name),
        call=f"/v1/connectors/{name}/sign-in",
        command=f"cairn connectors sign-in {name}",
        begin=lambda: use.sign_in(caller, name),
        show=lambda: use.signed_in(caller, name),
        poll=lambda: use.poll_sign_in(caller, name),
        end=lambda: use.sign_out(caller, name),
    )


def _source(visitor: Visitor, name: str) -> _Holder:
    use, caller = visitor.services.ticket_sources, visitor.principal
    by_name = {each.name: each for each in use.all(caller)}
    source = by_name.get(name) or use.get(caller, id_of(name))
    id_ = source.id
    return _Holder(
        kind="ticket source",
        name=source.name,
        page="/console/ticket-sources",
        path=SOURCE.format(name=id_),
        call=f"/v1/ticket-sources/{id_}/sign-in",
        command=f"cairn ticket-sources sign-in {source.name}",
        begin=lambda: use.sign_in(caller, id_),
        show=lambda: use.signed_in(caller, id_),
        poll=lambda: use.poll_sign_in(caller, id_),
        end=lambda: use.sign_out(caller, id_),
    )


def _done(request: Request, visitor: Visitor, holder: _Holder, deed: str) -> Response:
    deeds = {"begin": holder.begin, "poll": holder.poll, "end": holder.end}
    if deed not in deeds:
        raise NotFound("There is no such deed.")
    try:
        deeds[deed]()
    except (Conflict, Unavailable) as error:
        status = 409 if isinstance(error, Conflict) else 503
        wrong = f"{error.detail} ({error.reason})"
        return _shown(request, visitor, holder, wrong=wrong, status=status)
    if deed == "poll" and "hx-request" in request.headers:
        return _shown(request, visitor, holder)
    return pages.go_to(holder.path)


def _shown(
    request: Request, visitor: Visitor, holder: _Holder, *, wrong: str = "", status: int = 200
) -> Response:
    try:
        state = holder.show()
    except Conflict as error:
        if error.reason != "no-device-code":
            raise
        return pages.go_to(holder.page)  # its secrets are renewed there
    return shown(
        request,
        visitor,
        "device_sign_in.html",
        status=status,
        holder=holder,
        each=state,
        wrong=wrong,
    )
