"""The page of ticket sources: help desks, how polling them goes, paused, mended, removed."""

import json
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from cairn.api.console import pages
from cairn.api.console.forms import Form, as_failure, json_object, refused_deed, secrets_of
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.ticket_sources import POLL_SECONDS, SourceChangeIn, SourceIn
from cairn.kernel.errors import Conflict, FieldError, NotFound, Unavailable, ValidationFailed
from cairn.kernel.records import convert
from cairn.tickets.sources import NewSource, SourceChange
from cairn.tickets.ticket import SourceKind

SOURCES = "/console/ticket-sources"
DONE = {
    "added": "It is polled from now on.",
    "changed": "The change holds from now on.",
    "paused": "It is not polled any more.",
    "resumed": "It is polled again.",
    "removed": "It is gone, with its secrets. Its tickets stay.",
}
FIELDS = ("name", "kind", "config", "secrets", "persona", "poll_seconds")

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(SOURCES)
def show_sources(request: Request, visitor: Reader) -> Response:
    """Show every help desk with how polling it goes."""
    return _page(request, visitor, done=DONE.get(request.query_params.get("done", ""), ""))


@routes.post(SOURCES)
def add_source(request: Request, body: Body) -> Response:
    """Register a help desk."""
    visitor, form = form_from(request, body)
    try:
        new = convert(_checked(SourceIn, form, name=form.get("name", "").strip()), NewSource)
        _require_persona(visitor, new.persona)
        visitor.services.ticket_sources.create(visitor.principal, new)
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, **refused_deed(form, error, "name"))
    return pages.go_to(f"{SOURCES}?done=added")


@routes.post(SOURCES + "/{source_id}/change")
def change_source(request: Request, source_id: str, body: Body) -> Response:
    """Change its settings; new secrets mend one that is refused."""
    visitor, form = form_from(request, body)
    try:
        change = convert(_checked(SourceChangeIn, form), SourceChange)
        if change.persona is not None:
            _require_persona(visitor, change.persona)
        visitor.services.ticket_sources.change(visitor.principal, id_of(source_id), change)
    except (Conflict, ValidationFailed) as error:
        refused = refused_deed(form, error, "config")
        return _page(request, visitor, changed=source_id, **refused)
    return pages.go_to(f"{SOURCES}?done=changed")


@routes.post(SOURCES + "/{source_id}/{deed}")
def do_to_source(request: Request, source_id: str, deed: str, body: Body) -> Response:
    """Fetch what is new now, pause, go on, or remove one; removing says that it is meant."""
    visitor, form = form_from(request, body)
    services, caller, id_ = visitor.services, visitor.principal, id_of(source_id)
    if deed == "poll":
        return _polled(request, visitor, source_id)
    if deed == "remove":
        require_meant(form)
        services.ticket_sources.remove(caller, id_)
    elif deed in ("pause", "resume"):
        services.ticket_sources.change(caller, id_, SourceChange(paused=deed == "pause"))
    else:
        raise NotFound("There is no such deed.")
    return pages.go_to(f"{SOURCES}?done={deed}d")


def _polled(request: Request, visitor: Visitor, source_id: str) -> Response:
    try:
        result = visitor.services.poll_source(
            visitor.principal, id_of(source_id), seconds=POLL_SECONDS
        )
    except (Conflict, Unavailable) as error:
        status = 409 if isinstance(error, Conflict) else 503
        return _page(request, visitor, wrong=error.detail, status=status)
    more = "" if result.complete else " The rest is fetched later."
    done = f"{result.new} new tickets, {result.changed} changed, {result.known} known.{more}"
    return _page(request, visitor, done=done)


def _require_persona(visitor: Visitor, name: str) -> None:
    try:
        visitor.services.personas.get(visitor.principal, name)
    except NotFound as error:
        message = "is none of the workspace's"
        raise ValidationFailed(
            f"persona {message}.", errors=[FieldError("persona", message)]
        ) from error


def _checked(
    model: type[SourceIn] | type[SourceChangeIn], form: dict[str, str], **more: str
) -> SourceIn | SourceChangeIn:
    """Return a form as the API takes it; a secret without a value is removed by a change."""
    secrets = secrets_of(form)
    seconds = form.get("poll_seconds", "").strip()
    values: dict[str, Any] = {
        **more,
        "config": json_object(form, "config"),
        "persona": form.get("persona", "").strip(),
        "poll_seconds": int(seconds) if seconds.isascii() and seconds.isdigit() else seconds,
    }
    if model is SourceIn:
        values |= {"kind": form.get("kind", ""), "secrets": secrets}
    elif secrets:
        values["secrets"] = {name: value or None for name, value in secrets.items()}
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise as_failure(error) from error


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    wrong: str = "",
    form: Form | None = None,
    changed: str = "",
    status: int = 200,
) -> Response:
    sources = visitor.services.ticket_sources.all(visitor.principal)
    return shown(
        request,
        visitor,
        "ticket_sources.html",
        status=status,
        sources=[
            (each, json.dumps(dict(each.config), ensure_ascii=False, indent=2)) for each in sources
        ],
        kinds=[each.value for each in SourceKind if each is not SourceKind.API],
        form=form or Form(),
        blank=Form(),
        changed=changed,
        fields=FIELDS,
        done=done,
        wrong=wrong,
        base=str(request.base_url).rstrip("/"),
    )
