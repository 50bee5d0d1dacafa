"""Chats that go to people: the inbox, the bundle, accepting, answering, ending. For operators."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Text, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.bootstrap.api import ApiServices
from cairn.chat.hand_off_views import ChatDetail, ChatNumbers, ChatView, LiveChat
from cairn.chat.handoff import MOST_LINE_CHARS, HandOffRow, HandOffState, Line

routes = router("chat")

ChatId = Annotated[UUID, Path(description="The id of the hand-off.")]
After = Annotated[int, Query(ge=0, le=2**31 - 1, description="The number of the last line.")]
CHANGED = {**answers(200, "As it is now", ChatView), **problems("not-found", "conflict")}


class AcceptChatIn(Body):
    """Who answers: by which `name` the customer knows them. `take_over`: from another operator."""

    model_config = examples({"name": "Ada"})

    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    take_over: bool = False


class TakeIn(Body):
    """A turn of the chat that is taken over from the agent."""

    model_config = examples({"turn_id": "0199f0c4-7f3e-7c52-8a55-3a1f2f1f0001", "name": "Ada"})

    turn_id: Annotated[UUID, Field(strict=False)]
    name: Annotated[str, Field(min_length=1, max_length=100)] | None = None


class SayIn(Body):
    """What an operator says. The same `line_id` and text again is said once."""

    model_config = examples({"text": "Hello, I am Ada. I look into it."})

    text: Annotated[Text, at_most(MOST_LINE_CHARS)]
    line_id: Annotated[UUID, Field(strict=False)] | None = None


class CloseIn(Body):
    """How the chat was solved."""

    model_config = examples({"resolution": "The order was sent again."})

    resolution: Annotated[Text, at_most(MOST_LINE_CHARS)]


class LiveChats(TypedDict):
    """Chats that the agent answers, the newest first."""

    items: list[LiveChat]


class LinesOfChat(TypedDict):
    """What was said with a person there after a number, the oldest first."""

    state: HandOffState
    items: list[Line]
    after: int


@routes.get(
    "/v1/chats",
    summary="List chats that go to people",
    response_model=None,
    responses={**answers(200, "The newest first", PageOf[ChatView]), **problems()},
)
def list_chats(
    caller: Admin,
    services: Services,
    options: Options,
    state: Annotated[HandOffState | None, Query(description="Only those in this state.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List who waits for a person, whom one answers, and how chats ended."""
    return newest_answer(
        partial(services.browse_chats.page, caller, state=state),
        limit=limit,
        cursor=cursor,
        key="requested_at",
        route="chats",
        filters={"state": state},
        options=options,
    )


@routes.get(
    "/v1/chats/live",
    summary="List chats that the agent answers",
    response_model=None,
    responses={**answers(200, "Those of the last hour", LiveChats), **problems()},
)
def list_live_chats(
    caller: Admin, services: Services, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Response:
    """List the chats under way, each with a turn by which a person takes it over."""
    return answer({"items": services.browse_chats.live(caller, limit)})


@routes.get(
    "/v1/chats/numbers",
    summary="See how long customers wait",
    response_model=None,
    responses={**answers(200, "Of now, and of the last seven days", ChatNumbers), **problems()},
)
def get_chat_numbers(caller: Admin, services: Services) -> Response:
    """Show how many wait and are answered, how long customers waited, and how chats ended."""
    return answer(services.browse_chats.numbers(caller))


@routes.post(
    "/v1/chats",
    summary="Take a chat over from the agent",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "You answer from now on", ChatView),
        **problems("not-found", "conflict", body=True),
    },
)
def take_chat(body: TakeIn, caller: Admin, services: Services) -> Response:
    """Answer a chat that the agent answers, whoever's it is; what it was doing stops."""
    row = services.hand_offs.take(caller, body.turn_id, name=body.name)
    return answer(services.browse_chats.view(row), status=201)


@routes.get(
    "/v1/chats/{chat_id}",
    summary="Show a chat with all that whoever takes it over needs",
    response_model=None,
    responses={**answers(200, "The bundle", ChatDetail), **problems("not-found")},
)
def get_chat(chat_id: ChatId, caller: Admin, services: Services) -> Response:
    """Show the transcript, calls of tools, citations, the agent's memory, and why."""
    return answer(services.browse_chats.show(services.hand_offs.find(caller, chat_id)))


@routes.get(
    "/v1/chats/{chat_id}/lines",
    summary="Poll a chat",
    response_model=None,
    responses={**answers(200, "Lines after a number", LinesOfChat), **problems("not-found")},
)
def list_lines_of_chat(
    chat_id: ChatId, caller: Admin, services: Services, after: After = 0
) -> Response:
    """List what was said since a person was asked for. Ask again with `after` of the answer."""
    row = services.hand_offs.find(caller, chat_id)
    lines = services.hand_offs.lines(caller, row, after=after)
    last = lines[-1].seq if lines else after
    return answer({"state": row.state, "items": lines, "after": last})


@routes.post(
    "/v1/chats/{chat_id}/accept",
    summary="Answer a chat",
    response_model=None,
    responses={**CHANGED, **problems("not-found", "conflict", body=True)},
)
def accept_chat(chat_id: ChatId, body: AcceptChatIn, caller: Admin, services: Services) -> Response:
    """Answer from now on: of two who accept at once one is told who was quicker."""
    hand_offs = services.hand_offs
    row = hand_offs.accept(caller, chat_id, take_over=body.take_over, name=body.name)
    return _changed(services, row)


@routes.post(
    "/v1/chats/{chat_id}/say",
    summary="Say something to the customer",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is kept, and on its way", Line),
        **problems("not-found", "conflict", body=True),
    },
)
def say_in_chat(chat_id: ChatId, body: SayIn, caller: Admin, services: Services) -> Response:
    """Say something in a chat that you have accepted."""
    line = services.hand_offs.say(caller, chat_id, body.text, line_id=body.line_id)
    return answer(line, status=201)


@routes.post(
    "/v1/chats/{chat_id}/release",
    summary="Leave a chat to another operator",
    response_model=None,
    responses=CHANGED,
)
def release_chat(chat_id: ChatId, caller: Admin, services: Services) -> Response:
    """Let the chat wait for somebody else; nobody in time, and it becomes a ticket."""
    return _changed(services, services.hand_offs.release(caller, chat_id))


@routes.post(
    "/v1/chats/{chat_id}/return",
    summary="Give a chat back to the agent",
    response_model=None,
    responses=CHANGED,
)
def return_chat(chat_id: ChatId, caller: Admin, services: Services) -> Response:
    """Let the agent answer again; it knows what was said meanwhile."""
    return _changed(services, services.hand_offs.give_back(caller, chat_id))


@routes.post(
    "/v1/chats/{chat_id}/close",
    summary="Close a chat",
    response_model=None,
    responses={**CHANGED, **problems("not-found", "conflict", body=True)},
)
def close_chat(chat_id: ChatId, body: CloseIn, caller: Admin, services: Services) -> Response:
    """End a chat that you have solved, and say how."""
    return _changed(services, services.hand_offs.close(caller, chat_id, body.resolution))


@routes.post(
    "/v1/chats/{chat_id}/ticket",
    summary="Make a ticket of a chat",
    response_model=None,
    responses=CHANGED,
)
def ticket_of_chat(chat_id: ChatId, caller: Admin, services: Services) -> Response:
    """End a chat with a ticket in the queue that holds all that was said; the customer is told."""
    return _changed(services, services.hand_offs.to_ticket(caller, chat_id))


def _changed(services: ApiServices, row: HandOffRow) -> Response:
    view: Any = services.browse_chats.view(row)
    return answer(view)
