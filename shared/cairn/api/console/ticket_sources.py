"""The page of ticket sources: help desks, how polling them goes, paused, mended, removed."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import (
    NO_KIND,
    Form,
    as_typed,
    checked,
    kind_config_of,
    kind_secrets_of,
    number_or_text,
    refused_deed,
    wrong_field,
)
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.ticket_sources import POLL_SECONDS, SourceChangeIn, SourceIn
from cairn.kernel.errors import Conflict, NotFound, Unavailable, ValidationFailed
from cairn.kernel.records import convert
from cairn.tickets.adapter import DeskForm
from cairn.tickets.sources import NewSource, SourceChange

SOURCES = "/console/ticket-sources"
DONE = {
    "added": "It is polled from now on.",
    "changed": "The change holds from now on.",
    "paused": "It is not polled any more.",
    "resumed": "It is polled again.",
    "removed": "It is gone, with its secrets. Its tickets stay.",
}
FIELDS = ("name", "kind", "persona", "poll_seconds")

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(SOURCES)
def show_sources(request: Request, visitor: Reader) -> Response:
    """Show every help desk with how polling it goes, and the form of the kind that is chosen."""
    query = request.query_params
    chosen = query.get("kind", "")
    return _page(request, visitor, done=DONE.get(query.get("done", ""), ""), kind=chosen)


@routes.post(SOURCES)
def add_source(request: Request, body: Body) -> Response:
    """Register a help desk."""
    visitor, form = form_from(request, body)
    try:
        new = convert(checked(SourceIn, _new(visitor, form)), NewSource)
        _require_persona(visitor, new.persona)
        visitor.services.ticket_sources.create(visitor.principal, new)
    except (Conflict, ValidationFailed) as error:
        refused = refused_deed(form, error, "name")
        return _page(request, visitor, kind=form.get("kind", ""), **refused)
    return pages.go_to(f"{SOURCES}?done=added")


@routes.post(SOURCES + "/{source_id}/change")
def change_source(request: Request, source_id: str, body: Body) -> Response:
    """Change its settings; new secrets mend one that is refused."""
    visitor, form = form_from(request, body)
    source = visitor.services.ticket_sources.get(visitor.principal, id_of(source_id))
    try:
        values = _change(visitor, source.kind.value, form)
        change = convert(checked(SourceChangeIn, values), SourceChange)
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
        raise wrong_field("persona", "is none of the workspace's") from error


def _new(visitor: Visitor, form: dict[str, str]) -> dict[str, Any]:
    """Return a new source as the API takes it."""
    kind = form.get("kind", "")
    desk = visitor.services.desk_forms.get(kind, NO_KIND)
    return {
        "name": form.get("name", "").strip(),
        "kind": kind,
        "config": kind_config_of(form, desk),
        "secrets": kind_secrets_of(form, desk),
        **_work(form),
    }


def _change(visitor: Visitor, kind: str, form: dict[str, str]) -> dict[str, Any]:
    """Return a change as the API takes it: an empty secret stays, one that is ticked goes."""
    desk = visitor.services.desk_forms.get(kind, NO_KIND)
    gone = [name.removeprefix("remove.") for name in form if name.startswith("remove.")]
    secrets = {**dict.fromkeys(gone), **kind_secrets_of(form, desk)}
    return {"config": kind_config_of(form, desk), "secrets": secrets or None, **_work(form)}


def _work(form: dict[str, str]) -> dict[str, Any]:
    seconds = number_or_text(form.get("poll_seconds", "").strip())
    return {"persona": form.get("persona", "").strip(), "poll_seconds": seconds}


def _names(desks: Mapping[str, DeskForm]) -> list[str]:
    """Return the fields beside which the page says what is wrong with them."""
    config = [f"config.{each.name}" for desk in desks.values() for each in desk.config]
    secrets = [f"secrets.{each.name}" for desk in desks.values() for each in desk.secrets]
    return [*FIELDS, *config, *secrets]


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    wrong: str = "",
    form: Form | None = None,
    changed: str = "",
    kind: str = "",
    status: int = 200,
) -> Response:
    sources = visitor.services.ticket_sources.all(visitor.principal)
    desks = visitor.services.desk_forms
    return shown(
        request,
        visitor,
        "ticket_sources.html",
        status=status,
        sources=[(each, desks[each.kind.value]) for each in sources],
        kinds=sorted(desks),
        kind=kind,
        desk=desks.get(kind),
        as_typed=as_typed,
        form=form or Form(),
        blank=Form(),
        changed=changed,
        fields=_names(desks),
        done=done,
        wrong=wrong,
        base=str(request.base_url).rstrip("/"),
    )
