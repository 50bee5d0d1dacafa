"""The page of upkeep: consolidation, vectors and the rows held to the ledger, run and followed.

Each of them runs elsewhere; the page says how far it is. What is planned only is shown at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, refused_deed, wrong_field
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.access import Role
from cairn.kernel.errors import BudgetExceeded, Conflict, NotFound, Unavailable, ValidationFailed
from cairn.rebuild.runs import RUNNING

if TYPE_CHECKING:
    from cairn.rebuild.runs import RebuildView

UPKEEP = "/console/upkeep"
SHOWN = 10
MOST_PARTS = 100
"""Parts of a workspace that one press of the button queues; the next goes on."""

FIELDS = ("client_id",)
DONE = {
    "consolidate": "It waits for its machine, and stands below as it goes on.",
    "reindex": "They are queued, and get their vectors in a moment.",
    "more": "A part is queued. There are more: press again.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(UPKEEP)
def show_upkeep(request: Request, visitor: Reader) -> Response:
    """Show the runs of the consolidation, what has no vector, and how a rebuild goes."""
    return _page(request, visitor)


@routes.post(UPKEEP + "/consolidate")
def consolidate(request: Request, body: Body) -> Response:
    """Consolidate memories now, or plan it and change nothing."""
    visitor, form = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    client = form.get("client_id", "").strip() or None
    services, who = visitor.services, visitor.principal
    try:
        if form.get("plan") == "yes":
            preview = services.preview_consolidation(who, client_id=client)
            return _page(request, visitor, preview=preview, form=Form(values=form))
        services.start_consolidation(who, client_id=client)
    except NotFound:
        nobody = wrong_field("client_id", "is nobody's; memories name their client")
        return _page(request, visitor, **refused_deed(form, nobody, "client_id"))
    except (BudgetExceeded, Unavailable) as error:
        refused = wrong_field("client_id", error.detail)
        return _page(request, visitor, **refused_deed(form, refused, "client_id"))
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, **refused_deed(form, error, "client_id"))
    return pages.go_to(f"{UPKEEP}?done=consolidate")


@routes.post(UPKEEP + "/reindex")
def reindex(request: Request, body: Body) -> Response:
    """Queue what has no vector of the present model."""
    visitor, _ = form_from(request, body)
    after, more = None, True
    for _ in range(MOST_PARTS):
        part = visitor.services.reindex(visitor.principal, after=after)
        after, more = part.after, part.more
        if not more:
            break
    return pages.go_to(f"{UPKEEP}?done={'more' if more else 'reindex'}")


@routes.post(UPKEEP + "/rebuild")
def rebuild(request: Request, body: Body) -> Response:
    """Hold the rows to the ledger, or put those in place that it says."""
    visitor, form = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    check = form.get("mode") != "rebuild"
    if not check:
        require_meant(form)
    try:
        begun = visitor.services.start_rebuild(visitor.principal, check=check)
    except Conflict as error:
        return _page(request, visitor, **pages.refusal(error))
    return pages.go_to(f"{UPKEEP}?rebuild={begun.id}")


def _page(
    request: Request,
    visitor: Visitor,
    *,
    wrong: str = "",
    form: Form | None = None,
    preview: Any = None,
    status: int = 200,
) -> Response:
    services, who = visitor.services, visitor.principal
    who.require(Role.ADMIN)
    return shown(
        request,
        visitor,
        "upkeep.html",
        status=status,
        wrong=wrong,
        form=form or Form(),
        fields=FIELDS,
        preview=preview,
        runs=services.consolidations.page(who, before=None, limit=SHOWN),
        vectors=services.count_missing_vectors(who),
        state=services.browse.get_status(who),
        rebuild=_rebuild(request, visitor),
        running=RUNNING,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )


def _rebuild(request: Request, visitor: Visitor) -> RebuildView | None:
    """Return the rebuild that the page's address names."""
    text = request.query_params.get("rebuild")
    return visitor.services.show_rebuild(visitor.principal, id_of(text)) if text else None
