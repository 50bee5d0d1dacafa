"""Chats that go to people: the inbox, and one chat live with its reply box.

What is said comes as server-sent events where the server streams, and by polling elsewhere, as the
timelines of investigations do. Forms are made with the page: what somebody types stays.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio import to_thread
from fastapi import APIRouter, Header, Request, Response

from cairn.api import streams
from cairn.api.console import pages
from cairn.api.console.guard import Visitor, changing_visitor, form_of, id_of
from cairn.api.console.investigations import readmitted
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.console.timelines import event
from cairn.api.options import ApiOptions, OpenStreams
from cairn.chat.handoff import OPEN, HandOffState
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from uuid import UUID

    from cairn.api.options import Pace

CHATS = "/console/chats"
SHOWN = 25
MOST_OPEN = 200

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(CHATS)
def show_chats(
    request: Request, visitor: Reader, state: str = "pending", before: str | None = None
) -> Response:
    """Show who waits for a person, whom one answers, and what the agent answers."""
    browse = visitor.services.browse_chats
    chosen = pages.choice_or_all(HandOffState, state)
    after = id_of(before) if before else None
    chats = browse.page(visitor.principal, state=chosen, before=after, limit=SHOWN + 1)
    return shown(
        request,
        visitor,
        "chats.html",
        **pages.cut("chats", chats, SHOWN),
        numbers=browse.numbers(visitor.principal),
        live=browse.live(visitor.principal, SHOWN),
        state=state,
        states=pages.choices(HandOffState, "pending"),
    )


@routes.post(CHATS)
def take_chat(request: Request, body: Body) -> Response:
    """Take a chat over from the agent."""
    form = form_of(request, body)
    visitor = changing_visitor(request, form)
    row = visitor.services.hand_offs.take(visitor.principal, id_of(form.get("turn", "")))
    return pages.go_to(f"{CHATS}/{row.id}")


@routes.get(CHATS + "/{chat_id}")
def show_chat(request: Request, visitor: Reader, chat_id: str) -> Response:
    """Show a chat with all that whoever takes it over needs; what is said follows by itself."""
    return _chat(request, visitor, id_of(chat_id))


def _chat(
    request: Request, visitor: Visitor, id_: UUID, *, text: str = "", **values: Any
) -> Response:
    chat = _look(visitor, id_)
    return shown(
        request,
        visitor,
        "chat.html",
        chat=chat,
        own=chat.operator_id == visitor.principal.principal_id,
        after=chat.lines,
        text=text,
        line=new_id(),
        polls="aws.event" in request.scope,
        **{"wrong": "", **values},
    )


@routes.post(CHATS + "/{chat_id}/{deed}")
def do_with_chat(request: Request, body: Body, chat_id: str, deed: str) -> Response:
    """Accept a chat, say something, leave it, give it back, close it, make a ticket of it."""
    form = form_of(request, body)
    visitor, id_ = changing_visitor(request, form), id_of(chat_id)
    hand_offs, who = visitor.services.hand_offs, visitor.principal
    text = form.get("text", "").replace("\r\n", "\n")
    deeds: dict[str, Any] = {
        "accept": partial(hand_offs.accept, who, id_, take_over="take_over" in form),
        "say": partial(hand_offs.say, who, id_, text, line_id=_line_of(form)),
        "release": partial(hand_offs.release, who, id_),
        "return": partial(hand_offs.give_back, who, id_),
        "close": partial(hand_offs.close, who, id_, text),
        "ticket": partial(hand_offs.to_ticket, who, id_),
    }
    try:
        if deed not in deeds:
            raise NotFound("There is no such page.")
        deeds[deed]()
    except (Conflict, ValidationFailed) as error:
        return _chat(request, visitor, id_, text=text[:4_000], **pages.refusal(error))
    return pages.go_to(f"{CHATS}/{id_}")


def _line_of(form: dict[str, str]) -> UUID | None:
    return id_of(form["line"]) if form.get("line") else None


@routes.get(CHATS + "/{chat_id}/lines")
def poll_lines(request: Request, visitor: Reader, chat_id: str, after: str = "0") -> Response:
    """Return what was said after a line, for pages that poll."""
    id_, seen = id_of(chat_id), streams.last_seen(after, None)
    chat = _look(visitor, id_)
    if chat.lines <= seen and chat.state in OPEN:
        return Response(status_code=204, headers=pages.HEADERS)
    return shown(request, visitor, "chat_lines.html", polls=True, **_news(chat, seen))


@routes.get(CHATS + "/{chat_id}/live")
async def follow(
    request: Request,
    visitor: Reader,
    chat_id: str,
    last_event_id: str | None = Header(default=None),
    after: str = "0",
) -> Response:
    """Stream what is said after the last line that the page has, until the chat is over."""
    id_ = id_of(chat_id)
    streams.require_stream(request, "reload the page", reason="poll-steps")
    seen = streams.last_seen(last_event_id or after, None)
    options = cast("ApiOptions", request.app.state.options)
    places = _places(request)
    places.check()
    await to_thread.run_sync(_look, visitor, id_)
    return streams.streaming(_followed(request, visitor, id_, seen, options.pace), places)


def _places(request: Request) -> OpenStreams:
    state = request.app.state
    if not hasattr(state, "open_chats"):
        state.open_chats = OpenStreams(most=MOST_OPEN)
    return state.open_chats


async def _followed(
    request: Request, visitor: Visitor, id_: UUID, after: int, pace: Pace
) -> AsyncIterator[bytes]:
    """Yield what is new of a chat as pieces of its page, until it is over or the time is up."""
    began = beat = admitted = anyio.current_time()
    while (now := anyio.current_time()) - began < pace.longest:
        if now - admitted >= pace.admission:
            await to_thread.run_sync(readmitted, request, visitor)
            admitted = now
        part = await to_thread.run_sync(_part, visitor, id_, after)
        if part is not None:
            html, after, over = part
            yield event("lines", html, id_=after)
            beat = now
            if over:
                yield event("end", b"ended")
                return
        elif now - beat >= pace.heartbeat:
            beat = now
            yield streams.HEARTBEAT
        await anyio.sleep(pace.look)


def _part(visitor: Visitor, id_: UUID, after: int) -> tuple[bytes, int, bool] | None:
    """Return what is new after a line, the last line in it, and whether it is over."""
    row = visitor.services.hand_offs.find(visitor.principal, id_)
    over = row.state not in OPEN
    if row.seq <= after and not over:
        return None
    chat = visitor.services.browse_chats.show(row)
    html = pages.fragment("chat_lines.html", polls=False, **_news(chat, after))
    return html, chat.lines, over


def _look(visitor: Visitor, id_: UUID) -> Any:
    return visitor.services.browse_chats.show(
        visitor.services.hand_offs.find(visitor.principal, id_)
    )


def _news(chat: Any, after: int) -> dict[str, Any]:
    lines = [each for each in chat.transcript if each.seq is not None and each.seq > after]
    return {"chat": chat, "lines": lines, "after": chat.lines}
