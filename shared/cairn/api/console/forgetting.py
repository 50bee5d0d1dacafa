"""Forgetting a client, a person or a source: what would go, the act, and the proof. For admins.

The words that the proof looks for afterwards are those that were there before; they go with the
form and are kept nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console.guard import form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason, Step
from cairn.kernel.errors import Denied, FieldError, NotFound, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.api.console.guard import Visitor

FORGET = "/console/forget"
KINDS = ("client", "person", "source")
MAX_NAME = 2_000

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(FORGET)
def show_plan(request: Request, visitor: Reader) -> Response:
    """Ask who is to be forgotten; of somebody who is named, show what would go."""
    _require_admin(visitor)
    query = request.query_params
    if not query.get("name"):
        return _plan_page(request, visitor, query.get("kind", "client"), "")
    target, kind, name = target_of(query)
    try:
        plan = visitor.services.forget.plan(visitor.principal, target)
    except NotFound:
        return _plan_page(request, visitor, kind, name, wrong="Nobody is known by that name.")
    proof, words = visitor.services.prove.before(visitor.principal, target, plan.node_ids, ())
    return _plan_page(request, visitor, kind, name, plan=plan, proof=proof, words="\n".join(words))


def _plan_page(
    request: Request, visitor: Visitor, kind: str, name: str, *, wrong: str = "", **plan: Any
) -> Response:
    values = {"plan": None, "proof": None, "words": "", **plan}
    return shown(
        request,
        visitor,
        "forget.html",
        kind=kind,
        subject=name,
        kinds=KINDS,
        reasons=tuple(Reason),
        wrong=wrong,
        status=404 if wrong else 200,
        **values,
    )


def target_of(fields: Mapping[str, str]) -> tuple[Target, str, str]:
    """Return whom a form names; ValidationFailed for a kind there is not, or no name."""
    kind, name = fields.get("kind", ""), fields.get("name", "").strip()
    if kind not in KINDS:
        raise _wrong("kind", f"is one of {', '.join(KINDS)}")
    if not 0 < len(name) <= MAX_NAME:
        raise _wrong("name", f"has 1 to {MAX_NAME} characters")
    if kind == "source":
        return Target(source=name), kind, name
    return Target(owner=(kind, name)), kind, name


@routes.post(FORGET)
def forget(request: Request, body: Body) -> Response:
    """Forget who was named twice, and look through every store; repeated, it shows the same."""
    visitor, form = form_from(request, body)
    _require_admin(visitor)
    target, _, name = target_of(form)
    if form.get("again", "").strip() != name:
        raise _wrong("again", "is not the name above: nothing was forgotten")
    if form.get("reason") not in frozenset(Reason):
        raise _wrong("reason", f"is one of {', '.join(Reason)}")
    services, principal = visitor.services, visitor.principal
    done = services.forget(principal, target, Reason(form["reason"]))
    canaries = [line for line in form.get("words", "").splitlines() if line.strip()]
    proof = services.prove(principal, done.forgetting.id, canaries)
    return _forgotten(request, visitor, done.forgetting, proof)


@routes.get(FORGET + "/{forgetting_id}")
def show_forgetting(forgetting_id: str, request: Request, visitor: Reader) -> Response:
    """Show a forgetting, and look for what was forgotten again, by its ids."""
    _require_admin(visitor)
    try:
        id_ = UUID(forgetting_id)
    except ValueError as error:
        raise NotFound("There is no such forgetting.") from error
    row = visitor.services.forget.get(visitor.principal, id_)
    return _forgotten(request, visitor, row, visitor.services.prove(visitor.principal, id_))


def _forgotten(request: Request, visitor: Visitor, row: Any, proof: Any) -> Response:
    return shown(
        request,
        visitor,
        "forgotten.html",
        row=row,
        proof=proof,
        done=row.status == Step.DONE,
    )


def _require_admin(visitor: Visitor) -> None:
    if not visitor.is_admin:
        raise Denied("Only owners and admins forget. Ask one of them.", reason="role")


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
