"""Signing in to MCP: what is published of it, and on a laptop the issuer itself.

OAuth 2.1 as the Model Context Protocol asks for it: protected resource metadata (RFC 9728), server
metadata (RFC 8414), registration (RFC 7591), authorization codes with PKCE and `iss` (RFC 9207),
device codes (RFC 8628), resource indicators (RFC 8707). Not the keys, and not who may do what.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi import Depends, Request, Response

from cairn.api.answers import answer
from cairn.api.dependencies import Options, Services, barred_error, options_of
from cairn.api.oauth import pages
from cairn.api.oauth.clients import LOOPBACK, OAuthClient, RefusedClient, client_of, registered
from cairn.api.oauth.issuer import (
    CHALLENGE,
    DEVICE_SECONDS,
    POLL_SECONDS,
    AuthorizationRequest,
    Consent,
    Issuer,
    OAuthError,
    token_json,
)
from cairn.api.options import BUILT_IN
from cairn.api.routing import any_query, router
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.access.keys import DEFAULT_SCOPES
from cairn.kernel.clock import monotonic
from cairn.kernel.errors import CairnError, Denied, NotFound, ValidationFailed

routes = router("keys")

MAX_FORM_BYTES = 16_384
SLUG = re.compile(r"[a-z0-9][a-z0-9._\-]{0,63}")
PROTECTED = "/.well-known/oauth-protected-resource"
AUTHORIZE, TOKEN, REGISTER = "/oauth/authorize", "/oauth/token", "/oauth/register"
DEVICE, DEVICE_CODE = "/oauth/device", "/oauth/device_authorization"
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
NO_STORE = {"cache-control": "no-store", "pragma": "no-cache"}


async def base_of(request: Request) -> str:
    """Return this deployment's address as it was asked; on a laptop its own names only."""
    base = str(request.base_url).rstrip("/")
    options = await options_of(request)
    if options.mcp_hosts and urlsplit(base).hostname not in LOOPBACK:
        raise Denied("This address is answered under its own name only.", reason="host")
    return base


async def body_of(request: Request) -> bytes:
    """Return the body: async, since reading it is."""
    return await request.body()


async def issuer_of(request: Request) -> Issuer:
    """Return this process's issuer; NotFound where somebody else signs clients in."""
    if (await options_of(request)).issuer != BUILT_IN:
        raise NotFound("Nobody signs in here.")
    state = request.app.state
    if getattr(state, "issuer", None) is None:
        state.issuer = _issuer(state.services)
    return cast("Issuer", state.issuer)


Base = Annotated[str, Depends(base_of)]
Body = Annotated[bytes, Depends(body_of)]
OfLaptop = Annotated[Issuer, Depends(issuer_of)]
AnyQuery = Depends(any_query)


def _issuer(services: ApiServices) -> Issuer:
    def admit(key: str) -> Principal:
        return services.admit(key).principal

    def tools() -> frozenset[str]:
        from cairn.api.mcp.catalogue import TOOLS

        return frozenset(tool.name for tool in TOOLS if Role.AGENT in tool.roles)

    return Issuer(sign_ins=lambda: services.sign_ins, admit=admit, tools=tools, clock=monotonic)


# What is published


@routes.get(PROTECTED, include_in_schema=False)
@routes.get(f"{PROTECTED}/mcp", include_in_schema=False)
def protected_resource(base: Base, options: Options) -> Response:
    """Say who issues tokens for `/mcp`."""
    if options.issuer is None:
        raise NotFound("Nobody signs in here.")
    issuer = base if options.issuer == BUILT_IN else options.issuer
    scopes = {"scopes_supported": list(options.token_scopes)} if options.token_scopes else {}
    return answer(
        {
            "resource": options.audiences[0] if options.audiences else f"{base}/mcp",
            "authorization_servers": [issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Cairn",
            **scopes,
        }
    )


@routes.get("/.well-known/oauth-authorization-server", include_in_schema=False)
def server_metadata(base: Base, _: OfLaptop) -> Response:
    """Say what the issuer of this laptop can do, and where."""
    return answer(
        {
            "issuer": base,
            "authorization_endpoint": base + AUTHORIZE,
            "token_endpoint": base + TOKEN,
            "registration_endpoint": base + REGISTER,
            "device_authorization_endpoint": base + DEVICE_CODE,
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token", DEVICE_GRANT],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": sorted(DEFAULT_SCOPES[Role.AGENT]),
            "authorization_response_iss_parameter_supported": True,
        }
    )


# The issuer: JSON for clients


@routes.post(REGISTER, include_in_schema=False)
def register(body: Body, _: OfLaptop, __: Base) -> Response:
    """Write down what a client says of itself; nothing is kept."""
    try:
        document: Any = json.loads(body[:MAX_FORM_BYTES])
        fields = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
        client = registered(fields.get("client_name", ""), fields.get("redirect_uris", []))
    except (ValueError, RecursionError) as error:
        detail = str(error) if isinstance(error, RefusedClient) else "The body is not JSON."
        return _error(OAuthError("invalid_client_metadata", detail))
    return answer(
        {
            "client_id": client.id,
            "client_name": client.name,
            "redirect_uris": list(client.redirect_uris),
            "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token", DEVICE_GRANT],
            "response_types": ["code"],
        },
        status=201,
        headers=NO_STORE,
    )


@routes.post(TOKEN, include_in_schema=False)
def token(body: Body, issuer: OfLaptop, base: Base) -> Response:
    """Exchange a code, a device's code or a refresh token for keys."""
    try:
        form = _form(body)
        _require_resource(form, base)
        grant = form.get("grant_type", "")
        if grant == "refresh_token":
            signed_in = issuer.renew(form.get("refresh_token", ""))
        elif grant == "authorization_code":
            signed_in = issuer.exchange(
                form.get("code", ""),
                client=_client(form),
                redirect_uri=form.get("redirect_uri", ""),
                verifier=form.get("code_verifier", ""),
            )
        elif grant == DEVICE_GRANT:
            signed_in = issuer.poll(form.get("device_code", ""), client=_client(form))
        else:
            raise OAuthError("unsupported_grant_type", "There is no such grant here.")
    except OAuthError as error:
        return _error(error)
    except (Denied, ValidationFailed) as error:  # who let the client in may do so no longer
        return _error(OAuthError("invalid_grant", error.detail))
    return answer(token_json(signed_in), headers=NO_STORE)


@routes.post(DEVICE_CODE, include_in_schema=False)
def device_code(body: Body, issuer: OfLaptop, base: Base) -> Response:
    """Begin a sign-in that a person finishes elsewhere."""
    try:
        form = _form(body)
        _require_resource(form, base)
        request = AuthorizationRequest(client=_client(form), scopes=_scopes(form.get("scope", "")))
        code, user_code = issuer.begin_device(request)
    except OAuthError as error:
        return _error(error)
    shown = f"{user_code[:4]}-{user_code[4:]}"
    return answer(
        {
            "device_code": code,
            "user_code": shown,
            "verification_uri": base + DEVICE,
            "verification_uri_complete": f"{base}{DEVICE}?user_code={shown}",
            "expires_in": DEVICE_SECONDS,
            "interval": POLL_SECONDS,
        },
        headers=NO_STORE,
    )


# The issuer: pages for the admin


@routes.get(AUTHORIZE, include_in_schema=False, dependencies=[AnyQuery])
def authorize(request: Request, _: OfLaptop, base: Base) -> Response:
    """Show who asks; a client or an address that is not known is never sent an answer."""
    return _authorizing(request.url.query.encode(), base, None)


@routes.post(AUTHORIZE, include_in_schema=False)
def decide(body: Body, issuer: OfLaptop, services: Services, base: Base) -> Response:
    """Take the admin's answer, and send the browser back with a code or a refusal."""
    return _authorizing(body, base, (issuer, services))


def _authorizing(
    content: bytes, base: str, deciding: tuple[Issuer, ApiServices] | None
) -> Response:
    try:
        form = _form(content)
        client = _client(form)
        if not client.may_return_to(form.get("redirect_uri", "")):
            raise OAuthError("invalid_request", "redirect_uri is not one the client registered.")
    except OAuthError as error:
        return pages.notice("This cannot be answered", error.told, status=error.status)
    try:
        request = _authorization_request(form, client, base)
        if deciding is None:
            return pages.consent(request, AUTHORIZE, _passed_on(form), slug=_slug(client))
        if form.get("answer") != "yes":
            raise OAuthError("access_denied", "The person said no.")
        issuer, services = deciding
        consent = _consent(form, request, services)
        return _back(form, base, code=issuer.grant(request, consent))
    except OAuthError as error:
        return _back(form, base, error=error.code, error_description=error.told)
    except CairnError as error:
        request = _authorization_request(form, client, base)
        slug = form.get("slug", "")
        return pages.consent(request, AUTHORIZE, _passed_on(form), slug=slug, wrong=error.detail)


@routes.get(DEVICE, include_in_schema=False, dependencies=[AnyQuery])
def device(request: Request, issuer: OfLaptop, _: Base) -> Response:
    """Ask for the code that a device shows, and then whether it is let in."""
    user_code = request.query_params.get("user_code", "")
    if not user_code:
        return pages.code_form(DEVICE)
    waiting = issuer.device(user_code)
    if waiting is None:
        return pages.code_form(DEVICE, wrong="No device shows this code, or no longer.")
    hidden = {"user_code": user_code}
    return pages.consent(waiting.asked, DEVICE, hidden, slug=_slug(waiting.asked.client))


@routes.post(DEVICE, include_in_schema=False)
def decide_device(body: Body, issuer: OfLaptop, services: Services, _: Base) -> Response:
    """Take the admin's answer for a device."""
    try:
        form = _form(body)
    except OAuthError as error:
        return pages.notice("This cannot be answered", error.told, status=error.status)
    waiting = issuer.device(form.get("user_code", ""))
    if waiting is None:
        return pages.code_form(DEVICE, wrong="No device shows this code, or no longer.")
    if form.get("answer") != "yes":
        waiting.refused = True
        return pages.notice("Refused", "The device is not let in.")
    try:
        waiting.consent = _consent(form, waiting.asked, services)
    except CairnError as error:
        hidden, slug = {"user_code": form["user_code"]}, form.get("slug", "")
        return pages.consent(waiting.asked, DEVICE, hidden, slug=slug, wrong=error.detail)
    return pages.notice("Let in", "The device signs in by itself now. This page can be closed.")


# What is asked


def _form(content: bytes) -> dict[str, str]:
    """Return a form's fields; one that is given twice is refused, but `scope` is a list."""
    if len(content) > MAX_FORM_BYTES:
        raise OAuthError("invalid_request", "The form is too long.", status=413)
    try:
        pairs = parse_qsl(content.decode(), keep_blank_values=True, max_num_fields=50)
    except ValueError as error:
        raise OAuthError("invalid_request", "This is no form.") from error
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields and name != "scope":
            raise OAuthError("invalid_request", "A field is given twice.")
        fields[name] = f"{fields[name]} {value}" if name in fields else value
    return fields


def _client(form: Mapping[str, str]) -> OAuthClient:
    client = client_of(form.get("client_id", ""))
    if client is None:
        raise OAuthError("invalid_client", "There is no such client; register it.", status=401)
    return client


def _authorization_request(
    form: Mapping[str, str], client: OAuthClient, base: str
) -> AuthorizationRequest:
    if form.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type is code.")
    challenge = form.get("code_challenge", "")
    if form.get("code_challenge_method") != "S256" or CHALLENGE.fullmatch(challenge) is None:
        raise OAuthError("invalid_request", "PKCE is needed: code_challenge_method is S256.")
    _require_resource(form, base)
    return AuthorizationRequest(
        client=client,
        scopes=_scopes(form.get("scope", "")),
        redirect_uri=form["redirect_uri"],
        challenge=challenge,
    )


def _require_resource(form: Mapping[str, str], base: str) -> None:
    """Refuse a token for somebody else: what is issued here is good here."""
    if form.get("resource", f"{base}/mcp").rstrip("/") not in (base, f"{base}/mcp"):
        raise OAuthError("invalid_target", "Tokens are issued for this server's /mcp only.")


def _scopes(text: str) -> frozenset[Scope]:
    if not text.split():
        return DEFAULT_SCOPES[Role.AGENT]
    scopes = frozenset(Scope(name) for name in text.split() if name in list(Scope))
    if not scopes:
        raise OAuthError("invalid_scope", f"Scopes are {', '.join(Scope)}.")
    return scopes


def _consent(
    form: Mapping[str, str], request: AuthorizationRequest, services: ApiServices
) -> Consent:
    """Return an admin's yes; one of Cairn's errors for who is none, or may not say it."""
    admission = services.admit(form.get("key", "").strip())
    admin = admission.principal
    if not admission.rate.allowed:
        raise Denied("This key has sent too many requests; wait a minute.", reason="rate")
    admin.require(Role.ADMIN)
    if admin.barred is not None:
        raise barred_error(admin)
    if admin.has_listed_tools:
        raise Denied("This key is for its tools alone.", reason="tools")
    slug = form.get("slug", "")
    if SLUG.fullmatch(slug) is None:
        raise Denied("An agent's name is small letters, digits, and . _ -", reason="agent")
    if admin.agent_slug not in (None, slug):
        raise Denied("This key lets clients in as its own agent only.", reason="agent")
    scopes = frozenset(scope for scope in request.scopes if scope in form.get("scope", "").split())
    if not scopes:
        raise Denied("At least one scope is needed.", reason="scopes")
    for scope in scopes:
        admin.require_scope(scope)
    return Consent(admin=admin, slug=slug, scopes=scopes)


def _passed_on(form: Mapping[str, str]) -> dict[str, str]:
    names = ("client_id", "redirect_uri", "response_type", "state", "code_challenge")
    shown = {name: form[name] for name in (*names, "code_challenge_method") if name in form}
    return shown | ({"resource": form["resource"]} if "resource" in form else {})


def _slug(client: OAuthClient) -> str:
    return re.sub(r"[^a-z0-9]+", "-", client.name.lower()).strip("-")[:64]


# What is answered


def _back(form: Mapping[str, str], base: str, **values: str) -> Response:
    """Send the browser to the client, with who answers and the state it sent."""
    query = {**values, "iss": base} | ({"state": form["state"]} if "state" in form else {})
    uri = form["redirect_uri"]
    joined = f"{uri}{'&' if '?' in uri else '?'}{urlencode(query)}"
    return Response(status_code=303, headers={**pages.HEADERS, "location": joined})


def _error(error: OAuthError) -> Response:
    body = {"error": error.code, "error_description": error.told}
    return answer(body, status=error.status, headers=NO_STORE)
