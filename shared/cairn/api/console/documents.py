"""Documents: what there is, one with its sections, and taking a file by upload.

The file never passes the API: a script puts it where `POST /v1/uploads` says, shows how far that
is, and sends the form with the upload's id.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_of, refused_deed, wrong_field
from cairn.api.console.guard import form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.problems import from_error
from cairn.api.routes.documents import DocumentIn, UploadIn
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

if TYPE_CHECKING:
    from cairn.api.console.guard import Visitor

DOCUMENTS = "/console/documents"
PER_PAGE = 25
DONE = {
    "taken": "The file is here; it is read, cut and embedded now.",
    "deleted": "The document is hidden, with its sections and passages.",
}
FIELDS = ("file", "title", "client_id", "scope")
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
    request: Request, visitor: Visitor, *, form: Form | None = None, status: int = 200
) -> Response:
    client = request.query_params.get("client", "").strip()
    listed = visitor.services.browse.list_documents(
        visitor.principal,
        client_id=client or None,
        limit=PER_PAGE,
        after=number_of(request.query_params.get("after", "")),
    )
    response = shown(
        request,
        visitor,
        "documents.html",
        status=status,
        documents=listed.items,
        older=listed.next_after,
        client=client,
        scopes=[each.value for each in Scope],
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
    if visitor.works:
        _let_put(visitor, response)
    return response


def _let_put(visitor: Visitor, response: Response) -> None:
    """Let the page's script reach the workspace's own uploads; nothing while there is no store."""
    with suppress(Unavailable):
        place = visitor.services.create_upload.place(visitor.principal)
        policy = pages.HEADERS["content-security-policy"]
        own = "connect-src 'self'"
        response.headers["content-security-policy"] = policy.replace(own, f"{own} {place}")


def _new(form: dict[str, str]) -> DocumentIn:
    """Return the document that a form describes; ValidationFailed names each wrong field."""
    name = _name(form)
    values: dict[str, Any] = {
        "source_uri": form.get("source_uri", "").strip() or name,
        "media_type": _media_type(form),
        "upload_id": form.get("upload_id", ""),
        "title": form.get("title", "").strip(),
        "client_id": form.get("client_id", "").strip(),
        "scope": form.get("scope", ""),
    }
    if not values["upload_id"]:
        raise wrong_field("file", "was not uploaded: the page's script does that")
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


def _refused(form: dict[str, str], error: CairnError) -> dict[str, Any]:
    if isinstance(error, (Conflict, ValidationFailed)):
        return refused_deed(form, error, "file")
    failure = ValidationFailed(error.detail, reason=error.reason)
    return {**refused_deed(form, failure, "file"), "status": from_error(error).kind.status}


def _refusal_json(error: CairnError) -> Response:
    """Return a refusal as the page's script reads it."""
    status = from_error(error).kind.status
    return JSONResponse({"detail": error.detail}, status_code=status, headers=pages.HEADERS)
