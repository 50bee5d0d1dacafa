"""Signing in by SAML: the way there, the provider's answer, the way back, and who we are to it.

The answer is the one form that another site sends: it has no cookie and needs none, since it is
signed and is of a request of ours. The page after it is a request of the browser to us, with which
its cookie comes, and opens the session (`accounts/saml_sign_in.py`). What leads there only the
browser knows that brought the answer.
"""

from typing import cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from cairn.accounts.saml_sign_in import SamlSignIn, ServiceProvider
from cairn.api.console import guard, pages
from cairn.api.console.issuer import refused
from cairn.api.console.routes import SIGN_IN, Body, ConsoleRoute
from cairn.kernel.errors import NotFound, RateLimited, Unauthenticated, Unavailable

THERE, ANSWER, BACK = "/console/saml", "/console/saml/acs", "/console/saml/back"
METADATA = "/console/saml/metadata"

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(THERE)
def go(request: Request) -> Response:
    """Send the browser to the provider; only from a page of ours, since it counts as an attempt."""
    sign_in, place = _offered(request)
    goal = guard.own_path(request.query_params.get("next"))
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return pages.go_to(SIGN_IN)
    try:
        begun = sign_in.begin(place, goal, address=guard.address_of(request))
    except (RateLimited, Unavailable) as error:
        return refused(request, error, goal)
    response = RedirectResponse(begun.content, status_code=303, headers=pages.HEADERS)
    guard.keep_attempt(request, response, begun.token)
    return response


@routes.post(ANSWER)
def take_answer(request: Request, body: Body) -> Response:
    """Take what the provider says, from a page of its own; the next page opens the session."""
    sign_in, place = _offered(request)
    form = guard.form_of(request, body)
    relay_state = form.get("RelayState", "")
    try:
        opened = sign_in.answer(
            place,
            form.get("SAMLResponse", ""),
            relay_state,
            address=guard.address_of(request),
        )
    except (RateLimited, Unauthenticated, Unavailable) as error:
        return refused(request, error, guard.HOME)
    if isinstance(opened, str):
        return pages.go_to(f"{BACK}?proof={opened}")
    response = pages.go_to(guard.own_path(relay_state))
    guard.keep_session(request, response, opened)
    return response


@routes.get(BACK)
def come_back(request: Request) -> Response:
    """Open a session in the browser that went, for whom the answer named."""
    sign_in, _ = _offered(request)
    try:
        opened, goal = sign_in.finish(
            attempt=guard.attempt_of(request),
            proof=request.query_params.get("proof", ""),
            address=guard.address_of(request),
        )
    except (RateLimited, Unauthenticated) as error:
        response = refused(request, error, guard.HOME)
        guard.forget_attempt(request, response)
        return response
    response = pages.go_to(guard.own_path(goal))
    guard.keep_session(request, response, opened)
    guard.forget_attempt(request, response)
    return response


@routes.get(METADATA)
def metadata(request: Request) -> Response:
    """Return what an identity provider is told of this deployment."""
    from cairn.adapters.saml.provider import own_metadata

    _, place = _offered(request)
    return Response(own_metadata(place), media_type="application/samlmetadata+xml")


def _offered(request: Request) -> tuple[SamlSignIn, ServiceProvider]:
    """Return the sign-in, and what this deployment is called: as it was told, by no request."""
    guard.require_own_host(request)
    sign_in = cast("SamlSignIn", request.app.state.services.saml_sign_in)
    sign_in.offered()
    origin = guard.own_origin(request)
    if not origin:
        raise NotFound("Nobody signs in here by SAML: the deployment does not know its address.")
    return sign_in, ServiceProvider(entity_id=origin + METADATA, acs=origin + ANSWER)
