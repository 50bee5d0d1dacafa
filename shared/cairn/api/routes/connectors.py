"""Connectors: what agents act through, how each is, and what it offers. An admin's routes."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, examples
from cairn.api.routing import router
from cairn.connectors.connector import Transport
from cairn.connectors.port import ConnectorState, ToolCall
from cairn.connectors.registry import ConnectorShown
from cairn.connectors.requests import MAX_URL_CHARS, ConnectorChange, NewConnector
from cairn.kernel.records import convert
from cairn.oauth_client.sign_in import SignInShown
from cairn.safety.tools import Autonomy, Criticality, Lane, ToolSpec

routes = router("connectors")

MAX_SECONDS = 20.0
"""What a call from here may take: the answer waits for it."""

ConnectorName = Annotated[str, Path(description="The connector's name.", max_length=40)]

Words = Annotated[list[str], Field(max_length=32)]
Secrets = dict[str, str]


class ConnectorView(TypedDict):
    """A connector with how it is. `error` is a code, `restarts` are of the last 5 minutes.

    `version`, `hash` and `safe` are of its manifest: null before it was ever listed.
    """

    id: UUID
    name: str
    transport: Transport
    builtin: str | None
    command: list[str]
    url: str | None
    config: dict[str, Any]
    secret_names: list[str]
    scopes: str
    autonomy: Autonomy
    criticality: Criticality
    created_at: datetime
    changed_at: datetime
    state: ConnectorState
    error: str | None
    detail: str | None
    restarts: int
    checked_at: datetime | None
    version: str | None
    hash: str | None
    safe: bool | None
    tools: int


class ToolView(TypedDict):
    """A tool as its connector lists it, and as the rules of safety read it."""

    name: str
    description: str
    arguments: dict[str, Any]
    scope: Lane | None
    dangerous: bool
    requires_approval_above_autonomy: Autonomy | None
    forbidden_in_autonomy: list[Autonomy]
    supports_dry_run: bool
    idempotent: bool
    resource: str | None
    rollback: str | None


class ToolAnswer(TypedDict):
    """What a tool said."""

    text: str
    is_error: bool
    truncated: bool
    simulated: bool
    cached: bool
    ms: int


class ConnectorHealth(TypedDict):
    """How a connector was when it was last called or looked at."""

    name: str
    state: ConnectorState
    error: str | None
    checked_at: datetime | None
    well: bool


class ConnectorsHealth(TypedDict):
    """Whether every connector is well, and each of them."""

    well: bool
    items: list[ConnectorHealth]


class ConnectorRemoved(TypedDict):
    """The connector that is gone."""

    name: str


class ConnectorIn(Body):
    """A connector. One of `builtin`, `command` and `url` says what runs; secrets are sealed."""

    model_config = examples(
        {
            "name": "accounts",
            "builtin": "accounts",
            "secrets": {"dsn": "postgresql://desk:password@db.example.com/shop"},
            "scopes": 'read: {allow: ["*"]}\nwrite: {allow: ["users/{id}/unlock"]}',
            "autonomy": "propose",
        },
        {"name": "stock", "transport": "http", "url": "https://mcp.example.com/mcp"},
    )

    name: Annotated[str, Field(min_length=1, max_length=40)]
    transport: Annotated[Transport, Field(strict=False)] = Transport.STDIO
    builtin: Annotated[str, Field(max_length=40)] | None = None
    command: Words = Field(default_factory=list[str])
    url: Annotated[str, Field(max_length=MAX_URL_CHARS)] | None = None
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    secrets: Secrets = Field(default_factory=dict[str, str], repr=False)
    scopes: Annotated[str, Field(max_length=65_536)] = ""
    autonomy: Annotated[Autonomy, Field(strict=False)] = Autonomy.INVESTIGATE
    criticality: Annotated[Criticality, Field(strict=False)] = Criticality.SKIP


class ConnectorChangeIn(Body):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    command: Words | None = None
    url: Annotated[str, Field(max_length=MAX_URL_CHARS)] | None = None
    config: dict[str, Any] | None = None
    secrets: dict[str, str | None] | None = Field(default=None, repr=False)
    scopes: Annotated[str, Field(max_length=65_536)] | None = None
    autonomy: Annotated[Autonomy, Field(strict=False)] | None = None
    criticality: Annotated[Criticality, Field(strict=False)] | None = None


class ToolCallIn(Body):
    """A call to try a tool out. Without a dry run, tools that read only."""

    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    dry_run: bool = True


@routes.post(
    "/v1/connectors",
    summary="Register a connector",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "Kept, and how it is", ConnectorView),
        **problems("conflict", body=True),
    },
)
def register_connector(body: ConnectorIn, caller: Admin, services: Services) -> Response:
    """Keep a connector and start it. One that does not start is kept too: its state says why."""
    return answer(
        _shown(services.connectors.register(caller, convert(body, NewConnector))), status=201
    )


@routes.get(
    "/v1/connectors",
    summary="List connectors",
    response_model=None,
    responses={**answers(200, "Every connector, by name", ListOf[ConnectorView]), **problems()},
)
def list_connectors(caller: Admin, services: Services) -> Response:
    """List connectors with how they are; never their secrets."""
    return answer({"items": [_shown(item) for item in services.connectors.all(caller)]})


@routes.get(
    "/v1/connectors/health",
    summary="Show how connectors are",
    response_model=None,
    responses={**answers(200, "Whether all are well, and each", ConnectorsHealth), **problems()},
)
def get_connector_health(caller: Admin, services: Services) -> Response:
    """Show how connectors were when they were last called or looked at."""
    every = services.connectors.all(caller)
    items: list[ConnectorHealth] = [
        {
            "name": item.connector.name,
            "state": item.health.state,
            "error": item.health.error,
            "checked_at": item.health.checked_at,
            "well": item.is_well,
        }
        for item in every
    ]
    return answer({"well": all(item.is_well for item in every), "items": items})


@routes.get(
    "/v1/connectors/{connector}",
    summary="Show a connector",
    response_model=None,
    responses={**answers(200, "The connector", ConnectorView), **problems("not-found")},
)
def get_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Show a connector with how it was when it was last called or looked at."""
    return answer(_shown(services.connectors.one(caller, connector)))


@routes.patch(
    "/v1/connectors/{connector}",
    summary="Change a connector",
    response_model=None,
    responses={
        **answers(200, "As it is now", ConnectorView),
        **problems("not-found", "conflict", body=True),
    },
)
def change_connector(
    connector: ConnectorName, body: ConnectorChangeIn, caller: Admin, services: Services
) -> Response:
    """Change settings, secrets, scopes, autonomy or criticality. What runs is started anew."""
    change = convert(body, ConnectorChange)
    return answer(_shown(services.connectors.change(caller, connector, change)))


@routes.delete(
    "/v1/connectors/{connector}",
    summary="Remove a connector",
    response_model=None,
    responses={
        **answers(200, "Nothing reaches it any more", ConnectorRemoved),
        **problems("not-found"),
    },
)
def remove_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Remove a connector with its secrets. What was done through it stays in the ledger."""
    services.connectors.remove(caller, connector)
    return answer({"name": connector})


@routes.post(
    "/v1/connectors/{connector}/restart",
    summary="Restart a connector",
    response_model=None,
    responses={**answers(200, "As it is now", ConnectorView), **problems("not-found", "conflict")},
)
def restart_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Start a connector anew. What it lists now counts from now on; a degradation ends."""
    return answer(_shown(services.connectors.restart(caller, connector)))


@routes.post(
    "/v1/connectors/{connector}/check",
    summary="Look how a connector is",
    response_model=None,
    responses={**answers(200, "As it is now", ConnectorView), **problems("not-found", "conflict")},
)
def check_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Ask a connector whether it is well, as the schedule does."""
    return answer(_shown(services.connectors.check(caller, connector)))


@routes.get(
    "/v1/connectors/{connector}/tools",
    summary="List a connector's tools",
    response_model=None,
    responses={**answers(200, "What it listed last", ListOf[ToolView]), **problems("not-found")},
)
def list_connector_tools(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """List the tools of a connector as the rules of safety read them."""
    manifest = services.connectors.one(caller, connector).manifest
    return answer({"items": [_tool(tool) for tool in manifest.tools] if manifest else []})


@routes.post(
    "/v1/connectors/{connector}/tools/{tool}",
    summary="Try a tool out",
    response_model=None,
    responses={
        **answers(200, "What it said", ToolAnswer),
        **problems("not-found", "conflict", body=True),
    },
)
def call_connector_tool(
    connector: ConnectorName,
    tool: Annotated[str, Path(description="The tool's name.", max_length=64)],
    body: ToolCallIn,
    caller: Admin,
    services: Services,
) -> Response:
    """Call a tool as a dry run, or one that reads. Writes go through investigations."""
    call = ToolCall(
        connector=connector,
        tool=tool,
        arguments=body.arguments,
        dry_run=body.dry_run,
        seconds=MAX_SECONDS,
    )
    result = services.connectors.call(caller, call)
    shown = ("text", "is_error", "truncated", "simulated", "cached", "ms")
    return answer({name: getattr(result, name) for name in shown})


@routes.post(
    "/v1/connectors/{connector}/sign-in",
    summary="Begin to sign in to a connector",
    response_model=None,
    responses={
        **answers(200, "The code to type, and where", SignInShown),
        **problems("not-found", "conflict"),
    },
)
def begin_connector_sign_in(
    connector: ConnectorName, caller: Admin, services: Services
) -> Response:
    """Ask its authorization server for a device code; the one under way while it has time left."""
    return answer(services.connectors.sign_in(caller, connector))


@routes.get(
    "/v1/connectors/{connector}/sign-in",
    summary="Show how signing in to a connector stands",
    response_model=None,
    responses={
        **answers(200, "How it stands", SignInShown),
        **problems("not-found", "conflict"),
    },
)
def get_connector_sign_in(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Show how signing in stands. Nobody is asked."""
    return answer(services.connectors.signed_in(caller, connector))


@routes.post(
    "/v1/connectors/{connector}/sign-in/poll",
    summary="Ask whether a sign-in to a connector is done",
    response_model=None,
    responses={
        **answers(200, "How it stands", SignInShown),
        **problems("not-found", "conflict"),
    },
)
def poll_connector_sign_in(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Ask the authorization server, if it is time to: `ask_again_in` says when it is again."""
    return answer(services.connectors.poll_sign_in(caller, connector))


@routes.delete(
    "/v1/connectors/{connector}/sign-in",
    summary="Sign out of a connector",
    response_model=None,
    responses={
        **answers(200, "Its token is gone", ConnectorRemoved),
        **problems("not-found", "conflict"),
    },
)
def end_connector_sign_in(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Forget the token, and the sign-in under way."""
    services.connectors.sign_out(caller, connector)
    return answer({"name": connector})


def _shown(shown: ConnectorShown) -> ConnectorView:
    connector, health, manifest = shown.connector, shown.health, shown.manifest
    return {
        "id": connector.id,
        "name": connector.name,
        "transport": connector.transport,
        "builtin": connector.builtin,
        "command": list(connector.command),
        "url": connector.url,
        "config": dict(connector.config),
        "secret_names": list(connector.secret_names),
        "scopes": connector.scopes,
        "autonomy": connector.autonomy,
        "criticality": connector.criticality,
        "created_at": connector.created_at,
        "changed_at": connector.changed_at,
        "state": health.state,
        "error": health.error,
        "detail": health.detail,
        "restarts": len(health.failures),
        "checked_at": health.checked_at,
        "version": manifest.version if manifest else None,
        "hash": manifest.hash if manifest else None,
        "safe": manifest.safe if manifest else None,
        "tools": len(manifest.tools) if manifest else 0,
    }


def _tool(spec: ToolSpec) -> ToolView:
    return {
        "name": spec.name,
        "description": spec.description,
        "arguments": dict(spec.schema),
        "scope": spec.lane,
        "dangerous": spec.dangerous,
        "requires_approval_above_autonomy": spec.requires_approval_above_autonomy,
        "forbidden_in_autonomy": sorted(spec.forbidden_in_autonomy),
        "supports_dry_run": spec.supports_dry_run,
        "idempotent": spec.deduplicates,
        "resource": spec.resource,
        "rollback": spec.rollback,
    }
