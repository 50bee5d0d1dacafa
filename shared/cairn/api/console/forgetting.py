"""Forgetting a client, a person or a source: what would go, each step, the proof. For admins.

Once it is begun the page asks for one step after the other. Nobody has to stay: what is begun is
finished by the hourly sweep.

The words that the proof looks for afterwards are those that were there before; they go with the
form and are kept nowhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from cairn.api.console.guard import form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason, Step
from cairn.kernel.errors import Denied, FieldError, NotFound, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.api.console.guard import Visitor
    from cairn.forgetting.ports import Forgetting

FORGET = "/console/forget"
KINDS = ("client", "person", "source")
MAX_NAME = 2_000
STEPS = (
    "Nothing more is written of them",
    "A signed tombstone says so: ids, a position and a time, no names",
    "Their key is destroyed: what the ledger holds of them cannot be read",
    "Every row of them is erased",
    "What remains is made anew, and what they uploaded is gone",
    "Every store is looked through, for the ids and the words",
)
"""What a page says of each step (`Step`), and of the proof after them."""

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
    """Begin to forget who was named twice; the page goes on. Repeated, it shows how far it is."""
    visitor, form = form_from(request, body)
    _require_admin(visitor)
    target, _, name = target_of(form)
    if form.get("again", "").strip() != name:
        raise _wrong("again", "is not the name above: nothing was forgotten")
    if form.get("reason") not in frozenset(Reason):
        raise _wrong("reason", f"is one of {', '.join(Reason)}")
    row = visitor.services.forget.begin(visitor.principal, target, Reason(form["reason"]))
    return _page(request, visitor, row, words=form.get("words", ""))


@routes.get(FORGET + "/{forgetting_id}")
def show_forgetting(forgetting_id: str, request: Request, visitor: Reader) -> Response:
    """Show how far a forgetting is; of one that is done, look for what it forgot by the ids."""
    _require_admin(visitor)
    row = visitor.services.forget.get(visitor.principal, id_of(forgetting_id))
    if row.status == Step.DONE:
        return _proven(request, visitor, row)
    return _page(request, visitor, row, follows=True)


@routes.post(FORGET + "/{forgetting_id}/next")
def go_on(forgetting_id: str, request: Request, body: Body) -> Response:
    """Do the next step, then look through every store; without scripts all that is left."""
    visitor, form = form_from(request, body)
    _require_admin(visitor)
    forgets, who, words = visitor.services.forget, visitor.principal, form.get("words", "")
    row = forgets.get(who, id_of(forgetting_id))
    if row.status == Step.DONE:
        return _proven(request, visitor, row, words)
    by_script = "hx-request" in request.headers
    row = forgets.go_on(who, row.id) if by_script else forgets.resume(row)
    if row.status == Step.DONE and not by_script:
        return _proven(request, visitor, row, words)
    return _page(request, visitor, row, words=words)


def _proven(request: Request, visitor: Visitor, row: Forgetting, words: str = "") -> Response:
    canaries = [line for line in words.splitlines() if line.strip()]
    proof = visitor.services.prove(visitor.principal, row.id, canaries)
    return shown(request, visitor, "forgotten.html", row=row, proof=proof)


def _page(
    request: Request, visitor: Visitor, row: Forgetting, *, words: str = "", follows: bool = False
) -> Response:
    """Return how far a forgetting is; the page does the rest, or `follows` whoever else does."""
    reached = list(Step).index(Step(row.status))
    return shown(
        request,
        visitor,
        "forgetting.html",
        row=row,
        steps=[(text, number <= reached) for number, text in enumerate(STEPS)],
        words=words,
        follows=follows,
        path=f"{FORGET}/{row.id}",
    )


def _require_admin(visitor: Visitor) -> None:
    if not visitor.is_admin:
        raise Denied("Only owners and admins forget. Ask one of them.", reason="role")


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
