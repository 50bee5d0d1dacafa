"""Keys: making, listing and revoking them, the first one, and what a key may do."""

from collections.abc import Sequence, Set
from typing import Annotated
from uuid import UUID

from fastapi import Path, Request, Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, KeyHolder, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, ScopeName, Timestamp
from cairn.api.routing import router
from cairn.kernel.access import Role, Scope
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.records import convert
from cairn.reading.views import KeyView, NewKey

routes = router("keys")


ToolName = Annotated[str, Field(pattern=r"^[a-z][a-z_-]{0,63}$")]


def known_tools(names: Sequence[str]) -> tuple[str, ...]:
    """Return tools by their own names; ValidationFailed names each that there is not."""
    from cairn.api.mcp.catalogue import TOOLS, resolve  # not needed by other requests

    names_known = ", ".join(tool.name for tool in TOOLS)
    tools = [resolve(name) for name in names]
    errors = [
        FieldError(f"tools.{place}", f"is no tool; these are: {names_known}")
        for place, tool in enumerate(tools)
        if tool is None
    ]
    if errors:
        first = errors[0]
        raise ValidationFailed(f"{first.location} {first.message}.", errors=errors)
    return tuple(tool.name for tool in tools if tool is not None)


class KeyWithSecret(TypedDict):
    """A new key. Its secret is in this answer only."""

    key: KeyView
    secret: str


class KeyIn(Body):
    """A key to make. Without `scopes` the role's default holds (public keys: public only).

    A key with `tools` calls these tools over MCP, and nothing else of the API.
    """

    name: Name
    role: Annotated[Role, Field(strict=False)] = Role.AGENT
    scopes: Annotated[list[ScopeName], Field(min_length=1, max_length=3)] | None = None
    agent_slug: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._\-]{0,63}$")] | None = None
    tools: Annotated[list[ToolName], Field(min_length=1, max_length=64)] | None = None
    expires_at: Timestamp | None = None
    client_id: Name | None = None
    agent: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._\-]{0,63}$")] | None = None
    person: bool = False
    token_subject: Annotated[str, Field(min_length=5, max_length=260)] | None = None

    @model_validator(mode="after")
    def public_keys_name_their_agent(self) -> "KeyIn":
        """Refuse a public key that is not bound to an agent."""
        if self.role is Role.PUBLIC and self.agent_slug is None:
            raise PydanticCustomError("agent", "A public key needs an agent_slug")
        return self

    def record(self) -> NewKey:
        """Return the use case's record; ValidationFailed for tools its role does not have."""
        self._check_tools()
        return convert(
            self,
            NewKey,
            scopes=None if self.scopes is None else frozenset(self.scopes),
            tools=None if self.tools is None else frozenset(self.tools),
        )

    def _check_tools(self) -> None:
        if self.tools is None:
            return
        from cairn.api.mcp.catalogue import TOOLS  # its tools are not needed by other requests

        mine = [tool for tool in TOOLS if self.role in tool.roles]
        names = [tool.name for tool in mine]
        errors = [
            FieldError(f"tools.{place}", f"is no tool of this role; these are: {', '.join(names)}")
            for place, name in enumerate(self.tools)
            if not any(tool.named(name) for tool in mine)
        ]
        if errors:
            first = errors[0]
            raise ValidationFailed(f"{first.location} {first.message}.", errors=errors)


@routes.post(
    "/v1/keys",
    summary="Make an API key",
    status_code=201,
    response_model=None,
    responses={**answers(201, "The key, with its secret", KeyWithSecret), **problems(body=True)},
)
def create_key(body: KeyIn, caller: Admin, services: Services) -> Response:
    """Make a key for this workspace. Keep the secret: it cannot be shown again."""
    created = services.create_key(caller, body.record())
    return answer({"key": created.key, "secret": created.secret}, status=201)


@routes.get(
    "/v1/keys",
    summary="List API keys",
    response_model=None,
    responses={
        **answers(
            200,
            "Every key, without secrets",
            ListOf[KeyView],
        ),
        **problems(),
    },
)
def list_keys(caller: Admin, services: Services) -> Response:
    """List the workspace's keys, newest first, revoked ones too."""
    return answer({"items": services.list_keys(caller)})


@routes.delete(
    "/v1/keys/{key_id}",
    summary="Revoke an API key",
    response_model=None,
    responses={**answers(200, "It is revoked", KeyView), **problems("not-found", "conflict")},
)
def revoke_key(
    key_id: Annotated[UUID, Path(description="The key's id.")], caller: Admin, services: Services
) -> Response:
    """Revoke a key at once. The last admin key cannot be revoked."""
    return answer(services.revoke_key(caller, key_id))


class ClaimIn(Body):
    """The token from the deployment's output, and a name for the workspace."""

    token: Annotated[str, Field(min_length=1, max_length=200)]
    workspace_name: Name = "main"


@routes.post(
    "/v1/claim",
    summary="Claim a new deployment",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The first admin key, with its secret", KeyWithSecret),
        **problems(
            "unauthenticated", "conflict", "rate-limited", "validation-failed",
            body=True, public=True,
        ),
    },
)  # fmt: skip
def claim(body: ClaimIn, services: Services) -> Response:
    """Exchange the one-time token for the first admin key; works once."""
    created = services.claim(token=body.token, workspace_name=body.workspace_name)
    return answer({"key": created.key, "secret": created.secret}, status=201)


_EXAMPLE = {
    "workspace_id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "principal_id": "019a8f0e-3b5c-7c11-9d2e-000000000001",
    "key_id": "019a8f0e-3b5c-7c11-9d2e-000000000002",
    "name": "laptop",
    "role": "admin",
    "scopes": ["admin", "public", "shared"],
    "agent_slug": None,
    "tools": None,
    "client_id": None,
    "agent": None,
    "barred": None,
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
    client_id: str | None
    agent: str | None
    barred: str | None
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
def whoami(caller: KeyHolder, request: Request) -> Response:
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
            "client_id": caller.client_id,
            "agent": caller.agent,
            "barred": caller.barred,
            "rate_limit": {
                "limit": rate.limit,
                "remaining": rate.remaining,
                "window_seconds": rate.window,
            },
        }
    )
