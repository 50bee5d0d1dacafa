"""A member's own intents: said, seen how they were understood, changed, paused, archived."""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.discovery.acting import OWN, member_of, of_member
from cairn.api.console.forms import Form, refused_deed
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader
from cairn.discovery.intents.intents import IntentChange, Submission
from cairn.discovery.intents.reading import Source
from cairn.discovery.intents.rows import IntentState
from cairn.discovery.intents.views import IntentsSubmitted
from cairn.kernel.access import Principal
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed

INTENTS = OWN + "/intents"
SHOWN = 25
DONE = {
    "changed": "The intent says so now.",
    "pause": "It is looked for no longer, and shown to nobody.",
    "resume": "It is looked for again.",
    "refresh": "It lasts for 90 days from now.",
    "archive": "It is archived: it has left its networks.",
    "update": "It was a change of the other one, which says so now.",
    "create": "Both stay.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(INTENTS)
def show_intents(
    request: Request, visitor: Reader, state: str = "all", before: str | None = None
) -> Response:
    """Show the member's intents, the newest first."""
    return _intents(request, visitor, member_of(visitor), state=state, before=before)


@routes.post(INTENTS)
def say(request: Request, body: Body) -> Response:
    """Read a text for intents, and show what each sentence came to."""
    visitor, form = form_from(request, body)
    member = member_of(visitor)
    text = form.get("text", "").replace("\r\n", "\n").strip()
    submission = Submission(source=Source(text=text or None))
    use = visitor.services.intents
    try:
        said_so = (
            use.propose(member, submission)
            if form.get("mode") == "propose"
            else use.submit(member, submission)
        )
    except (Conflict, ValidationFailed) as error:
        return _intents(request, visitor, member, **refused_deed(form, error, "text"))
    typed = Form(values=form) if said_so.mode == "propose" else None
    return _intents(request, visitor, member, submitted=said_so, form=typed)


@routes.post(INTENTS + "/{intent_id}/change")
def change(request: Request, body: Body, intent_id: str) -> Response:
    """Let an intent say something else; another matter ends it and begins another."""
    (visitor, form), id_ = form_from(request, body), id_of(intent_id)
    member = member_of(visitor)
    changed = IntentChange(description=form.get("description", "").strip())
    try:
        visitor.services.intents.update(member, id_, changed)
    except (Conflict, ValidationFailed) as error:
        return _intents(request, visitor, member, **refused_deed(form, error, "description"))
    return pages.go_to(f"{INTENTS}?done=changed")


@routes.post(INTENTS + "/{intent_id}/{deed}")
def move(request: Request, body: Body, intent_id: str, deed: str) -> Response:
    """Pause, resume, refresh or archive an intent, or settle whether it is a change."""
    (visitor, form), id_ = form_from(request, body), id_of(intent_id)
    member = member_of(visitor)
    try:
        _move(visitor, member, id_, deed)
    except (Conflict, ValidationFailed) as error:
        return _intents(request, visitor, member, **refused_deed(form, error, "text"))
    return pages.go_to(f"{INTENTS}?done={deed}")


def _move(visitor: Visitor, member: Principal, id_: UUID, deed: str) -> None:
    use = visitor.services.intents
    deeds = {
        "pause": use.pause, "resume": use.resume, "refresh": use.refresh, "archive": use.remove
    }  # fmt: skip
    if deed in ("update", "create"):
        use.settle(member, id_, is_change=deed == "update")
    elif deed in deeds:
        deeds[deed](member, id_)
    else:
        raise NotFound("There is no such deed.")


def _intents(
    request: Request,
    visitor: Visitor,
    member: Principal,
    *,
    state: str = "all",
    before: str | None = None,
    submitted: IntentsSubmitted | None = None,
    form: Form | None = None,
    status: int = 200,
) -> Response:
    chosen = pages.choice_or_all(IntentState, state)
    rows = visitor.services.intents.page(
        member,
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
        states=None if chosen is None else (chosen,),
    )
    values: dict[str, Any] = pages.cut("intents", rows, SHOWN)
    return of_member(
        request,
        visitor,
        "intents.html",
        member,
        status=status,
        **values,
        state=state,
        states=pages.choices(IntentState),
        submitted=submitted,
        form=form or Form(),
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
