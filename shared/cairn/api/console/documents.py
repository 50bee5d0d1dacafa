"""The pages of documents: what is stored, how taking one in goes, adding and deleting one.

A text is sent by a form. A file is sent as it is by the page's script; a large one goes by the
command line, straight to the object store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from cairn.api.console import pages
from cairn.api.console.forms import Form, number_of, refused_deed, wrong_field
from cairn.api.console.guard import Visitor, changing_visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.documents.ports import DocumentStatus, NewDocument
from cairn.kernel.access import Scope
from cairn.kernel.errors import Conflict, NotFound, TooLarge, ValidationFailed
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCUMENTS = "/console/documents"
SHOWN, MAX_NAME = 25, 2_000
ENDED = (DocumentStatus.READY, DocumentStatus.FAILED)
FIELDS = ("source_uri", "title", "text", "client_id", "scope")
DONE = {
    "added": "It is kept. It is found by its words in a moment, and by what it means soon after.",
    "deleted": "It is found no more. Sent again, it is back.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(DOCUMENTS)
def show_documents(
    request: Request, visitor: Reader, client: str = "", source: str = "", before: str = ""
) -> Response:
    """Show documents, the newest first, of a client or a source."""
    chosen = {"client": client.strip()[:MAX_NAME], "source": source.strip()[:MAX_NAME]}
    return _list(request, visitor, chosen=chosen, before=before)


@routes.post(DOCUMENTS)
def add_document(request: Request, body: Body) -> Response:
    """Take in a text that was written or pasted."""
    visitor, form = form_from(request, body)
    visitor.principal.require_operator()
    text = form.get("text", "").replace("\r\n", "\n")
    try:
        if not text.strip():
            raise wrong_field("text", "is needed, or a file")
        accepted = _accept(visitor, form, text.encode("utf-8"))
    except (Conflict, ValidationFailed) as error:
        return _list(request, visitor, **refused_deed(form, error, "source_uri"))
    return pages.go_to(f"{DOCUMENTS}/{accepted}?done=added")


@routes.post(DOCUMENTS + "/file")
def add_file(request: Request, body: Body) -> Response:
    """Take in the bytes of a file; the answer, for the page's script, says where its page is."""
    visitor = changing_visitor(request, {})
    visitor.principal.require_operator()
    try:
        path = f"{DOCUMENTS}/{_accept(visitor, dict(request.query_params), body)}?done=added"
    except (Conflict, TooLarge, ValidationFailed) as error:
        return JSONResponse({"wrong": error.detail}, 422, headers=pages.HEADERS)
    return JSONResponse({"path": path}, 201, headers=pages.HEADERS)


def _accept(visitor: Visitor, form: Mapping[str, str], content: bytes) -> Any:
    """Return the id of the document that a form describes."""
    scope = form.get("scope", "")
    new = NewDocument(
        source_uri=form.get("source_uri", "").strip(),
        title=form.get("title", "").strip() or None,
        media_type=form.get("media_type") or None,
        content=content,
        client_id=form.get("client_id", "").strip() or GLOBAL_CLIENT,
        scope=pages.choice(Scope, scope) if scope else None,
    )
    return visitor.services.ingest_document(visitor.principal, new).document_id


@routes.get(DOCUMENTS + "/{document_id}")
def show_document(request: Request, visitor: Reader, document_id: str) -> Response:
    """Show one, and how far taking it in is."""
    document = visitor.services.browse.get_document(visitor.principal, id_of(document_id))
    return shown(
        request,
        visitor,
        "document.html",
        document=document,
        ended=document.status in ENDED,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )


@routes.post(DOCUMENTS + "/{document_id}/delete")
def delete_document(request: Request, document_id: str, body: Body) -> Response:
    """Hide one from searches and lists, with what was made of it."""
    visitor, form = form_from(request, body)
    visitor.principal.require_operator()
    require_meant(form)
    visitor.services.delete_document(visitor.principal, id_of(document_id))
    return pages.go_to(f"{DOCUMENTS}?done=deleted")


def _list(
    request: Request,
    visitor: Visitor,
    *,
    chosen: Mapping[str, str] | None = None,
    before: str = "",
    form: Form | None = None,
    status: int = 200,
) -> Response:
    filters = {name: text for name, text in (chosen or {}).items() if text}
    if before and number_of(before) is None:
        raise NotFound("There is no such page.")
    page = visitor.services.browse.list_documents(
        visitor.principal,
        client_id=filters.get("client"),
        source_uri=filters.get("source"),
        limit=SHOWN,
        after=number_of(before) if before else None,
    )
    names = {"client": "client_id", "source": "source_uri"}
    query = urlencode({names[name]: text for name, text in filters.items()})
    return shown(
        request,
        visitor,
        "documents.html",
        status=status,
        documents=page.items,
        older=page.next_after,
        chosen={"client": "", "source": "", **filters},
        address=f"{DOCUMENTS}?{urlencode([*filters.items(), ('before', '')])}",
        path="/v1/documents" + (f"?{query}" if query else ""),
        scopes=[each.value for each in Scope],
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
