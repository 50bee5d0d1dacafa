"""What routes ask for: the services, the caller with the right role, and the idempotency key."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, cast

from fastapi import Depends, Header, Query, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from cairn.api.fields import DIFFER, Name
from cairn.api.load import load_of
from cairn.api.options import BUILT_IN, ApiOptions
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Denied, FieldError, RateLimited, Unauthenticated, ValidationFailed
from cairn.kernel.metrics import Metric
from cairn.reading.views import Admission
from cairn.writing.items import IdempotencyKey

API_KEY = re.compile(r"cairn_[A-Za-z0-9]{1,64}\.[A-Za-z0-9_\-]{1,200}")
MAX_TOKEN_CHARS = 8_192
_TOKEN = re.compile(r"[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]+\.[A-Za-z0-9_\-]*")  # a JWT's three parts
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")

_bearer = HTTPBearer(
    auto_error=False,
    scheme_name="api-key",
    bearerFormat="cairn_<prefix>.<secret>",
    description="An API key, sent as `Authorization: Bearer cairn_<prefix>.<secret>`.",
)


async def services_of(request: Request) -> ApiServices:
    """Return the app's use cases; async, since a plain function would cost a thread hop."""
    return cast("ApiServices", request.app.state.services)


async def options_of(request: Request) -> ApiOptions:
    """Return the app's options; async for the same reason."""
    return cast("ApiOptions", request.app.state.options)


def caller_with(
    *roles: Role, listed_tools: bool = False, of_a_client: bool = False, barred: bool = False
) -> Callable[..., Principal]:
    """Return a dependency that authenticates the key, counts the request and checks the role.

    A key with a list of tools is refused unless `listed_tools`: the route keeps to that list. One
    bound to a client is refused unless `of_a_client`: all that the route reads and writes is nodes,
    which the database confines. One whose agent may do nothing is refused unless `barred`.
    """

    def caller(
        request: Request,
        credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)],
    ) -> Principal:
        services = cast("ApiServices", request.app.state.services)
        admission = _admission(services, request, credentials)
        principal = admission.principal
        request.state.principal = principal
        request.state.rate = admission.rate
        _require_admitted(request, admission)
        principal.require(*roles)
        if not barred:
            require_working(principal)
        if principal.has_listed_tools and not listed_tools:
            raise Denied("This key is for its tools alone: call them over MCP.", reason="tools")
        if principal.client_id is not None and not of_a_client:
            raise Denied("A key bound to a client may not ask for this.", reason="client")
        return principal

    return caller


def require_working(principal: Principal) -> None:
    """Raise Denied where the principal's agent may do nothing now."""
    if principal.barred in ("disabled", "edition"):
        raise barred_error(principal)


def _admission(
    services: ApiServices, request: Request, credentials: HTTPAuthorizationCredentials | None
) -> Admission:
    """Return who holds the key, or the token of the deployment's issuer, that a request has.

    A token is for MCP alone: it opens the tools of agents, whatever its key may do besides.
    """
    load = load_of(request.scope)
    issuer = cast("ApiOptions", request.app.state.options).issuer
    if issuer in (None, BUILT_IN) or credentials is None or not _is_token(credentials.credentials):
        return services.admit(_api_key(request, credentials), load)
    from cairn.api.mcp.catalogue import TOOLS  # its tools are not needed by other requests

    admission = services.admit_token(credentials.credentials, load)
    if admission.principal.tools is not None:
        return admission
    tools = frozenset(tool.name for tool in TOOLS if Role.AGENT in tool.roles)
    return replace(admission, principal=replace(admission.principal, tools=tools))


def _is_token(credentials: str) -> bool:
    return len(credentials) <= MAX_TOKEN_CHARS and _TOKEN.fullmatch(credentials) is not None


def barred_error(principal: Principal) -> Denied:
    """Return why a registered agent may do nothing now."""
    if principal.barred == "edition":
        detail = f"The agent {principal.agent} is of an edition that this deployment does not offer"
        return Denied(f"{detail}; an admin can change it.", reason="agent-edition")
    detail = f"The agent {principal.agent} is disabled"
    return Denied(f"{detail}; an admin can enable it: see GET /v1/agents.", reason="agent-disabled")


def _require_admitted(request: Request, admission: Admission) -> None:
    """Raise RateLimited for a request above its key's limit, or its workspace's allowances."""
    decision, refusal = admission.rate, admission.refusal
    if decision.allowed and refusal is None:
        return
    _count_rejection(request, admission.principal)
    if refusal is None:
        raise RateLimited(
            f"This key may send {decision.limit} requests in {decision.window} s.",
            retry_after=decision.retry_after,
        )
    request.state.refused = RateLimited(
        f"This workspace may send {refusal.limit} {refusal.kind} in {decision.window} s.",
        retry_after=refusal.retry_after,
        reason=f"workspace-{refusal.kind}",
    )
    raise request.state.refused


def _count_rejection(request: Request, principal: Principal) -> None:
    """Count a request above a limit by where it came from."""
    mcp = request.url.path.startswith("/mcp")
    surface = "public" if principal.role is Role.PUBLIC else "mcp" if mcp else "api"
    request.app.state.options.metrics(Metric.RATE_LIMIT_REJECTIONS, 1, surface=surface)


def _api_key(request: Request, credentials: HTTPAuthorizationCredentials | None) -> str:
    if "authorization" not in request.headers:
        raise Unauthenticated(
            "Send an API key: Authorization: Bearer cairn_<prefix>.<secret>.", reason="missing-key"
        )
    if credentials is None or API_KEY.fullmatch(credentials.credentials) is None:
        raise Unauthenticated(
            "This is not an API key; it looks like cairn_<prefix>.<secret>, whole.",
            reason="malformed-key",
        )
    return credentials.credentials


def idempotency_key(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            description="Makes the write repeatable for 24 hours: the same key and body get the "
            "same answer, with `Idempotency-Replayed: true`.",
        ),
    ] = None,
) -> IdempotencyKey | None:
    """Return the caller's Idempotency-Key with the hash of the body it came with."""
    if idempotency_key is None:
        return None
    if _IDEMPOTENCY_KEY.fullmatch(idempotency_key) is None:
        detail = "An Idempotency-Key is 1 to 255 visible ASCII characters."
        raise ValidationFailed(
            detail,
            reason="idempotency-key",
            errors=[FieldError("header.idempotency-key", detail)],
        )
    return IdempotencyKey(key=idempotency_key, body_hash=_body_hash(request))


def _body_hash(request: Request) -> bytes:
    """Hash method, path and the parsed body with sorted keys: spacing and key order do not count.

    Not the ledger's canonical form, which has no floats; requests may carry them.
    """
    body = getattr(request.state, "json", None)
    text = json.dumps([request.method, request.url.path, body], sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).digest()


def client_given(
    request: Request,
    services: Annotated[ApiServices, Depends(services_of)],
    client_id: Annotated[Name | None, Query()] = None,
    user_id: Annotated[Name | None, Query()] = None,
) -> str | None:
    """Return whose a list is to be; `user_id` is `client_id` by another name.

    ValidationFailed for two that differ, and for none where the workspace wants one.
    """
    if client_id is not None and user_id is not None and client_id != user_id:
        raise ValidationFailed(f"{DIFFER}.", errors=[FieldError("query.user_id", DIFFER)])
    chosen = client_id or user_id
    require_client(services, request.state.principal, chosen)
    return chosen


def require_client(services: ApiServices, caller: Principal, client_id: str | None) -> None:
    """Raise ValidationFailed for a question about every client where the workspace wants one."""
    if client_id is None and caller.client_id is None and services.client_required(caller):
        raise ValidationFailed(
            "This workspace answers nothing without a client: send client_id (or user_id), or use "
            "a key that is bound to a client.",
            reason="client-required",
            errors=[FieldError("client_id", "is needed in this workspace")],
        )


Services = Annotated[ApiServices, Depends(services_of)]
Options = Annotated[ApiOptions, Depends(options_of)]
Admin = Annotated[Principal, Depends(caller_with(Role.ADMIN))]
Writer = Annotated[Principal, Depends(caller_with(Role.ADMIN, Role.AGENT))]
Anyone = Annotated[Principal, Depends(caller_with(*Role, of_a_client=True))]
ToolCaller = Annotated[Principal, Depends(caller_with(*Role, listed_tools=True, of_a_client=True))]
KeyHolder = Annotated[
    Principal, Depends(caller_with(*Role, listed_tools=True, of_a_client=True, barred=True))
]
ClientWriter = Annotated[Principal, Depends(caller_with(Role.ADMIN, Role.AGENT, of_a_client=True))]
ClientGiven = Annotated[str | None, Depends(client_given)]
"""After the caller: it is the caller's workspace that may want one."""
Idempotency = Annotated[IdempotencyKey | None, Depends(idempotency_key)]
