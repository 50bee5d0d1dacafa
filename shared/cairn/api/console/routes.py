"""The console's routes: Home, signing in and out, one's own account, static files.

Not under `/v1`, not in the OpenAPI document: pages for people, whose cookies open nothing else.
"""

from collections.abc import Callable, Coroutine
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any, cast

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from cairn.api.console import guard, home, pages
from cairn.api.console.guard import Visitor, form_from, form_of, visitor_of
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import (
    CairnError,
    NotFound,
    RateLimited,
    Unauthenticated,
    ValidationFailed,
)
from cairn.kernel.metrics import Metric

if TYPE_CHECKING:
    from cairn.api.options import ApiOptions

SIGN_IN, LINK, ACCOUNT = "/console/sign-in", "/console/link", "/console/account"

DONE = {
    "password": "The password is set. You were signed out everywhere else.",
    "passkey": "The passkey signs you in from now on.",
    "passkey-removed": "The passkey opens nothing any more.",
}


class ConsoleRoute(APIRoute):
    """Answers a refusal with a page, sends who is not signed in to do so, renews tokens."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the framework's handler behind that."""
        handle = super().get_route_handler()

        async def served(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError:
                return _refusal(request, ValidationFailed("This address is not one of ours."))
            except CairnError as error:
                return _refusal(request, error)

        return served


def _refusal(request: Request, error: CairnError) -> Response:
    if not isinstance(error, Unauthenticated) or error.reason != "session":
        return pages.refused(request, error, getattr(request.state, "visitor", None))
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    goal = guard.own_path(path) if request.method == "GET" else guard.HOME
    where = SIGN_IN if goal == guard.HOME else f"{SIGN_IN}?{_encoded(goal)}"
    if "hx-request" in request.headers:
        response = pages.refused(request, error, None)
        response.headers["hx-redirect"] = SIGN_IN
        return response
    response = pages.go_to(where)
    guard.forget_session(request, response)
    return response


def _encoded(path: str) -> str:
    from urllib.parse import urlencode

    return urlencode({"next": path})


routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


async def body_of(request: Request) -> bytes:
    """Return the body: async, since reading it is."""
    return await request.body()


def signed_in(request: Request) -> Visitor:
    """Return who asks for a page."""
    return visitor_of(request)


Body = Annotated[bytes, Depends(body_of)]
Reader = Annotated[Visitor, Depends(signed_in)]


def shown(request: Request, visitor: Visitor, name: str, **values: Any) -> Response:
    """Return a page to who is signed in, with a new token where their rights have changed."""
    if not visitor.session.rotate or "hx-request" in request.headers:
        return pages.page(name, visitor, **values)
    opened = visitor.services.sessions.rotate(visitor.session)
    renewed = visitor.renewed(opened)
    response = pages.page(name, renewed, **values)
    guard.keep_session(request, response, opened)
    return response


@routes.get("/")
def show_home(request: Request, visitor: Reader) -> Response:
    """Show what waits, what runs, what is new."""
    return shown(request, visitor, "home.html", tiles=home.tiles(visitor, utc_now()))


@routes.get("/console")
def lead_home(visitor: Reader) -> Response:
    """Lead who types the console's name to its first page."""
    return pages.go_to(guard.HOME)


@routes.get("/console/static/{name}")
def static_file(name: Annotated[str, Path(max_length=100)]) -> Response:
    """Return a file whose name has its hash."""
    response = pages.static_file(name)
    if response is None:
        raise NotFound("There is no such file.")
    return response


# Signing in


@routes.get(SIGN_IN)
def show_sign_in(request: Request) -> Response:
    """Ask who is there."""
    guard.require_own_host(request)
    goal = guard.own_path(request.query_params.get("next"))
    return pages.page(
        "sign_in.html",
        None,
        next=goal,
        wrong="",
        login="",
        passkeys=_passkeys_at(request),
        issuers=_issuers(request),
    )


def _issuers(request: Request) -> list[dict[str, str]]:
    """Return what issuers are called, and the pages that lead there."""
    from urllib.parse import urlsplit

    options = cast("ApiOptions", request.app.state.options)
    origin, saml = guard.own_origin(request), options.sign_in_saml
    names = {
        "issuer": urlsplit(options.sign_in_issuer).hostname,
        "saml": saml and (urlsplit(saml).hostname or "SAML"),
    }
    return [
        {"name": name, "url": f"{origin}/console/{page}"}
        for page, name in names.items()
        if name and origin
    ]


def _passkeys_at(request: Request) -> str:
    """Return the origin that passkeys are good at, where this page is looked at under it."""
    origin = guard.own_origin(request)
    return origin if guard.is_at(request, origin) else ""


@routes.post(SIGN_IN)
def sign_in(request: Request, body: Body) -> Response:
    """Open a session by a password; what the browser's cookie was before counts for nothing."""
    guard.require_own_host(request)
    guard.require_own_origin(request)
    form = form_of(request, body)
    goal, login = guard.own_path(form.get("next")), form.get("login", "")
    services = request.app.state.services
    try:
        opened = services.sessions.with_password(
            login, form.get("password", ""), address=guard.address_of(request)
        )
    except (RateLimited, Unauthenticated) as error:
        return not_signed_in(request, error, goal, login)
    response = pages.go_to(goal)
    guard.keep_session(request, response, opened)
    return response


def not_signed_in(
    request: Request, error: RateLimited | Unauthenticated, goal: str, login: str
) -> Response:
    """Return the sign-in page again, which says what was wrong, or how long to wait."""
    wrong = error.detail
    headers: dict[str, str] = {}
    if isinstance(error, RateLimited):
        seconds = max(1, ceil(error.retry_after))
        wrong += f" In {seconds} s you can try again."
        headers["retry-after"] = str(seconds)
        request.app.state.options.metrics(Metric.RATE_LIMIT_REJECTIONS, 1, surface="console")
    response = pages.page(
        "sign_in.html",
        None,
        status=429 if headers else 401,
        next=goal,
        wrong=wrong,
        login=login[:254],
        passkeys=_passkeys_at(request),
        issuers=_issuers(request),
    )
    response.headers.update(headers)
    return response


@routes.get(LINK)
def show_link(request: Request) -> Response:
    """Ask before a one-time link is spent, so that a preview of it spends nothing."""
    guard.require_own_host(request)
    return pages.page("link.html", None, token=request.query_params.get("token", "")[:200])


@routes.post(LINK)
def spend_link(request: Request, body: Body) -> Response:
    """Open a session by a one-time link, which is spent."""
    guard.require_own_host(request)
    guard.require_own_origin(request)
    form = form_of(request, body)
    sessions = request.app.state.services.sessions
    opened = sessions.with_link(form.get("token", ""), address=guard.address_of(request))
    response = pages.go_to(ACCOUNT)
    guard.keep_session(request, response, opened)
    return response


@routes.post("/console/sign-out")
def sign_out(request: Request, body: Body) -> Response:
    """End this session, or all of the person's."""
    visitor, form = form_from(request, body)
    visitor.services.sessions.end(visitor.session, everywhere="everywhere" in form)
    response = pages.go_to(SIGN_IN)
    guard.forget_session(request, response)
    return response


@routes.get("/console/csrf")
def csrf(visitor: Reader) -> Response:
    """Return the token that forms send, to a page of ours whose token was renewed elsewhere."""
    return JSONResponse({"csrf": visitor.session.csrf}, headers=pages.HEADERS)


# One's own account


@routes.get(ACCOUNT)
def show_account(request: Request, visitor: Reader) -> Response:
    """Show who one is, and where one is signed in."""
    return account(request, visitor)


@routes.post(ACCOUNT)
def set_password(request: Request, body: Body) -> Response:
    """Set a password; every other session ends."""
    visitor, form = form_from(request, body)
    try:
        opened = visitor.services.sessions.set_password(
            visitor.session, form.get("password", ""), present=form.get("present", "")
        )
    except CairnError as error:
        if isinstance(error, Unauthenticated):
            raise
        return account(request, visitor, wrong=error.detail, status=422)
    response = pages.go_to(f"{ACCOUNT}?done=password")
    guard.keep_session(request, response, opened)
    return response


def account(
    request: Request,
    visitor: Visitor,
    *,
    wrong: str = "",
    wrong_passkey: str = "",
    status: int = 200,
) -> Response:
    """Return the page of one's own account, with what was wrong with a form of it."""
    services, session = visitor.services, visitor.session
    return shown(
        request,
        visitor,
        "account.html",
        status=status,
        wrong=wrong,
        wrong_passkey=wrong_passkey,
        done=DONE.get(request.query_params.get("done", ""), ""),
        has_password=services.sessions.has_password(session),
        sessions=services.sessions.of(session),
        passkeys=services.passkeys.of(session),
        origin=guard.own_origin(request),
        passkeys_at=_passkeys_at(request),
    )
