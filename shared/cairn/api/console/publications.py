"""The page of what is published: publish a report or a document, withdraw what is there.

Files are published by the command line or the API; a browser would send them one by one.
"""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, refused_form
from cairn.api.console.guard import Visitor, changing_visitor, form_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.publishing.publications import NewPublication, PublicationKind
from cairn.reports.read import ReportFilter

PUBLICATIONS = "/console/publications"
DONE = {
    "published": "Everybody who has its address may read it now.",
    "withdrawn": "Nobody reads it any more.",
}
OFFERED = 20
FIELDS = ("name",)

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(PUBLICATIONS)
def show_publications(request: Request, visitor: Reader) -> Response:
    """Show what is published, and what could be."""
    return _page(request, visitor, done=DONE.get(request.query_params.get("done", ""), ""))


@routes.post(PUBLICATIONS)
def publish(request: Request, body: Body) -> Response:
    """Publish a report or a document."""
    form = form_of(request, body)
    visitor = changing_visitor(request, form)
    try:
        visitor.services.publications.publish(visitor.principal, _new(form))
    except (Conflict, NotFound, ValidationFailed) as error:
        status = 422 if isinstance(error, ValidationFailed) else 409
        return _page(request, visitor, form=refused_form(form, error, "name"), status=status)
    return pages.go_to(f"{PUBLICATIONS}?done=published")


@routes.post(PUBLICATIONS + "/{publication_id}/withdraw")
def withdraw(request: Request, publication_id: Annotated[UUID, Path()], body: Body) -> Response:
    """Withdraw what is published."""
    visitor = changing_visitor(request, form_of(request, body))
    visitor.services.publications.withdraw(visitor.principal, publication_id)
    return pages.go_to(f"{PUBLICATIONS}?done=withdrawn")


def _new(form: dict[str, str]) -> NewPublication:
    """Return what a form asks for: its `what` is a kind, a colon and an id."""
    kind, _, id_ = form.get("what", "").partition(":")
    try:
        node_id = UUID(id_)
        chosen = PublicationKind(kind)
    except ValueError as error:
        message = "names no report and no document"
        raise ValidationFailed(
            f"The choice {message}.", errors=[FieldError("what", message)]
        ) from error
    if chosen is PublicationKind.FILES:
        raise ValidationFailed("Publish files with `cairn publish folder`.")
    return NewPublication(kind=chosen, node_id=node_id, name=form.get("name", "").strip() or None)


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    form: Form | None = None,
    status: int = 200,
) -> Response:
    services, principal = visitor.services, visitor.principal
    listed = services.publications.list(principal)
    reports = services.reports.list(principal, ReportFilter(), limit=OFFERED, after=None)
    documents = services.browse.list_documents(principal, client_id=None, limit=OFFERED, after=None)
    values: dict[str, Any] = {
        "publications": [(each, services.publications.url(each)) for each in listed],
        "reports": reports.page.items,
        "documents": documents.items,
        "host": services.publications.host(principal),
        "fields": FIELDS,
        "form": form or Form(),
        "done": done,
    }
    return shown(request, visitor, "publications.html", status=status, **values)
