"""Documents: what there is, one with its sections, taking a file by upload, or a text as it is.

The file never passes the API: a script puts it where `POST /v1/uploads` says, shows how far that
is, and sends the form with the upload's id.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_of, refused_deed, wrong_field
from cairn.api.console.guard import form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.problems import from_error
from cairn.api.routes.documents import MAX_URI_CHARS, DocumentIn, UploadIn
from cairn.documents import media
from cairn.documents.ports import DocumentStatus
from cairn.kernel.access import Scope
from cairn.kernel.errors import (
    CairnError,
    Conflict,
    NotFound,
    TooLarge,
    Unavailable,
    ValidationFailed,
)
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from cairn.api.console.guard import Visitor

DOCUMENTS = "/console/documents"
PER_PAGE = 25
DONE = {
    "taken": "It is here; it is read, cut and embedded now.",
    "deleted": "The document is hidden, with its sections and passages.",
}
FIELDS = ("file", "title", "client_id", "scope")
OF_TEXT = ("text", "title", "source_uri", "client_id", "scope")
LONGEST_TEXT, LONGEST_FORM = 60_000, 800_000
"""Characters of a text, and the bytes that a form with such a one has in any script."""

ENDED = (DocumentStatus.READY, DocumentStatus.FAILED)
routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(DOCUMENTS)
def show_documents(request: Request, visitor: Reader) -> Response:
    """Show the documents, the newest first, and a form that takes another."""
    return _list(request, visitor)


@routes.post(DOCUMENTS + "/uploads")
def prepare_upload(request: Request, body: Body) -> Response:
    """Tell the page's script where its file goes; a refusal is told as JSON, too."""
    visitor, form = form_from(request, body)
    try:
        size, sha256 = number_of(form.get("size", "")), form.get("sha256") or None
        upload = checked(UploadIn, {"size": size or 0, "sha256": sha256})
        kind = _media_type(form)
        media_type = None if kind is None else media.normalise_media_type(kind)
        ticket = visitor.services.create_upload(
            visitor.principal, size=upload.size, media_type=media_type, sha256=upload.sha256
        )
    except (TooLarge, Unavailable, ValidationFailed) as error:
        return _refusal_json(error)
    return JSONResponse(
        {"upload_id": str(ticket.upload_id), "url": ticket.url, "headers": dict(ticket.headers)},
        headers={**pages.HEADERS, "cache-control": "no-store"},
    )


@routes.post(DOCUMENTS)
def take(request: Request, body: Body) -> Response:
    """Make a document of an upload."""
    visitor, form = form_from(request, body)
    try:
        accepted = visitor.services.ingest_document(
            visitor.principal, _new(form).record(), idempotency=None
        )
    except (Conflict, NotFound, TooLarge, ValidationFailed) as error:
        return _list(request, visitor, **_refused(form, error))
    return pages.go_to(f"{DOCUMENTS}/{accepted.document_id}?done=taken")


@routes.post(DOCUMENTS + "/text")
def take_text(request: Request, body: Body) -> Response:
    """Make a document of a text that was typed; the same form again makes the same one."""
    visitor, form = form_from(request, body, most=LONGEST_FORM)
    try:
        accepted = visitor.services.ingest_document(
            visitor.principal, _typed(form).record(), idempotency=None
        )
    except (Conflict, TooLarge, Unavailable, ValidationFailed) as error:
        refused = _refused(form, error, "text")
        refused["typed"] = refused.pop("form")
        return _list(request, visitor, **refused)
    return pages.go_to(f"{DOCUMENTS}/{accepted.document_id}?done=taken")


@routes.get(DOCUMENTS + "/{document_id}")
def show_document(request: Request, visitor: Reader, document_id: str) -> Response:
    """Show one, how far its ingestion is, and its sections."""
    document = visitor.services.browse.get_document(visitor.principal, id_of(document_id))
    return shown(
        request,
        visitor,
        "document.html",
        each=document,
        under_way=document.status not in ENDED,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )


@routes.post(DOCUMENTS + "/{document_id}/delete")
def delete(request: Request, document_id: str, body: Body) -> Response:
    """Hide one; that is meant."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.delete_document(visitor.principal, id_of(document_id))
    return pages.go_to(f"{DOCUMENTS}?done=deleted")


def _list(
    request: Request,
    visitor: Visitor,
    *,
    form: Form | None = None,
    typed: Form | None = None,
    status: int = 200,
) -> Response:
    chosen = {name: request.query_params.get(name, "").strip() for name in ("client", "source")}
    listed = visitor.services.browse.list_documents(
        visitor.principal,
        client_id=chosen["client"] or None,
        source_uri=chosen["source"][:MAX_URI_CHARS] or None,
        limit=PER_PAGE,
        after=number_of(request.query_params.get("after", "")),
    )
    place = _place(visitor) if visitor.works else None
    filters = {name: text for name, text in chosen.items() if text}
    older = filters | {"after": listed.next_after}
    response = shown(
        request,
        visitor,
        "documents.html",
        status=status,
        documents=listed.items,
        older=f"{DOCUMENTS}?{urlencode(older)}" if listed.next_after is not None else None,
        **chosen,
        path=_call(filters),
        scopes=[each.value for each in Scope],
        form=form or Form(),
        typed=typed or Form(),
        fields=FIELDS,
        of_text=OF_TEXT,
        longest=LONGEST_TEXT,
        new_id=new_id(),
        has_store=place is not None,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
    if place is not None:
        policy = pages.HEADERS["content-security-policy"]
        own = "connect-src 'self'"
        response.headers["content-security-policy"] = policy.replace(own, f"{own} {place}")
    return response


def _call(filters: dict[str, str]) -> str:
    """Return the same list as a path of the API."""
    names = {"client": "client_id", "source": "source_uri"}
    values = {names[name]: text for name, text in filters.items()}
    return pages.with_query("/v1/documents", values)


def _place(visitor: Visitor) -> str | None:
    """Return where the page's script puts the workspace's own uploads; None without a store."""
    try:
        return visitor.services.create_upload.place(visitor.principal)
    except Unavailable:
        return None


def _typed(form: dict[str, str]) -> DocumentIn:
    """Return the document of a text; without a source of its own it is known by the form's id."""
    text = form.get("text", "").replace("\r\n", "\n")
    if not text.strip():
        raise wrong_field("text", "is missing")
    if len(text) > LONGEST_TEXT:
        raise wrong_field("text", f"has more than {LONGEST_TEXT} characters: upload it as a file")
    if not form.get("title", "").strip():
        raise wrong_field("title", "is missing")
    return _document(form, form.get("source_uri", "").strip() or _pasted(form), text=text)


def _pasted(form: dict[str, str]) -> str:
    return f"pasted:{id_of(form.get('id', ''))}"


def _new(form: dict[str, str]) -> DocumentIn:
    """Return the document that a form describes; ValidationFailed names each wrong field."""
    name = _name(form)
    if not form.get("upload_id"):
        raise wrong_field("file", "was not uploaded: the page's script does that")
    source = form.get("source_uri", "").strip() or name
    return _document(form, source, upload_id=form["upload_id"], media_type=_media_type(form))


def _document(form: dict[str, str], source: str, **content: str | None) -> DocumentIn:
    values: dict[str, Any] = {
        "source_uri": source,
        "media_type": media.MARKDOWN,
        "title": form.get("title", "").strip(),
        "client_id": form.get("client_id", "").strip(),
        "scope": form.get("scope", ""),
        **content,
    }
    return checked(DocumentIn, {k: v for k, v in values.items() if v})


def _name(form: dict[str, str]) -> str:
    """Return the file's name without any path; ValidationFailed without one."""
    name = PurePath(form.get("name", "").replace("\\", "/")).name
    if not name:
        raise wrong_field("file", "is missing")
    return name


def _media_type(form: dict[str, str]) -> str | None:
    """Return what the name of a file says it is: browsers know fewer types, and other names."""
    kind = media.media_type_of(_name(form))
    if kind is None:
        raise wrong_field("file", "has an ending that is not read, such as .pdf, .md, .html or .py")
    return kind


def _refused(form: dict[str, str], error: CairnError, field: str = "file") -> dict[str, Any]:
    if isinstance(error, (Conflict, ValidationFailed)):
        return refused_deed(form, error, field)
    failure = ValidationFailed(error.detail, reason=error.reason)
    return {**refused_deed(form, failure, field), "status": from_error(error).kind.status}


def _refusal_json(error: CairnError) -> Response:
    """Return a refusal as the page's script reads it."""
    status = from_error(error).kind.status
    return JSONResponse({"detail": error.detail}, status_code=status, headers=pages.HEADERS)
