"""Investigations: the list, one with its live timeline, and what whoever takes over is given.

The timeline comes as server-sent events where the server streams, and by polling elsewhere; both
send the same pieces of the page. A reader that comes back goes on after the last line it has.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anyio import to_thread
from fastapi import APIRouter, Header, Request, Response

from cairn.accounts.sessions import principal_of
from cairn.api import streams
from cairn.api.answers import answer
from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_of, refused_deed
from cairn.api.console.guard import (
    Visitor,
    changing_visitor,
    cookie_name,
    form_from,
    form_of,
    id_of,
    require_own_host,
)
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.console.timelines import Part, Timelines, followed
from cairn.api.console.timelines import Reader as TimelineReader
from cairn.api.options import ApiOptions, OpenStreams
from cairn.api.routes.investigations import DisputeIn, RatingIn
from cairn.investigations.ports import ApprovalState
from cairn.investigations.state import State
from cairn.kernel.errors import Conflict, Denied, NotFound, ValidationFailed
from cairn.kernel.ids import derived_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.ports import Progress
    from cairn.investigations.views import HandOff

INVESTIGATIONS = "/console/investigations"
SHOWN, LINES = 25, 200
MOST_OPEN = 500
"""Timelines that a process streams at once; who comes later polls."""

DONE = {
    "rating": "Your word counts. What you rate with 4 or 5 may be learned from, under Review.",
    "dispute": "Your word counts: nothing is learned from it.",
    "resume": "It goes on; lines come as it works.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(INVESTIGATIONS)
def show_investigations(
    request: Request, visitor: Reader, state: str = "all", before: str | None = None
) -> Response:
    """Show investigations, the newest first."""
    investigations = visitor.services.investigations.page(
        visitor.principal,
        state=None if state == "all" else pages.choice(State, state),
        ticket_id=None,
        before=id_of(before) if before else None,
        limit=SHOWN + 1,
    )
    return shown(
        request,
        visitor,
        "investigations.html",
        investigations=investigations[:SHOWN],
        older=investigations[SHOWN - 1].id if len(investigations) > SHOWN else None,
        state=state,
        states=["all", *(each.value for each in State)],
        resumed=number_of(request.query_params.get("resumed", "")),
    )


@routes.post(INVESTIGATIONS + "/resume")
def resume_all(request: Request, body: Body) -> Response:
    """Let all go on that lost their execution."""
    visitor, _ = form_from(request, body)
    resumed = visitor.services.resume.stale(visitor.principal)
    return pages.go_to(f"{INVESTIGATIONS}?resumed={len(resumed)}")


@routes.get(INVESTIGATIONS + "/{investigation_id}")
def show_investigation(request: Request, visitor: Reader, investigation_id: str) -> Response:
    """Show an investigation with the lines it has so far; later ones follow by themselves."""
    return _investigation(request, visitor, id_of(investigation_id))


def _investigation(
    request: Request,
    visitor: Visitor,
    id_: UUID,
    *,
    wrong: str = "",
    form: Form | None = None,
    status: int = 200,
) -> Response:
    names = visitor.services.people.name_of
    return shown(
        request,
        visitor,
        "investigation.html",
        status=status,
        wrong=wrong,
        form=form or Form(),
        done=DONE.get(request.query_params.get("done", ""), ""),
        opinions=[
            (each, names(visitor.principal, each.principal_id) or "A key")
            for each in visitor.services.opinions.of(visitor.principal, id_)
        ],
        polls="aws.event" in request.scope,
        **_news(visitor, id_, after=0),
    )


@routes.post(INVESTIGATIONS + "/{investigation_id}/{deed}")
def do_to_investigation(request: Request, body: Body, investigation_id: str, deed: str) -> Response:
    """Rate how it ended, dispute it, or let it go on where its execution was lost."""
    (visitor, form), id_ = form_from(request, body), id_of(investigation_id)
    if deed not in _DEEDS:
        raise NotFound("There is no such deed.")
    try:
        _DEEDS[deed](visitor, id_, form)
    except ValidationFailed as error:
        return _investigation(request, visitor, id_, **refused_deed(form, error, "rating"))
    except Conflict as error:
        return _investigation(request, visitor, id_, form=Form(values=form), **pages.refusal(error))
    return pages.go_to(f"{INVESTIGATIONS}/{id_}?done={deed}")


def _rate(visitor: Visitor, id_: UUID, form: Mapping[str, str]) -> None:
    rating, comment = number_of(form.get("rating", "")), form.get("comment", "").strip()
    body = checked(RatingIn, {"rating": rating, "comment": comment})
    visitor.services.opinions.rate(visitor.principal, id_, rating=body.rating, comment=body.comment)


def _dispute(visitor: Visitor, id_: UUID, form: Mapping[str, str]) -> None:
    body = checked(DisputeIn, {"reason": form.get("reason", "").strip()})
    visitor.services.opinions.dispute(visitor.principal, id_, reason=body.reason)


def _resume(visitor: Visitor, id_: UUID, _: Mapping[str, str]) -> None:
    visitor.services.resume.one(visitor.principal, id_)


_DEEDS: Mapping[str, Callable[[Visitor, UUID, Mapping[str, str]], None]] = {
    "rating": _rate,
    "dispute": _dispute,
    "resume": _resume,
}


@routes.get(INVESTIGATIONS + "/{investigation_id}/lines")
def poll_lines(
    request: Request, visitor: Reader, investigation_id: str, after: str = "0"
) -> Response:
    """Return what is new after a line, for pages that poll."""
    id_, seen = id_of(investigation_id), streams.last_seen(after, None)
    progress = _progress(visitor, [id_]).get(id_)
    if progress is None:
        raise NotFound("There is no such investigation.")
    if progress.seq <= seen and progress.ended_at is None and seen:
        return Response(status_code=204, headers=pages.HEADERS)
    return shown(request, visitor, "lines.html", polls=True, **_news(visitor, id_, after=seen))


@routes.get(INVESTIGATIONS + "/{investigation_id}/live")
async def follow(
    request: Request,
    visitor: Reader,
    investigation_id: str,
    last_event_id: str | None = Header(default=None),
    after: str = "0",
) -> Response:
    """Stream what is new after the last line the page has, until the investigation ends."""
    id_ = id_of(investigation_id)
    streams.require_stream(request, "reload the page", reason="poll-steps")
    seen = streams.last_seen(last_event_id or after, None)
    options = cast("ApiOptions", request.app.state.options)
    timelines, open_streams = _live(request)
    open_streams.check()
    await to_thread.run_sync(visitor.services.investigations.glance, visitor.principal, id_)
    reader = TimelineReader(
        workspace_id=visitor.principal.workspace_id,
        investigation_id=id_,
        look=partial(_progress, visitor),
        write=partial(_written, visitor, id_),
        admit=partial(readmitted, request, visitor),
    )
    return streams.streaming(followed(timelines, reader, options.pace, seen), open_streams)


def _live(request: Request) -> tuple[Timelines, OpenStreams]:
    """Return what the process has of open timelines; made with the first one."""
    state = request.app.state
    if not hasattr(state, "timelines"):
        state.timelines = Timelines(), OpenStreams(most=MOST_OPEN)
    return state.timelines


def _progress(visitor: Visitor, ids: Sequence[UUID]) -> Mapping[UUID, Progress]:
    return visitor.services.investigations.progress(visitor.principal, ids)


def readmitted(request: Request, visitor: Visitor) -> None:
    """Raise when the session is over, or opens something else by now."""
    require_own_host(request)
    session = visitor.services.sessions.admit(request.cookies.get(cookie_name(request), ""))
    if principal_of(session) != visitor.principal:
        raise Denied("Your rights have changed; reload the page.", reason="role")


def _written(visitor: Visitor, id_: UUID, after: int) -> Part:
    """Return the new lines and the summary as the page has them; the same for every reader."""
    news = _news(visitor, id_, after=after)
    html = pages.fragment("lines.html", polls=False, **news)
    return Part(html=html, last=news["steps"].after)


def _news(visitor: Visitor, id_: UUID, *, after: int) -> dict[str, Any]:
    browse = visitor.services.investigations
    investigation, steps = browse.look(visitor.principal, id_, after=after, limit=LINES)
    detail = browse.show(visitor.principal, id_)
    waiting = [each for each in detail.approvals if each.state is ApprovalState.PENDING]
    return {
        "investigation": investigation,
        "steps": steps,
        "detail": detail,
        "waiting": waiting,
        "call": visitor.services.escalations.of(visitor.principal, id_),
    }


# What whoever takes over is given


@routes.get(INVESTIGATIONS + "/{investigation_id}/hand-off")
def show_hand_off(request: Request, visitor: Reader, investigation_id: str) -> Response:
    """Show why a person was called, and everything they need to go on."""
    hand_off = _hand_off(visitor, investigation_id)
    return shown(request, visitor, "hand_off.html", hand_off=hand_off, wrong="")


@routes.get(INVESTIGATIONS + "/{investigation_id}/hand-off.json")
def get_bundle(visitor: Reader, investigation_id: str) -> Response:
    """Return the bundle as a file."""
    response = answer(_hand_off(visitor, investigation_id))
    response.headers.update(pages.HEADERS)
    response.headers["content-disposition"] = (
        f'attachment; filename="hand-off-{id_of(investigation_id)}.json"'
    )
    return response


@routes.post(INVESTIGATIONS + "/{investigation_id}/hand-off/retry")
def retry_call(request: Request, body: Body, investigation_id: str) -> Response:
    """Call the person again."""
    form = form_of(request, body)
    visitor, id_ = changing_visitor(request, form), id_of(investigation_id)
    try:
        visitor.services.escalations.retry(visitor.principal, derived_id(id_, "escalation"))
    except (Conflict, ValidationFailed) as error:
        return shown(
            request,
            visitor,
            "hand_off.html",
            status=409,
            hand_off=_hand_off(visitor, investigation_id),
            wrong=error.detail,
        )
    return pages.go_to(f"{INVESTIGATIONS}/{id_}/hand-off")


def _hand_off(visitor: Visitor, investigation_id: str) -> HandOff:
    escalation_id = derived_id(id_of(investigation_id), "escalation")
    return visitor.services.escalations.show(visitor.principal, escalation_id)
