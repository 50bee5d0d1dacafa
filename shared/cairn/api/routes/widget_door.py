"""The chat widget's door: what a page of a customer asks, with no key of ours.

A page of an allowed origin opens a session and says things in it. Answers are `/v1/chat`'s; of its
events a customer is told the words and the end.
"""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from anyio import to_thread
from fastapi import Depends, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import chat_streams, streams
from cairn.api.answers import answer
from cairn.api.dependencies import Options, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Text, at_most, examples
from cairn.api.options import ApiOptions, CustomerStreams
from cairn.api.routes.widget import WidgetLook, WidgetWords
from cairn.api.routing import router
from cairn.bootstrap.api import ApiServices
from cairn.chat.handoff import OPEN, HandOffCause, HandOffState, LineBy, LineKind
from cairn.chat.rows import TurnState
from cairn.chat.turns import Ask, Counting, Turn
from cairn.chat.views import Told
from cairn.chat.widget import MOST_MESSAGE_CHARS, ChallengeKind, Widget
from cairn.chat.widget_sessions import SessionKind, SessionState, WidgetSession, count, network_of
from cairn.investigations.tracing import TraceEvent
from cairn.kernel.errors import Denied, Unauthenticated

routes = router("widget")

WidgetId = Annotated[UUID, Path(description="The widget's id, as it stands in the page.")]
TurnId = Annotated[UUID, Path(description="The id that the page gave the message.")]
After = Annotated[
    int, Query(ge=0, le=2**31 - 1, description="The number of the last line you have.")
]
MAX_HOST_TOKEN_CHARS = 8_192
MAX_ANSWER_CHARS = 2_048
SCRIPT = FilePath(__file__).parents[1] / "widget" / "widget.js"


class WidgetPage(TypedDict):
    """What a page is to show, whether a customer may be anonymous, and ask for a person."""

    theme: WidgetLook
    texts: WidgetWords
    anonymous: bool
    person: bool
    challenge: ChallengeKind
    site_key: str | None
    max_chars: int


class WidgetSessionIn(Body):
    """Who talks: whom the host's signed token names, or whoever it is."""

    model_config = examples({})

    host_token: Annotated[str, Field(min_length=1, max_length=MAX_HOST_TOKEN_CHARS)] | None = None


class WidgetSessionView(TypedDict):
    """A session as its customer sees it. `token` is in the answer that opens it, only."""

    kind: SessionKind
    state: SessionState
    messages_left: int
    challenge_due: bool
    idle_minutes: int
    token: NotRequired[str]


class WidgetMessageIn(Body):
    """What a customer says. The same `turn_id` and message again is the same turn."""

    model_config = examples({"message": "How do I reset my password?"})

    message: Annotated[Text, at_most(MOST_MESSAGE_CHARS)]
    turn_id: Annotated[UUID, Field(strict=False)] | None = None


class WidgetTurn(TypedDict):
    """What is answered; `citations` are of public documents."""

    turn_id: UUID
    state: TurnState
    answer: str | None
    citations: list[str]


class WidgetEvent(TypedDict):
    """A piece of an answer: `text_chunk`, `text_dropped`, or `turn_end` with all of it."""

    seq: int
    name: Literal["text_chunk", "text_dropped", "turn_end"]
    data: dict[str, Any]


class WidgetChunks(TypedDict):
    """Pieces of an answer after a number, the oldest first."""

    items: list[WidgetEvent]
    after: int
    ended: bool


class WidgetLine(TypedDict):
    """What was said with a person there, or what happened; `name` is the person's."""

    seq: int
    kind: LineKind
    speaker: LineBy
    name: str | None
    text: str | None
    at: datetime


class WidgetHandOffView(TypedDict):
    """Who answers a chat, and what was said after a number, the oldest first.

    Lines are numbered anew each time that a person is asked for: then `id` is another.
    """

    id: UUID
    state: HandOffState
    operator: str | None
    ticket_id: UUID | None
    lines: list[WidgetLine]
    after: int


class WidgetChallenge(TypedDict):
    """What is to be solved; null where the page asks Turnstile."""

    kind: ChallengeKind
    challenge: str | None
    bits: int


class WidgetSolutionIn(Body):
    """What solves the challenge: the number that was found, or what Turnstile said."""

    answer: Annotated[str, Field(min_length=1, max_length=MAX_ANSWER_CHARS)]


def widget_of(request: Request, services: Services, widget_id: WidgetId) -> Widget:
    """Return the widget that a page of one of its origins asks."""
    widget = getattr(request.state, "widget", None) or services.widgets.find(widget_id)
    if not widget.allows(request.headers.get("origin")):
        raise Denied("This widget is not for this page.", reason="origin")
    return widget


def session_of(
    request: Request, services: Services, widget: Annotated[Widget, Depends(widget_of)]
) -> WidgetSession:
    """Return the session of the token that came."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthenticated("Open a session first.", reason="session")
    session = services.widgets.admit(widget, token.strip())
    request.state.principal = session.principal
    return session


Asked = Annotated[Widget, Depends(widget_of)]
Session = Annotated[WidgetSession, Depends(session_of)]


@routes.get("/widget.js", include_in_schema=False)
def widget_script(request: Request) -> Response:
    """Return the script that a page loads; where it has not changed, so much as that."""
    script, tag = _script()
    headers = {
        "etag": tag,
        "cache-control": "public, max-age=300",
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
    }
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(script, media_type="text/javascript; charset=utf-8", headers=headers)


@cache
def _script() -> tuple[bytes, str]:
    script = SCRIPT.read_bytes()
    return script, f'"{hashlib.sha256(script).hexdigest()[:16]}"'


@routes.get(
    "/v1/widget/{widget_id}",
    summary="What the widget's page shows",
    response_model=None,
    responses={
        **answers(200, "Its look and its words", WidgetPage),
        **problems("denied", "not-found", public=True),
    },
)
def get_widget_page(widget: Asked) -> Response:
    """Say how the widget looks on a page of an allowed origin."""
    settings = widget.settings
    return answer(
        {
            "theme": settings.theme.model_dump(),
            "texts": settings.texts.model_dump(),
            "anonymous": settings.anonymous is not None,
            "person": settings.hand_off is not None,
            "challenge": settings.challenge,
            "site_key": settings.site_key,
            "max_chars": MOST_MESSAGE_CHARS,
        }
    )


@routes.post(
    "/v1/widget/{widget_id}/sessions",
    summary="Open a session of the widget",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The session and its token", WidgetSessionView),
        **problems(
            "unauthenticated", "denied", "not-found", "rate-limited", body=True, public=True
        ),
    },
)
def open_widget_session(
    body: WidgetSessionIn, widget: Asked, services: Services, request: Request
) -> Response:
    """Let a customer talk: anonymously, or as whom a token signed by the host names."""
    opened = services.widgets.open(widget, host_token=body.host_token, address=_address(request))
    return answer({**_session_view(opened.session), "token": opened.token}, status=201)


@routes.get(
    "/v1/widget/{widget_id}/session",
    summary="Show a session of the widget",
    response_model=None,
    responses={
        **answers(200, "How far it is", WidgetSessionView),
        **problems("unauthenticated", "denied", "not-found", public=True),
    },
)
def get_widget_session(session: Session) -> Response:
    """Show a session's state, and what may still be said in it."""
    return answer(_session_view(session))


@routes.post(
    "/v1/widget/{widget_id}/messages",
    summary="Say something to the widget",
    response_model=None,
    responses={
        **answers(200, "The answer, or its pieces", WidgetTurn, picture=streams.MEDIA_TYPE),
        **problems(
            "unauthenticated",
            "denied",
            "not-found",
            "conflict",
            "rate-limited",
            "not-streamable",
            body=True,
            public=True,
        ),
    },
)
async def say_to_widget(
    body: WidgetMessageIn, session: Session, services: Services, options: Options, request: Request
) -> Response:
    """Answer a customer; every limit is asked before any model is.

    Asked for `text/event-stream` it tells the words as they come, and at last `turn_end`.
    """
    if streams.wanted(request):
        instead = f"send a turn_id and poll GET /v1/widget/{session.widget.id}/turns/<turn_id>"
        streams.require_stream(request, instead, reason="poll-chunks")
        with _placed(request, session) as place:
            turn, working = await _begun(body, session, services, options, request)
            parts = _pieces(session, services, options, turn, working)
            return streams.HeldResponse(parts, place.pop_all().close)
    turn, working = await _begun(body, session, services, options, request)
    if working is not None:
        await working.end()
    view = await to_thread.run_sync(services.chat_turns.show, session.principal, turn.id)
    shown = {"turn_id": turn.id, "state": view.state, "answer": view.answer}
    return answer({**shown, "citations": view.citations})


def _pieces(
    session: WidgetSession,
    services: ApiServices,
    options: ApiOptions,
    turn: Turn,
    working: chat_streams.Working | None,
) -> AsyncIterator[bytes]:
    find = partial(services.chat_turns.events, session.principal, turn.id, limit=streams.PAGE)
    stored = chat_streams.TurnEventReader(find, 0, _shown)
    if working is not None:
        return chat_streams.heard(working, stored, options.pace)
    return chat_streams.followed(stored, lambda: None, options.pace)


@routes.get(
    "/v1/widget/{widget_id}/turns/{turn_id}",
    summary="Poll an answer of the widget",
    response_model=None,
    responses={
        **answers(200, "Pieces after a number", WidgetChunks),
        **problems("unauthenticated", "denied", "not-found", public=True),
    },
)
def list_widget_chunks(
    turn_id: TurnId,
    session: Session,
    services: Services,
    after: Annotated[
        int, Query(ge=0, le=2**31 - 1, description="The number of the last piece you have.")
    ] = 0,
) -> Response:
    """List pieces of an answer where none can be streamed; ask with `after` until `ended`."""
    events = services.chat_turns.events(session.principal, turn_id, after=after, limit=streams.PAGE)
    shown = ((event, _shown(event)) for event in events.items)
    items = [{"seq": of.seq, "name": it.name, "data": it.data} for of, it in shown if it]
    return answer({"items": items, "after": events.after, "ended": events.ended})


@routes.get(
    "/v1/widget/{widget_id}/challenge",
    summary="Ask what is to be solved",
    response_model=None,
    responses={
        **answers(200, "A challenge, in the place of the one before", WidgetChallenge),
        **problems("unauthenticated", "denied", "not-found", public=True),
    },
)
def get_widget_challenge(session: Session, services: Services) -> Response:
    """Make a challenge. It takes one answer."""
    from cairn.chat.challenges import BITS

    kind = session.widget.settings.challenge
    challenge = services.widgets.challenge(session)
    return answer({"kind": kind, "challenge": challenge, "bits": BITS})


@routes.post(
    "/v1/widget/{widget_id}/challenge",
    summary="Solve the challenge",
    response_model=None,
    responses={
        **answers(200, "The session may go on", WidgetSessionView),
        **problems(
            "unauthenticated", "denied", "not-found", "rate-limited", body=True, public=True
        ),
    },
)
def solve_widget_challenge(
    body: WidgetSolutionIn, session: Session, services: Services, request: Request
) -> Response:
    """Take an answer: once, and of the challenge that this session was given."""
    services.widgets.solve(session, body.answer, _address(request))
    return answer({**_session_view(session), "challenge_due": False})


@routes.post(
    "/v1/widget/{widget_id}/resolve",
    summary="End a session that is solved",
    response_model=None,
    responses={
        **answers(200, "It is over", WidgetSessionView),
        **problems("unauthenticated", "denied", "not-found", "conflict", public=True),
    },
)
def resolve_widget_session(session: Session, services: Services) -> Response:
    """Say that the customer has what they wanted."""
    state = services.widgets.resolve(session)
    return answer({**_session_view(session), "state": state})


@routes.post(
    "/v1/widget/{widget_id}/hand-off",
    summary="Ask for a person",
    response_model=None,
    responses={
        **answers(200, "Who answers, and what was said since", WidgetHandOffView),
        **problems(
            "unauthenticated", "denied", "not-found", "conflict", "rate-limited", public=True
        ),
    },
)
def ask_widget_person(session: Session, services: Services) -> Response:
    """Ask for a person to answer in this chat; again while one is asked for changes nothing."""
    services.hand_offs.request(session, HandOffCause.CUSTOMER)
    return answer(_hand_off(services, session, after=0))


@routes.get(
    "/v1/widget/{widget_id}/hand-off",
    summary="Poll what a person says",
    response_model=None,
    responses={
        **answers(200, "Who answers, and what was said after a number", WidgetHandOffView),
        **problems("unauthenticated", "denied", "not-found", public=True),
    },
)
def get_widget_hand_off(session: Session, services: Services, after: After = 0) -> Response:
    """Show the last hand-off of this chat; what the customer said is among its lines."""
    return answer(_hand_off(services, session, after=after))


@routes.get(
    "/v1/widget/{widget_id}/hand-off/events",
    summary="Hear what a person says (server-sent events)",
    response_model=None,
    response_class=StreamingResponse,
    responses={
        **streams.documented(
            "A `line` for each, and `state` where it is over",
            'id: 3\nevent: line\ndata: {"kind": "said", "text": "Hello"}\n\n',
        ),
        **problems(
            "unauthenticated", "denied", "not-found", "rate-limited", "not-streamable", public=True
        ),
    },
)
async def hear_widget_person(
    session: Session, services: Services, options: Options, request: Request, after: After = 0
) -> Response:
    """Stream lines after a number until the person, or nobody, answers any more."""
    instead = f"poll GET /v1/widget/{session.widget.id}/hand-off"
    streams.require_stream(request, instead, reason="poll-chunks")
    with _placed(request, session) as place:
        reader = HandOffReader(partial(_hand_off, services, session), after)
        first = await to_thread.run_sync(reader)
        token = request.headers["authorization"].partition(" ")[2].strip()
        admit = partial(services.widgets.admit, session.widget, token)
        watch = streams.Watch(reader, admit, options.pace)
        return streams.HeldResponse(_after(first, watch), place.pop_all().close)


def _placed(request: Request, session: WidgetSession) -> ExitStack:
    """Take a place of the process's for customers who hear somebody: strangers take no other's.

    What is returned gives it back at the end of its block, unless that was handed on.
    """
    state, stack = request.app.state, ExitStack()
    if not hasattr(state, "heard_by_customers"):
        state.heard_by_customers = CustomerStreams()
    network = network_of(_address(request))
    stack.callback(state.heard_by_customers.take(session.row.id, network))
    return stack


@dataclass(slots=True)
class HandOffReader:
    """Looks at a hand-off after a line."""

    look: Callable[..., WidgetHandOffView]
    after: int

    def __call__(self) -> tuple[list[TraceEvent], bool]:
        """Return the lines since the last call, and whether it is over."""
        view = self.look(after=self.after)
        events = [
            TraceEvent(name="line", data=dict(each), id=each["seq"]) for each in view["lines"]
        ]
        self.after = view["after"]
        over = view["state"] not in OPEN
        if over:
            events.append(TraceEvent(name="state", data={"state": view["state"]}))
        return events, over


async def _after(
    first: tuple[list[TraceEvent], bool], watch: streams.Watch
) -> AsyncIterator[bytes]:
    """Yield what was looked at before the stream began, then what follows."""
    events, over = first
    for event in events:
        yield streams.written(event)
    if not over:
        async for part in watch.parts():
            yield part


def _hand_off(services: ApiServices, session: WidgetSession, *, after: int) -> WidgetHandOffView:
    row, lines = services.hand_offs.of_customer(session, after=after)
    shown: list[WidgetLine] = [
        {
            "seq": line.seq,
            "kind": line.kind,
            "speaker": line.speaker,
            "name": line.name,
            "text": line.text,
            "at": line.at,
        }
        for line in lines
    ]
    return {
        "id": row.id,
        "state": row.state,
        "operator": row.operator,
        "ticket_id": row.ticket_id,
        "lines": shown,
        "after": lines[-1].seq if lines else after,
    }


async def _begun(
    body: WidgetMessageIn,
    session: WidgetSession,
    services: ApiServices,
    options: ApiOptions,
    request: Request,
) -> tuple[Turn, chat_streams.Working | None]:
    """Return a turn and who works on it; None when it was begun before."""
    ask = Ask(
        message=body.message,
        session_id="widget",
        turn_id=body.turn_id,
        client_id=session.row.client_id,
    )
    counting = Counting(key=session.row.counted, require=partial(count, session))
    begin = partial(services.chat_turns.begin, session.principal, ask, counting=counting)
    workspace_id = session.widget.workspace_id
    leave = partial(options.chat_threads.leave, workspace_id)
    working = None
    options.chat_threads.take(workspace_id)
    try:
        turn = await to_thread.run_sync(begin)
        if turn.fresh:
            began = chat_streams.Working(stops="aws.event" in request.scope)
            keep = partial(services.chat_turns.keep, turn)
            began.begin(partial(_work, services, session, turn), leave, keep)
            working = began
    finally:
        if working is None:
            leave()
    return turn, working


def _work(services: ApiServices, session: WidgetSession, turn: Turn, *, listen: Any) -> Any:
    """Answer a turn from public documents; what it cost is the widget's."""
    try:
        toolbox = services.public_tools(turn.principal, session)
        behind = services.answer_turn(turn, toolbox, listen)
        services.hand_offs.after_answer(session)
        return behind
    finally:
        services.widgets.spend(session, turn.id)


def _shown(event: Told) -> TraceEvent | None:
    """Return what a customer is told of an event: words, words that are dropped, the end."""
    if event.name == "text_chunk":
        return TraceEvent(name="text_chunk", data={"text": event.data["text"]}, id=event.seq)
    if event.name == "llm_end" and event.data.get("error"):
        return TraceEvent(name="text_dropped", data={}, id=event.seq)
    if event.name == "graph_end":
        names = ("state", "answer", "citations")
        data = {name: event.data.get(name) for name in names}
        return TraceEvent(name="turn_end", data=data, id=event.seq)
    return None


def _session_view(session: WidgetSession) -> dict[str, Any]:
    limits = session.limits
    return {
        "kind": session.row.kind,
        "state": session.row.state,
        "messages_left": max(0, limits.per_session - session.row.messages),
        "challenge_due": session.challenge_due,
        "idle_minutes": limits.idle_minutes,
    }


def _address(request: Request) -> str | None:
    """Return where a request came from, as the server knows it: no header that anybody writes."""
    return request.client.host if request.client else None
