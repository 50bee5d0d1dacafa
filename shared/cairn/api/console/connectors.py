"""The pages of connectors: how each is, what it lists, its settings; added, tried out, removed.

Secrets go in and are never shown, not even in a form that is refused.
"""

import json
from typing import Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import (
    Form,
    checked,
    json_object,
    refused_deed,
    refused_form,
    secrets_of,
)
from cairn.api.console.guard import Visitor, form_from, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.connectors import MAX_SECONDS, ConnectorChangeIn, ConnectorIn
from cairn.connectors.connector import Transport
from cairn.connectors.launching import BUNDLED
from cairn.connectors.port import ToolCall, ToolResult
from cairn.connectors.requests import NAME, ConnectorChange, NewConnector
from cairn.kernel.errors import Conflict, NotFound, Unavailable, ValidationFailed
from cairn.kernel.records import convert
from cairn.safety.tools import Autonomy, Criticality

CONNECTORS = "/console/connectors"
DONE = {
    "added": "It is kept. Its state says whether it started.",
    "changed": "The change holds from now on.",
    "checked": "It was looked at just now.",
    "restarted": "It was started anew; what it lists now is what counts.",
    "removed": "It is gone, with its secrets.",
}
FIELDS = (
    "name", "builtin", "url", "command", "config", "secrets", "scopes", "autonomy", "criticality"
)  # fmt: skip

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(CONNECTORS)
def show_connectors(request: Request, visitor: Reader) -> Response:
    """Show every connector with how it is."""
    return _list(request, visitor)


@routes.post(CONNECTORS)
def add_connector(request: Request, body: Body) -> Response:
    """Register a connector; one that does not start is kept, and says why."""
    visitor, form = form_from(request, body)
    try:
        created = visitor.services.connectors.register(visitor.principal, _new(form))
    except (Conflict, ValidationFailed) as error:
        return _list(request, visitor, **refused_deed(form, error, "name"))
    return pages.go_to(f"{CONNECTORS}/{created.connector.name}?done=added")


@routes.get(CONNECTORS + "/{name}")
def show_connector(request: Request, visitor: Reader, name: str) -> Response:
    """Show one with its settings, health and tools."""
    return _connector(request, visitor, name)


@routes.post(CONNECTORS + "/{name}/change")
def change_connector(request: Request, name: str, body: Body) -> Response:
    """Change settings, secrets, scopes or how far it may go."""
    visitor, form = form_from(request, body)
    try:
        visitor.services.connectors.change(visitor.principal, _name(name), _change(form))
    except (Conflict, ValidationFailed) as error:
        return _connector(request, visitor, name, **refused_deed(form, error, "config"))
    return pages.go_to(f"{CONNECTORS}/{name}?done=changed")


@routes.post(CONNECTORS + "/{name}/check")
def check_connector(request: Request, name: str, body: Body) -> Response:
    """Test the connection, as the schedule does."""
    visitor, _ = form_from(request, body)
    visitor.services.connectors.check(visitor.principal, _name(name))
    return pages.go_to(f"{CONNECTORS}/{name}?done=checked")


@routes.post(CONNECTORS + "/{name}/restart")
def restart_connector(request: Request, name: str, body: Body) -> Response:
    """Start it anew."""
    visitor, _ = form_from(request, body)
    visitor.services.connectors.restart(visitor.principal, _name(name))
    return pages.go_to(f"{CONNECTORS}/{name}?done=restarted")


@routes.post(CONNECTORS + "/{name}/try")
def try_tool(request: Request, name: str, body: Body) -> Response:
    """Call a tool as a dry run, or one that reads, and show what it says."""
    visitor, form = form_from(request, body)
    try:
        result = visitor.services.connectors.call(
            visitor.principal,
            ToolCall(
                connector=_name(name),
                tool=form.get("tool", ""),
                arguments=json_object(form, "arguments"),
                dry_run=form.get("dry_run") == "yes",
                seconds=MAX_SECONDS,
            ),
        )
    except (Conflict, ValidationFailed) as error:
        return _connector(request, visitor, name, **refused_deed(form, error, "arguments"))
    except Unavailable as error:
        refused = refused_form(form, error, "arguments")
        return _connector(request, visitor, name, form=refused, status=503)
    return _connector(request, visitor, name, form=Form(values=form), result=result)


@routes.post(CONNECTORS + "/{name}/remove")
def remove_connector(request: Request, name: str, body: Body) -> Response:
    """Remove it with its secrets; the form says that it is meant."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.connectors.remove(visitor.principal, _name(name))
    return pages.go_to(f"{CONNECTORS}?done=removed")


def _name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise NotFound("There is no such connector.")
    return name


def _new(form: dict[str, str]) -> NewConnector:
    """Return the connector that a form asks for; ValidationFailed names each wrong field."""
    url = form.get("url", "").strip()
    inside = Transport.IN_PROCESS if form.get("in_process") == "yes" else Transport.STDIO
    values: dict[str, Any] = {
        "name": form.get("name", "").strip(),
        "transport": Transport.HTTP if url else inside,
        "builtin": form.get("builtin") or None,
        "command": form.get("command", "").splitlines(),
        "url": url or None,
        "config": json_object(form, "config"),
        "secrets": secrets_of(form),
        "scopes": form.get("scopes", "").replace("\r\n", "\n"),
        "autonomy": form.get("autonomy", ""),
        "criticality": form.get("criticality", ""),
    }
    return convert(checked(ConnectorIn, values), NewConnector)


def _change(form: dict[str, str]) -> ConnectorChange:
    """Return what a form changes; a secret without a value is removed."""
    secrets = {name: value or None for name, value in secrets_of(form).items()}
    values: dict[str, Any] = {
        "command": form["command"].splitlines() if "command" in form else None,
        "url": form["url"].strip() if "url" in form else None,
        "config": json_object(form, "config"),
        "secrets": secrets or None,
        "scopes": form.get("scopes", "").replace("\r\n", "\n"),
        "autonomy": form.get("autonomy", ""),
        "criticality": form.get("criticality", ""),
    }
    return convert(checked(ConnectorChangeIn, values), ConnectorChange)


def _list(
    request: Request, visitor: Visitor, *, form: Form | None = None, status: int = 200
) -> Response:
    return shown(
        request,
        visitor,
        "connectors.html",
        status=status,
        connectors=visitor.services.connectors.all(visitor.principal),
        form=form or Form(),
        done=DONE.get(request.query_params.get("done", ""), ""),
        fields=FIELDS,
        builtin=["", *sorted(BUNDLED)],
        autonomies=[each.value for each in Autonomy],
        criticalities=[each.value for each in Criticality],
    )


def _connector(
    request: Request,
    visitor: Visitor,
    name: str,
    *,
    form: Form | None = None,
    result: ToolResult | None = None,
    status: int = 200,
) -> Response:
    connector = visitor.services.connectors.one(visitor.principal, _name(name))
    return shown(
        request,
        visitor,
        "connector.html",
        status=status,
        each=connector,
        config=json.dumps(dict(connector.connector.config), ensure_ascii=False, indent=2),
        form=form or Form(),
        result=result,
        done=DONE.get(request.query_params.get("done", ""), ""),
        fields=(*FIELDS, "arguments"),
        autonomies=[each.value for each in Autonomy],
        criticalities=[each.value for each in Criticality],
    )
