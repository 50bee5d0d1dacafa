"""Taints: what is held back because it is not trusted, and why; hold back more, and let it out.

For owners and admins. What would go is shown before it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_of, refused_deed, wrong_field
from cairn.api.console.guard import form_from, id_of, require_meant
from cairn.api.console.ledger import LEDGER, PER_PAGE, require_admin, section
from cairn.api.console.routes import Body, ConsoleRoute, Reader
from cairn.api.routes.maintenance import TARGETS, TaintIn
from cairn.graph.projection import TaintKind
from cairn.kernel.errors import NotFound, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.api.console.guard import Visitor

TAINTS = f"{LEDGER}/taints"
FIELDS = ("kind", "value", "reason")
DONE = {
    "held": "It is held back, and so is what comes under it from now on.",
    "more": "A part is held back. There is more: let it go on.",
    "lifted": "It is lifted. What nothing else holds is back in recall.",
    "lifting": "A part is back in recall. There is more: lift it again.",
}
routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(TAINTS)
def show_taints(request: Request, visitor: Reader) -> Response:
    """List what is or was held out of recall, and ask what else is to be."""
    query = request.query_params
    chosen = {name: query[name] for name in ("kind", "value") if query.get(name)}
    return _list(request, visitor, form=Form(values=chosen))


@routes.post(TAINTS)
def hold(request: Request, body: Body) -> Response:
    """Show what would be held back and who has used it, or hold it back."""
    visitor, form = form_from(request, body)
    require_admin(visitor)
    try:
        new = _taint_of(form)
        done = visitor.services.taints.apply(visitor.principal, new.new(), dry_run=new.dry_run)
    except NotFound:
        error = wrong_field("value", "names nothing that is here")
        return _list(request, visitor, **refused_deed(form, error, "value"))
    except ValidationFailed as error:
        return _list(request, visitor, **refused_deed(form, error, "value"))
    if done.taint_id is None:
        return _list(request, visitor, form=Form(values=form), preview=done)
    outcome = {"done": "held" if done.complete else "more", "n": done.held}
    return pages.go_to(f"{TAINTS}/{done.taint_id}?{urlencode(outcome)}")


def _taint_of(form: Mapping[str, str]) -> TaintIn:
    """Return what a form holds back; ValidationFailed names the field."""
    kind = pages.choice(TaintKind, form.get("kind", ""))
    values: dict[str, Any] = {
        kind.value: form.get("value", "").strip(),
        "reason": form.get("reason", "").strip(),
        "causes": form.get("causes") == "yes",
        "dry_run": form.get("hold") != "yes",
    }
    try:
        return checked(TaintIn, values)
    except ValidationFailed as error:
        first = error.errors[0]
        field = "value" if first.location in TARGETS else first.location
        raise wrong_field(field, first.message) from error


@routes.get(TAINTS + "/{taint_id}")
def show_taint(taint_id: str, request: Request, visitor: Reader) -> Response:
    """Show one: what it holds, and which actions and searches have used that."""
    require_admin(visitor)
    report = visitor.services.taints.get(visitor.principal, id_of(taint_id))
    query = request.query_params
    done = query.get("done", "")
    return section(
        request,
        visitor,
        "taint.html",
        "taints",
        each=report.taint,
        actions=report.actions,
        searches=report.searches,
        done=DONE.get(done, ""),
        more=done == "more" and report.taint.lifted_position is None,
        number=number_of(query.get("n", "")),
        here=f"{TAINTS}/{report.taint.id}",
    )


@routes.post(TAINTS + "/{taint_id}/lift")
def lift(taint_id: str, request: Request, body: Body) -> Response:
    """Let out what it holds; that is meant."""
    visitor, form = form_from(request, body)
    require_admin(visitor)
    require_meant(form)
    done = visitor.services.taints.lift(visitor.principal, id_of(taint_id))
    outcome = {"done": "lifted" if done.complete else "lifting", "n": done.restored}
    return pages.go_to(f"{TAINTS}/{done.taint_id}?{urlencode(outcome)}")


def _list(
    request: Request, visitor: Visitor, *, form: Form, preview: Any = None, status: int = 200
) -> Response:
    require_admin(visitor)
    after = number_of(request.query_params.get("after", ""))
    page = visitor.services.taints.page(visitor.principal, limit=PER_PAGE, after=after)
    return section(
        request,
        visitor,
        "ledger_taints.html",
        "taints",
        status=status,
        taints=page.items,
        older=None if page.next_after is None else f"{TAINTS}?after={page.next_after}",
        kinds=[each.value for each in TaintKind],
        form=form,
        fields=FIELDS,
        preview=preview,
    )
