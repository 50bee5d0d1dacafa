"""Adding, removing and signing in with passkeys. The browser's part is `static/passkeys.js`.

Each takes two requests: one for what the browser is to answer, and a form with the answer. Between
them a cookie has the token of what was asked, which is good once.
"""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import JSONResponse

from cairn.api.console import guard, pages
from cairn.api.console.guard import changing_visitor, form_of
from cairn.api.console.routes import ACCOUNT, Body, ConsoleRoute, account, not_signed_in
from cairn.api.problems import from_error
from cairn.kernel.errors import CairnError, Denied, RateLimited, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.accounts.attempts import Begun
    from cairn.accounts.passkey_proofs import Place

SIGN_IN, MINE = "/console/passkey", f"{ACCOUNT}/passkeys"

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.post(f"{SIGN_IN}/options")
def ask(request: Request) -> Response:
    """Say what a browser is to sign; nothing is looked up, whoever it will be."""

    def begin() -> "Begun":
        guard.require_own_host(request)
        guard.require_own_origin(request)
        passkeys = request.app.state.services.passkeys
        return passkeys.begin_sign_in(place(request), address=guard.address_of(request))

    return _options(request, begin)


@routes.post(SIGN_IN)
def sign_in(request: Request, body: Body) -> Response:
    """Open a session by what the browser signed."""
    guard.require_own_host(request)
    guard.require_own_origin(request)
    form = form_of(request, body)
    goal, login = guard.own_path(form.get("next")), form.get("login", "")
    passkeys = request.app.state.services.passkeys
    try:
        opened = passkeys.sign_in(
            place(request),
            proof=form.get("credential", ""),
            attempt=guard.attempt_of(request),
            login=login,
            address=guard.address_of(request),
        )
    except (RateLimited, Unauthenticated) as error:
        return not_signed_in(request, error, goal, login)
    response = pages.go_to(goal)
    guard.keep_session(request, response, opened)
    guard.forget_attempt(request, response)
    return response


@routes.post(f"{MINE}/options")
def ask_to_add(request: Request, body: Body) -> Response:
    """Say what a browser makes a passkey of."""

    def begin() -> "Begun":
        form = form_of(request, body)
        visitor = changing_visitor(request, form)
        present = form.get("present", "")
        passkeys = visitor.services.passkeys
        return passkeys.begin_adding(visitor.session, place(request), present=present)

    return _options(request, begin)


@routes.post(MINE)
def add(request: Request, body: Body) -> Response:
    """Keep the passkey that the browser made."""
    form = form_of(request, body)
    visitor = changing_visitor(request, form)
    try:
        visitor.services.passkeys.add(
            visitor.session,
            place(request),
            name=form.get("name", ""),
            proof=form.get("credential", ""),
            attempt=guard.attempt_of(request),
        )
    except CairnError as error:
        if isinstance(error, Unauthenticated):
            raise
        status = from_error(error).kind.status
        return account(request, visitor, wrong_passkey=error.detail, status=status)
    response = pages.go_to(f"{ACCOUNT}?done=passkey")
    guard.forget_attempt(request, response)
    return response


@routes.post(MINE + "/{passkey_id}/remove")
def remove(request: Request, passkey_id: Annotated[UUID, Path()], body: Body) -> Response:
    """Let a passkey open nothing any more."""
    visitor = changing_visitor(request, form_of(request, body))
    visitor.services.passkeys.remove(visitor.session, passkey_id)
    return pages.go_to(f"{ACCOUNT}?done=passkey-removed")


def place(request: Request) -> "Place":
    """Return where passkeys are good, as the deployment was told; Denied where they are not."""
    from cairn.accounts.passkey_proofs import place_of

    origin = guard.own_origin(request)
    where = place_of(origin) if origin else None
    if where is None:
        raise Denied("Passkeys are bound to a name, and this address has none.", reason="passkeys")
    return where


def _options(request: Request, begin: "Callable[[], Begun]") -> Response:
    """Return what the browser is to answer as JSON, or what was wrong."""
    try:
        begun = begin()
    except CairnError as error:
        problem = from_error(error)
        response = JSONResponse(
            {"detail": error.detail}, status_code=problem.kind.status, headers=pages.HEADERS
        )
        response.headers[pages.REASON] = error.reason or problem.kind.code
        if problem.retry_after:
            response.headers["retry-after"] = str(max(1, round(problem.retry_after)))
        return response
    response = Response(begun.content, media_type="application/json", headers=pages.HEADERS)
    guard.keep_attempt(request, response, begun.token)
    return response
