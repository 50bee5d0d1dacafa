"""Chat: one turn at a time, streamed or whole; its events again; stopping it; the person's word."""

from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from anyio import to_thread
from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import chat_streams, streams
from cairn.api.answers import answer
from cairn.api.dependencies import Options, Services, ToolCaller
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Name, Text, at_most, examples
from cairn.api.options import ApiOptions
from cairn.api.routing import router
from cairn.bootstrap.api import ApiServices
from cairn.chat.handoff import HandOffState, Line
from cairn.chat.turns import Ask, Turn
from cairn.chat.views import ActionView, Told, TurnView
from cairn.kernel.access import Principal
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.records import convert
from cairn.writing.checks import MAX_TEXT_CHARS

routes = router("chat")

TurnId = Annotated[UUID, Path(description="The turn's id.")]
ActionId = Annotated[UUID, Path(description="The id that the turn's event gave it.")]
After = Annotated[
    int, Query(ge=0, le=2**31 - 1, description="The number of the last event you have.")
]
_STREAM = streams.documented(
    "Trace events until the turn ends; each has an id",
    'id: 5\nevent: text_chunk\ndata: {"text": "Dana"}\n\n',
)


class ChatIn(Body):
    """What a person says. The same `turn_id` and message again is the same turn."""

    model_config = examples({"message": "Who runs the harbour project?", "session_id": "desk-7"})

    message: Annotated[Text, at_most(MAX_TEXT_CHARS)]
    session_id: Name | None = None
    turn_id: Annotated[UUID, Field(strict=False)] | None = None
    client_id: Name | None = None
    suggest: bool = False


class DecisionIn(Body):
    """The person's word; `arguments_hash` is of what they saw."""

    decision: Literal["confirm", "cancel"]
    arguments_hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


@routes.post(
    "/v1/chat",
    summary="Say something and get an answer",
    response_model=None,
    responses={
        **answers(200, "The turn as it ended, or its events", TurnView, picture=streams.MEDIA_TYPE),
        **problems("conflict", "not-streamable", body=True),
    },
)
async def chat(
    body: ChatIn, caller: ToolCaller, services: Services, options: Options, request: Request
) -> Response:
    """Answer one message by a model with tools, or by rules where no model is configured.

    Asked for `text/event-stream`, a server streams the trace events as they come. Behind API
    Gateway send a `turn_id` of your own and poll its chunks while this answers.
    """
    streamed = streams.wanted(request)
    if streamed:
        require_stream(request, body.turn_id)
        options.open_streams.check()
    turn, working = await _begun(convert(body, Ask), caller, services, options, request)
    if not streamed:
        if working is not None:
            await working.end()
        return answer(await to_thread.run_sync(services.chat_turns.show, caller, turn.id))
    stored = _turn_events(services, caller, turn.id, after=0)
    if working is not None:
        parts = chat_streams.heard(working, stored, options.pace)
    else:
        parts = chat_streams.followed(stored, streams.readmission(services, request), options.pace)
    return streams.streaming(parts, options.open_streams)


async def _begun(
    ask: Ask, caller: Principal, services: ApiServices, options: ApiOptions, request: Request
) -> tuple[Turn, chat_streams.Working | None]:
    """Return a turn and who works on it; None when it was begun before."""
    address = request.client.host if request.client else None
    begin = partial(services.chat_turns.begin, caller, ask, address=address)
    leave = partial(options.chat_threads.leave, caller.workspace_id)
    working = None
    options.chat_threads.take(caller.workspace_id)
    try:
        turn = await to_thread.run_sync(begin)
        if turn.fresh:
            began = chat_streams.Working(stops="aws.event" in request.scope)
            work = partial(_work, services, turn, request.app.state.mcp.log)
            began.begin(work, leave, partial(services.chat_turns.keep, turn))
            working = began
    finally:
        if working is None:
            leave()
    return turn, working


def _work(services: ApiServices, turn: Turn, log: Any, *, listen: Any) -> Any:
    """Answer a turn with the caller's tools; return what is to be done behind it."""
    from cairn.api.chat_tools import toolbox

    tools = toolbox(services, turn.principal, log, turn.session_id)
    return services.answer_turn(turn, tools, listen)


def _turn_events(
    services: ApiServices, caller: Principal, turn_id: UUID, *, after: int
) -> chat_streams.TurnEventReader:
    find = partial(services.chat_turns.events, caller, turn_id, limit=streams.PAGE)
    return chat_streams.TurnEventReader(find, after)


@routes.get(
    "/v1/chat/{turn_id}",
    summary="Show a turn",
    response_model=None,
    responses={**answers(200, "The turn", TurnView), **problems("not-found")},
)
def get_chat_turn(turn_id: TurnId, caller: ToolCaller, services: Services) -> Response:
    """Show a turn of this key: its state, its answer, and what waits for the person."""
    return answer(services.chat_turns.show(caller, turn_id))


class ChatChunks(TypedDict):
    """Events of a turn after a number, the oldest first."""

    items: list[Told]
    after: int
    ended: bool


@routes.get(
    "/v1/chat/{turn_id}/chunks",
    summary="Poll a turn's events",
    response_model=None,
    responses={**answers(200, "Events after a number", ChatChunks), **problems("not-found")},
)
def list_chat_chunks(
    turn_id: TurnId,
    caller: ToolCaller,
    services: Services,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> Response:
    """List what was told of a turn. Ask again with `after` of the answer until `ended`."""
    events = services.chat_turns.events(caller, turn_id, after=after, limit=limit)
    return answer(events)


@routes.get(
    "/v1/chat/{turn_id}/events",
    summary="Follow a turn live, or again (server-sent events)",
    response_model=None,
    response_class=StreamingResponse,
    responses={**_STREAM, **problems("not-found", "not-streamable")},
)
async def follow_chat_turn(
    turn_id: TurnId,
    caller: ToolCaller,
    services: Services,
    options: Options,
    request: Request,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event a reader has.")
    ] = None,
    after: After = 0,
) -> Response:
    """Stream a turn's events from a number on, until it ends. Events are kept for a day."""
    require_stream(request, turn_id)
    seen = streams.last_seen(last_event_id, after)
    options.open_streams.check()
    stored = _turn_events(services, caller, turn_id, after=seen)
    first = await to_thread.run_sync(partial(stored.find, after=max(0, seen - 1)))
    if seen and (not first.items or first.items[0].seq != seen):
        raise ValidationFailed(
            "The last event id is not that of an event of this turn.", reason="last-event-id"
        )
    parts = chat_streams.followed(stored, streams.readmission(services, request), options.pace)
    return streams.streaming(parts, options.open_streams)


class ChatLines(TypedDict):
    """Who answers a chat, and what was said with a person there after a number."""

    state: HandOffState
    operator: str | None
    items: list[Line]
    after: int


@routes.get(
    "/v1/chat/{turn_id}/lines",
    summary="Poll what a person says",
    response_model=None,
    responses={
        **answers(200, "What was said after a number", ChatLines),
        **problems("not-found"),
    },
)
def list_chat_lines(
    turn_id: TurnId, caller: ToolCaller, services: Services, after: After = 0
) -> Response:
    """List what was said since a person took over the chat that this turn is of."""
    session = services.chat_turns.session_of(caller, turn_id)
    row, lines = services.hand_offs.of_chat(caller, session, after=after)
    last = lines[-1].seq if lines else after
    shown = {"state": row.state, "operator": row.operator, "items": lines, "after": last}
    return answer(shown)


@routes.post(
    "/v1/chat/{turn_id}/abort",
    summary="Stop a turn",
    response_model=None,
    responses={**answers(200, "The turn as it is now", TurnView), **problems("not-found")},
)
def abort_chat_turn(turn_id: TurnId, caller: ToolCaller, services: Services) -> Response:
    """Stop a turn that runs; one that has ended stays as it is. What it did before stays done."""
    return answer(services.chat_turns.abort(caller, turn_id))


@routes.get(
    "/v1/chat/actions/{action_id}",
    summary="Show what waits for the person",
    response_model=None,
    responses={**answers(200, "The action", ActionView), **problems("not-found")},
)
def get_chat_action(action_id: ActionId, caller: ToolCaller, services: Services) -> Response:
    """Show an action: the tool, its arguments and their hash, and what became of it."""
    return answer(services.chat_actions.get(caller, action_id))


@routes.post(
    "/v1/chat/actions/{action_id}",
    summary="Confirm or cancel what waits",
    response_model=None,
    responses={
        **answers(200, "What became of it", ActionView),
        **problems("not-found", "conflict", body=True),
    },
)
def decide_chat_action(
    action_id: ActionId,
    body: DecisionIn,
    caller: ToolCaller,
    services: Services,
    request: Request,
) -> Response:
    """Do it once, or drop it: within 15 minutes, with the arguments that the person saw."""
    from cairn.api.chat_tools import toolbox

    turn_id = services.chat_actions.get(caller, action_id).turn_id
    session = services.chat_turns.show(caller, turn_id).session_id
    tools = toolbox(services, caller, request.app.state.mcp.log, session)
    done = services.chat_actions.decide(
        caller,
        action_id,
        tools,
        confirm=body.decision == "confirm",
        arguments_hash=body.arguments_hash,
    )
    return answer(done)


def require_stream(request: Request, turn_id: UUID | None) -> None:
    """Raise Refused where answers come whole."""
    poll = f"GET /v1/chat/{turn_id or '<turn_id>'}/chunks?after=0"
    streams.require_stream(request, f"send a turn_id and poll {poll}", reason="poll-chunks")
