"""Connectors: what agents act through, how each is, and what it offers. An admin's routes."""

from typing import Annotated, Any

from fastapi import Path, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, items_of, problems
from cairn.api.fields import Body, examples
from cairn.api.routing import router
from cairn.connectors.connector import Transport
from cairn.connectors.port import ConnectorState, ToolCall
from cairn.connectors.registry import ConnectorShown
from cairn.connectors.requests import MAX_URL_CHARS, ConnectorChange, NewConnector
from cairn.safety.tools import Autonomy, Criticality, ToolSpec

routes = router("connectors")

MAX_SECONDS = 20.0
"""What a call from here may take: the answer waits for it."""

ConnectorName = Annotated[str, Path(description="The connector's name.", max_length=40)]
_AUTONOMY = {"enum": [one.value for one in Autonomy]}
_CONNECTOR: dict[str, Any] = {
    "type": "object",
    "required": ["name", "transport", "state", "autonomy", "criticality", "scopes"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "name": {"type": "string"},
        "transport": {"enum": [one.value for one in Transport]},
        "builtin": {"type": ["string", "null"]},
        "command": {"type": "array", "items": {"type": "string"}},
        "url": {"type": ["string", "null"]},
        "config": {"type": "object"},
        "secret_names": {"type": "array", "items": {"type": "string"}},
        "scopes": {"type": "string"},
        "autonomy": _AUTONOMY,
        "criticality": {"enum": [one.value for one in Criticality]},
        "created_at": {"type": "string", "format": "date-time"},
        "changed_at": {"type": "string", "format": "date-time"},
        "state": {"enum": [one.value for one in ConnectorState]},
        "error": {"type": ["string", "null"], "description": "A code, when it is not well."},
        "detail": {"type": ["string", "null"], "description": "What it said, without secrets."},
        "restarts": {"type": "integer", "description": "Failures within the last 5 minutes."},
        "checked_at": {"type": ["string", "null"], "format": "date-time"},
        "version": {"type": ["string", "null"], "description": "Of its manifest."},
        "hash": {"type": ["string", "null"], "description": "SHA-256 of its manifest."},
        "safe": {"type": ["boolean", "null"], "description": "Whether every tool has a scope."},
        "tools": {"type": "integer"},
    },
}
_TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string", "description": "The connector's own words: data."},
        "arguments": {"type": "object", "description": "JSON Schema."},
        "scope": {"enum": ["read", "write", None]},
        "dangerous": {"type": "boolean"},
        "requires_approval_above_autonomy": {"type": ["string", "null"]},
        "forbidden_in_autonomy": {"type": "array", "items": _AUTONOMY},
        "supports_dry_run": {"type": "boolean"},
        "idempotent": {"type": "boolean"},
        "resource": {"type": ["string", "null"]},
        "rollback": {"type": ["string", "null"]},
    },
}
_RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "is_error": {"type": "boolean"},
        "truncated": {"type": "boolean"},
        "simulated": {"type": "boolean", "description": "Cairn answered in the tool's place."},
        "cached": {"type": "boolean"},
        "ms": {"type": "integer"},
    },
}
_ITEMS = items_of(_CONNECTOR)
_TOOLS = items_of(_TOOL)
_HEALTH: dict[str, Any] = {
    "type": "object",
    "properties": {
        "well": {"type": "boolean"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "state": {"enum": [one.value for one in ConnectorState]},
                    "error": {"type": ["string", "null"]},
                    "checked_at": {"type": ["string", "null"], "format": "date-time"},
                    "well": {"type": "boolean"},
                },
            },
        },
    },
}
_REMOVED: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}

Words = Annotated[list[str], Field(max_length=32)]
Secrets = dict[str, str]


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
        **answers(201, "Kept, and how it is", _CONNECTOR),
        **problems("conflict", body=True),
    },
)
def register_connector(body: ConnectorIn, caller: Admin, services: Services) -> Response:
    """Keep a connector and start it. One that does not start is kept too: its state says why."""
    new = NewConnector(
        name=body.name,
        transport=body.transport,
        builtin=body.builtin,
        command=tuple(body.command),
        url=body.url,
        config=body.config,
        secrets=body.secrets,
        scopes=body.scopes,
        autonomy=body.autonomy,
        criticality=body.criticality,
    )
    return answer(_shown(services.connectors.register(caller, new)), status=201)


@routes.get(
    "/v1/connectors",
    summary="List connectors",
    response_model=None,
    responses={**answers(200, "Every connector, by name", _ITEMS), **problems()},
)
def list_connectors(caller: Admin, services: Services) -> Response:
    """List connectors with how they are; never their secrets."""
    return answer({"items": [_shown(one) for one in services.connectors.all(caller)]})


@routes.get(
    "/v1/connectors/health",
    summary="Show how connectors are",
    response_model=None,
    responses={**answers(200, "Whether all are well, and each", _HEALTH), **problems()},
)
def get_connector_health(caller: Admin, services: Services) -> Response:
    """Show how connectors were when they were last called or looked at."""
    every = services.connectors.all(caller)
    items = [
        {
            "name": one.connector.name,
            "state": one.health.state.value,
            "error": one.health.error,
            "checked_at": one.health.checked_at,
            "well": one.is_well,
        }
        for one in every
    ]
    return answer({"well": all(one.is_well for one in every), "items": items})


@routes.get(
    "/v1/connectors/{connector}",
    summary="Show a connector",
    response_model=None,
    responses={**answers(200, "The connector", _CONNECTOR), **problems("not-found")},
)
def get_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Show a connector with how it was when it was last called or looked at."""
    return answer(_shown(services.connectors.one(caller, connector)))


@routes.patch(
    "/v1/connectors/{connector}",
    summary="Change a connector",
    response_model=None,
    responses={
        **answers(200, "As it is now", _CONNECTOR),
        **problems("not-found", "conflict", body=True),
    },
)
def change_connector(
    connector: ConnectorName, body: ConnectorChangeIn, caller: Admin, services: Services
) -> Response:
    """Change settings, secrets, scopes, autonomy or criticality. What runs is started anew."""
    change = ConnectorChange(
        command=None if body.command is None else tuple(body.command),
        url=body.url,
        config=body.config,
        secrets=body.secrets,
        scopes=body.scopes,
        autonomy=body.autonomy,
        criticality=body.criticality,
    )
    return answer(_shown(services.connectors.change(caller, connector, change)))


@routes.delete(
    "/v1/connectors/{connector}",
    summary="Remove a connector",
    response_model=None,
    responses={**answers(200, "Nothing reaches it any more", _REMOVED), **problems("not-found")},
)
def remove_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Remove a connector with its secrets. What was done through it stays in the ledger."""
    services.connectors.remove(caller, connector)
    return answer({"name": connector})


@routes.post(
    "/v1/connectors/{connector}/restart",
    summary="Restart a connector",
    response_model=None,
    responses={**answers(200, "As it is now", _CONNECTOR), **problems("not-found", "conflict")},
)
def restart_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Start a connector anew. What it lists now counts from now on; a degradation ends."""
    return answer(_shown(services.connectors.restart(caller, connector)))


@routes.post(
    "/v1/connectors/{connector}/check",
    summary="Look how a connector is",
    response_model=None,
    responses={**answers(200, "As it is now", _CONNECTOR), **problems("not-found", "conflict")},
)
def check_connector(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """Ask a connector whether it is well, as the schedule does."""
    return answer(_shown(services.connectors.check(caller, connector)))


@routes.get(
    "/v1/connectors/{connector}/tools",
    summary="List a connector's tools",
    response_model=None,
    responses={**answers(200, "What it listed last", _TOOLS), **problems("not-found")},
)
def list_connector_tools(connector: ConnectorName, caller: Admin, services: Services) -> Response:
    """List the tools of a connector as the rules of safety read them."""
    manifest = services.connectors.one(caller, connector).manifest
    return answer({"items": [_tool(one) for one in manifest.tools] if manifest else []})


@routes.post(
    "/v1/connectors/{connector}/tools/{tool}",
    summary="Try a tool out",
    response_model=None,
    responses={
        **answers(200, "What it said", _RESULT),
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


def _shown(shown: ConnectorShown) -> dict[str, Any]:
    connector, health, manifest = shown.connector, shown.health, shown.manifest
    return {
        "id": connector.id,
        "name": connector.name,
        "transport": connector.transport.value,
        "builtin": connector.builtin,
        "command": list(connector.command),
        "url": connector.url,
        "config": dict(connector.config),
        "secret_names": list(connector.secret_names),
        "scopes": connector.scopes,
        "autonomy": connector.autonomy.value,
        "criticality": connector.criticality.value,
        "created_at": connector.created_at,
        "changed_at": connector.changed_at,
        "state": health.state.value,
        "error": health.error,
        "detail": health.detail,
        "restarts": len(health.failures),
        "checked_at": health.checked_at,
        "version": manifest.version if manifest else None,
        "hash": manifest.hash if manifest else None,
        "safe": manifest.safe if manifest else None,
        "tools": len(manifest.tools) if manifest else 0,
    }


def _tool(spec: ToolSpec) -> dict[str, Any]:
    above = spec.requires_approval_above_autonomy
    return {
        "name": spec.name,
        "description": spec.description,
        "arguments": dict(spec.schema),
        "scope": spec.lane.value if spec.lane else None,
        "dangerous": spec.dangerous,
        "requires_approval_above_autonomy": above.value if above else None,
        "forbidden_in_autonomy": sorted(spec.forbidden_in_autonomy),
        "supports_dry_run": spec.supports_dry_run,
        "idempotent": spec.deduplicates,
        "resource": spec.resource,
        "rollback": spec.rollback,
    }
