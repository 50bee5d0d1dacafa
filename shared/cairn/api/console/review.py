"""Review: resolutions that may become documents, what is proposed, lines worth remembering.

Not what is proposed, nor when: `investigations.people` does that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.discovery.matching.rows import OpportunityState
from cairn.investigations.people.proposing import LABELS
from cairn.investigations.ports import CandidateState
from cairn.kernel.access import Scope
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any
    from uuid import UUID

REVIEW, RESOLUTIONS = "/console/review", "/console/review/resolutions"
PROPOSALS = "/console/review/proposals"
LINE = "/console/investigations/{investigation_id}/lines/{seq}"
SHOWN = 25

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(REVIEW)
def show_review(
    request: Request, visitor: Reader, state: str = "staged", before: str | None = None
) -> Response:
    """Show what waits to be learned."""
    return _review(request, visitor, state=state, before=before)


def _review(
    request: Request,
    visitor: Visitor,
    *,
    state: str = "staged",
    before: str | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    services = visitor.services
    candidates = services.candidates.page(
        visitor.principal,
        state=pages.choice_or_all(CandidateState, state),
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return shown(
        request,
        visitor,
        "review.html",
        status=status,
        **pages.cut("candidates", candidates, SHOWN),
        proposals=services.proposals.page(visitor.principal, limit=SHOWN),
        remembered=services.proposals.remembered(visitor.principal, limit=SHOWN),
        **_meetings(visitor),
        state=state,
        states=pages.choices(CandidateState, "staged"),
        wrong=wrong,
    )


def _meetings(visitor: Visitor) -> dict[str, Any]:
    """Return what the discovery network proposes to the visitor, who sees their own alone."""
    member = visitor.services.ties.member(visitor.principal)
    if member is None:
        return {"member": None, "meetings": ()}
    states = (OpportunityState.DRAFT, OpportunityState.PENDING)
    rows = visitor.services.opportunities.page(member, states=states, before=None, limit=SHOWN)
    return {"member": member.client_id, "meetings": [each for each in rows if each.can]}


@routes.get(RESOLUTIONS + "/{candidate_id}")
def show_resolution(request: Request, visitor: Reader, candidate_id: str) -> Response:
    """Show a resolution whole, to accept, edit or reject it."""
    return _resolution(request, visitor, id_of(candidate_id), {})


@routes.post(RESOLUTIONS + "/{candidate_id}/{decision}")
def decide(request: Request, body: Body, candidate_id: str, decision: str) -> Response:
    """Accept, edit or reject a resolution; what was typed stays where it is refused."""
    (visitor, form), id_ = form_from(request, body), id_of(candidate_id)
    if decision not in ("accept", "edit", "reject"):
        raise NotFound("There is no such decision.")
    try:
        _DECISIONS[decision](visitor, id_, form)
    except (Conflict, ValidationFailed) as error:
        return _resolution(request, visitor, id_, form, **pages.refusal(error))
    return pages.go_to(f"{RESOLUTIONS}/{id_}")


def _resolution(
    request: Request,
    visitor: Visitor,
    id_: UUID,
    form: Mapping[str, str],
    *,
    wrong: str = "",
    status: int = 200,
) -> Response:
    return shown(
        request,
        visitor,
        "resolution.html",
        status=status,
        candidate=visitor.services.candidates.show(visitor.principal, id_),
        scopes=[each.value for each in (Scope.ADMIN, Scope.SHARED, Scope.PUBLIC)],
        form=form,
        wrong=wrong,
    )


def _accept(visitor: Visitor, id_: UUID, form: Mapping[str, str]) -> None:
    scope = pages.choice(Scope, form.get("scope", Scope.ADMIN.value))
    visitor.services.candidates.accept(visitor.principal, id_, scope=scope)


def _edit(visitor: Visitor, id_: UUID, form: Mapping[str, str]) -> None:
    title, text = form.get("title", "").strip(), form.get("text", "").replace("\r\n", "\n").strip()
    if not title or not text:
        raise ValidationFailed("It needs a title and a text; reject it if it says nothing.")
    visitor.services.candidates.edit(visitor.principal, id_, title=title, text=text)


def _reject(visitor: Visitor, id_: UUID, form: Mapping[str, str]) -> None:
    reason = form.get("reason", "").strip()
    if not reason:
        raise ValidationFailed("Say why it is not to be learned.")
    visitor.services.candidates.reject(visitor.principal, id_, reason=reason)


_DECISIONS = {"accept": _accept, "edit": _edit, "reject": _reject}


@routes.post(PROPOSALS + "/{node_id}/{decision}")
def decide_proposal(request: Request, body: Body, node_id: str, decision: str) -> Response:
    """Let a proposed node count, or archive it."""
    (visitor, _), id_ = form_from(request, body), id_of(node_id)
    if decision not in ("accept", "reject"):
        raise NotFound("There is no such decision.")
    proposals = visitor.services.proposals
    try:
        (proposals.accept if decision == "accept" else proposals.reject)(visitor.principal, id_)
    except Conflict as error:
        return _review(request, visitor, **pages.refusal(error))
    return pages.go_to(REVIEW)


# A line of a timeline that is worth remembering


@routes.get(LINE)
def show_line(request: Request, visitor: Reader, investigation_id: str, seq: str) -> Response:
    """Show a line, to remember what it says or what one writes instead."""
    return _line(request, visitor, id_of(investigation_id), _seq(seq), {})


@routes.post(LINE)
def remember_line(request: Request, body: Body, investigation_id: str, seq: str) -> Response:
    """Make a line of a timeline a node that planners are shown."""
    (visitor, form), id_, number = form_from(request, body), id_of(investigation_id), _seq(seq)
    try:
        label, text = form.get("label", "fact"), form.get("text", "").replace("\r\n", "\n").strip()
        if label not in LABELS:
            raise ValidationFailed(f"Remember it as one of {', '.join(LABELS)}.")
        memory = visitor.services.remember_step(
            visitor.principal, id_, number, label=label, text=text or None
        )
    except (Conflict, ValidationFailed) as error:
        return _line(request, visitor, id_, number, form, wrong=error.detail, status=422)
    return pages.go_to(f"/console/cited?citation=%5Bmemory%3A{memory.node_id}%5D")


def _seq(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text)):
        raise NotFound("The investigation has no such line.")
    return int(text)


def _line(
    request: Request,
    visitor: Visitor,
    id_: UUID,
    seq: int,
    form: Mapping[str, str],
    *,
    wrong: str = "",
    status: int = 200,
) -> Response:
    steps = visitor.services.investigations.steps(visitor.principal, id_, after=seq - 1, limit=1)
    step = next((each for each in steps.items if each.seq == seq), None)
    if step is None:
        raise NotFound("The investigation has no such line.")
    return shown(
        request,
        visitor,
        "remember.html",
        status=status,
        step=step,
        investigation_id=id_,
        labels=LABELS,
        form=form,
        wrong=wrong,
    )
