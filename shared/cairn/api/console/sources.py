"""The pages of sources of knowledge: added, read now, looked ahead of, changed, removed.

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
    number_or_text,
    refused_deed,
    secrets_of,
)
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.sources import KnowledgeSourceChangeIn, KnowledgeSourceIn
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.kernel.records import convert
from cairn.sources.keep import NewSource, SourceChange
from cairn.sources.source import KnowledgeKind, SyncOutcome

SOURCES = "/console/sources"
DONE = {
    "added": "It is kept, and read from now on.",
    "changed": "The change holds from now on; it is read anew within minutes.",
    "sync": "It is being read.",
    "preview": "What reading it would change is being found out.",
    "pause": "It is not read any more; what it brought stays.",
    "resume": "It is read again.",
    "removed": "It is gone, with its secrets.",
    "removing": "It goes once its documents are deleted.",
}
FIELDS = (
    "name", "kind", "place", "include", "exclude", "config", "secrets", "client_id",
    "sync_seconds", "max_items", "max_bytes",
)  # fmt: skip
PLACES = {
    KnowledgeKind.FOLDER: "path",
    KnowledgeKind.BUCKET: "bucket",
    KnowledgeKind.CONFLUENCE: "url",
    KnowledgeKind.GIT: "url",
    KnowledgeKind.SITE: "url",
    KnowledgeKind.CONFLUENCE: "url",
}
"""The setting that a kind calls its place by."""

COUNTED = ("unchanged", "skipped")
routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(SOURCES)
def show_sources(request: Request, visitor: Reader) -> Response:
    """Show every source with how reading it goes."""
    return _list(request, visitor)


@routes.post(SOURCES)
def add_source(request: Request, body: Body) -> Response:
    """Keep a source, and read it."""
    visitor, form = form_from(request, body)
    try:
        source = visitor.services.sources.add(visitor.principal, _new(form))
    except (Conflict, ValidationFailed) as error:
        return _list(request, visitor, **refused_deed(form, error, "name"))
    return pages.go_to(f"{SOURCES}/{source.id}?done=added")


@routes.get(SOURCES + "/{source_id}")
def show_source(request: Request, visitor: Reader, source_id: str) -> Response:
    """Show one: the run under way, the last one, what a preview found out, its settings."""
    try:
        return _source(request, visitor, source_id)
    except NotFound:
        if "hx-request" not in request.headers:
            raise
    gone = Response(headers=pages.HEADERS)  # with its documents, while its page looked on
    gone.headers["hx-redirect"] = f"{SOURCES}?done=removed"
    return gone


@routes.post(SOURCES + "/{source_id}/{deed}")
def do_to_source(request: Request, source_id: str, deed: str, body: Body) -> Response:
    """Read one now, look ahead, pause, go on, change or remove it; removing is meant."""
    visitor, form = form_from(request, body)
    sources, caller, id_ = visitor.services.sources, visitor.principal, id_of(source_id)
    try:
        if deed == "sync":
            sources.sync(caller, id_, accept_deletions=form.get("accept_deletions") == "yes")
        elif deed == "preview":
            sources.preview(caller, id_)
        elif deed in ("pause", "resume"):
            sources.change(caller, id_, SourceChange(paused=deed == "pause"))
        elif deed == "change":
            sources.change(caller, id_, _change(form))
            deed = "changed"
        elif deed == "remove":
            return _removed(visitor, source_id, form)
        else:
            raise NotFound("There is no such deed.")
    except (Conflict, ValidationFailed) as error:
        refused = refused_deed(form, error, "place")
        return _source(request, visitor, source_id, changed=deed == "change", **refused)
    return pages.go_to(f"{SOURCES}/{source_id}?done={deed}")


def _removed(visitor: Visitor, source_id: str, form: dict[str, str]) -> Response:
    require_meant(form)
    documents = form.get("documents") == "yes"
    visitor.services.sources.remove(visitor.principal, id_of(source_id), documents=documents)
    if documents:
        return pages.go_to(f"{SOURCES}/{source_id}?done=removing")
    return pages.go_to(f"{SOURCES}?done=removed")


def _new(form: dict[str, str]) -> NewSource:
    """Return the source that a form asks for; ValidationFailed names each wrong field."""
    values: dict[str, Any] = {
        "name": form.get("name", "").strip(),
        "kind": form.get("kind", ""),
        "config": _config(form, form.get("kind", "")),
        "secrets": secrets_of(form),
        "client_id": form.get("client_id", "").strip(),
        **_numbers(form),
    }
    filled = {name: value for name, value in values.items() if value != ""}
    return convert(checked(KnowledgeSourceIn, filled), NewSource)


def _change(form: dict[str, str]) -> SourceChange:
    """Return what a form changes; a secret without a value is removed, others stay."""
    secrets = {name: value or None for name, value in secrets_of(form).items()}
    values: dict[str, Any] = {"config": _config(form, form.get("kind", "")), **_numbers(form)}
    if secrets:
        values["secrets"] = secrets
    return convert(checked(KnowledgeSourceChangeIn, values), SourceChange)


def _config(form: dict[str, str], kind: str) -> dict[str, Any]:
    """Return the settings of a form: its place, its patterns, one a line, and the others."""
    config = json_object(form, "config")
    place = PLACES.get(KnowledgeKind(kind)) if kind in set(KnowledgeKind) else None
    if place is not None and form.get("place", "").strip():
        config[place] = form["place"].strip()
    for name in ("include", "exclude"):
        patterns = [line.strip() for line in form.get(name, "").splitlines() if line.strip()]
        if patterns:
            config[name] = patterns
    return config


def _numbers(form: dict[str, str]) -> dict[str, Any]:
    names = ("sync_seconds", "max_items", "max_bytes")
    texts = {name: form.get(name, "").strip() for name in names}
    return {name: number_or_text(text) for name, text in texts.items() if text}


def _list(
    request: Request, visitor: Visitor, *, form: Form | None = None, status: int = 200
) -> Response:
    return shown(
        request,
        visitor,
        "sources.html",
        status=status,
        sources=visitor.services.sources.all(visitor.principal),
        kinds=[each.value for each in KnowledgeKind],
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )


def _source(
    request: Request,
    visitor: Visitor,
    source_id: str,
    *,
    form: Form | None = None,
    changed: bool = False,
    status: int = 200,
) -> Response:
    source = visitor.services.sources.get(visitor.principal, id_of(source_id))
    place = PLACES.get(source.kind, "")
    others = {
        name: value
        for name, value in source.config.items()
        if name not in {place, "include", "exclude"}
    }
    return shown(
        request,
        visitor,
        "source.html",
        status=status,
        each=source,
        place=source.config.get(place, ""),
        others=json.dumps(others, ensure_ascii=False, indent=2) if others else "",
        counted=(*(each.value for each in SyncOutcome), *COUNTED),
        form=form or Form(),
        changed=changed,
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
