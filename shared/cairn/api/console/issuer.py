"""Signing in by the deployment's issuer: the way there, and the way back.

Both are requests to read pages, since a form may lead to no other host (`form-action`). The browser
that comes back has to be the one that went: its cookie names what the issuer's answer is held to.
"""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from cairn.api.console import guard, pages
from cairn.api.console.routes import SIGN_IN, ConsoleRoute, not_signed_in
from cairn.kernel.errors import CairnError, NotFound, RateLimited, Unauthenticated, Unavailable

THERE, BACK = "/console/issuer", "/console/issuer/back"

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(THERE)
def go(request: Request) -> Response:
    """Send the browser to the issuer; only from a page of ours, since it counts as an attempt."""
    guard.require_own_host(request)
    goal = guard.own_path(request.query_params.get("next"))
    sender = request.headers.get("sec-fetch-site", "none")
    if sender not in ("same-origin", "none") or not _offered(request):
        return pages.go_to(SIGN_IN)
    sign_in = request.app.state.services.issuer_sign_in
    try:
        begun = sign_in.begin(_redirect_uri(request), goal, address=guard.address_of(request))
    except (RateLimited, Unavailable) as error:
        return refused(request, error, goal)
    response = RedirectResponse(begun.content, status_code=303, headers=pages.HEADERS)
    guard.keep_attempt(request, response, begun.token)
    return response


@routes.get(BACK)
def come_back(request: Request) -> Response:
    """Open a session for who comes back from the issuer."""
    guard.require_own_host(request)
    if not _offered(request):
        raise NotFound("Nobody signs in here by an issuer.")
    query = request.query_params
    try:
        if "error" in query or query.get("iss", _issuer(request)) != _issuer(request):
            raise Unauthenticated("The issuer signed nobody in.", reason="issuer")
        opened, goal = request.app.state.services.issuer_sign_in.finish(
            _redirect_uri(request),
            attempt=guard.attempt_of(request),
            state=query.get("state", ""),
            code=query.get("code", ""),
            address=guard.address_of(request),
        )
    except (RateLimited, Unauthenticated, Unavailable) as error:
        response = refused(request, error, guard.HOME)
        guard.forget_attempt(request, response)
        return response
    response = pages.go_to(guard.own_path(goal))
    guard.keep_session(request, response, opened)
    guard.forget_attempt(request, response)
    return response


def refused(request: Request, error: CairnError, goal: str) -> Response:
    """Return the sign-in page, which says what was wrong; the page of a refusal for the rest."""
    if isinstance(error, RateLimited | Unauthenticated):
        return not_signed_in(request, error, goal, "")
    return pages.refused(request, error, None)


def _offered(request: Request) -> bool:
    return bool(_issuer(request)) and bool(guard.own_origin(request))


def _issuer(request: Request) -> str:
    return request.app.state.options.sign_in_issuer


def _redirect_uri(request: Request) -> str:
    """Return where the issuer sends people back: as the deployment was told."""
    return guard.own_origin(request) + BACK
