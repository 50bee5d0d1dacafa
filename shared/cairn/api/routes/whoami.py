"""Who a key belongs to and what it may do."""

from collections.abc import Set
from uuid import UUID

from fastapi import Request, Response
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import ToolCaller
from cairn.api.documentation import answers, problems
from cairn.api.routing import router
from cairn.kernel.access import Role, Scope

routes = router("keys")

_EXAMPLE = {
    "workspace_id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "principal_id": "019a8f0e-3b5c-7c11-9d2e-000000000001",
    "key_id": "019a8f0e-3b5c-7c11-9d2e-000000000002",
    "name": "laptop",
    "role": "admin",
    "scopes": ["admin", "public", "shared"],
    "agent_slug": None,
    "tools": None,
    "rate_limit": {"limit": 6000, "remaining": 5999, "window_seconds": 60},
}


class RateLimit(TypedDict):
    """What a key may send, and what of it is left."""

    limit: int
    remaining: int
    window_seconds: int


class WhoAmI(TypedDict):
    """A key: whose it is, and what it may do."""

    workspace_id: UUID
    principal_id: UUID
    key_id: UUID | None
    name: str
    role: Role
    scopes: Set[Scope]
    agent_slug: str | None
    tools: list[str] | None
    rate_limit: RateLimit


@routes.get(
    "/v1/whoami",
    summary="Who this key is",
    response_model=None,
    responses={
        **answers(200, "The principal", WhoAmI, _EXAMPLE),
        **problems(),
    },
)
def whoami(caller: ToolCaller, request: Request) -> Response:
    """Show the workspace, role, scopes and rate limit of the key."""
    rate = request.state.rate
    return answer(
        {
            "workspace_id": caller.workspace_id,
            "principal_id": caller.principal_id,
            "key_id": caller.key_id,
            "name": caller.name,
            "role": caller.role,
            "scopes": caller.allowed_scopes,
            "agent_slug": caller.agent_slug,
            "tools": None if caller.tools is None else sorted(caller.tools),
            "rate_limit": {
                "limit": rate.limit,
                "remaining": rate.remaining,
                "window_seconds": rate.window,
            },
        }
    )
