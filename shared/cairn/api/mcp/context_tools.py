"""Tools over what an agent is given: what a session begins with, a conversation made shorter."""

from typing import Annotated, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name, at_most
from cairn.api.mcp.tool import WRITERS, Effect, Tool, ToolAnswer
from cairn.api.routes.compaction import SessionIn
from cairn.bootstrap.api import ApiServices
from cairn.compaction.compact import LEAST_TOKENS, MOST_TOKENS, Target
from cairn.conversations.messages import MessageRole
from cairn.conversations.transcript import MAX_TURN_CHARS, MAX_TURNS, NewTranscript, NewTurn
from cairn.kernel.access import Principal

NOTHING = "Nothing is open."
MAX_SPEAKER_CHARS = 60
Turn = Annotated[str, at_most(MAX_TURN_CHARS)]


class CompactArguments(Body):
    """A conversation, whose it is, and how long it may be."""

    session_id: Name
    messages: Annotated[list[Turn], Field(min_length=1, max_length=MAX_TURNS)]
    target_tokens: Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)] | None = None


class Shorter(TypedDict):
    """What is left of a conversation."""

    context: str
    conversation_id: UUID
    dropped: int


class Begun(TypedDict):
    """What a session begins with; left out where nothing is open."""

    context: NotRequired[str]


def turn_of(line: str) -> NewTurn:
    """Return the turn that a line tells: by its role, or by the name of the person who speaks."""
    name, colon, text = line.partition(": ")
    if not colon:
        return NewTurn(role=MessageRole.USER, text=line)
    if name in tuple(MessageRole):
        return NewTurn(role=MessageRole(name), text=text)
    if len(name) > MAX_SPEAKER_CHARS or "\n" in name:
        return NewTurn(role=MessageRole.USER, text=line)
    return NewTurn(role=MessageRole.USER, sender=name, text=text)


def _compact(
    services: ApiServices, principal: Principal, arguments: CompactArguments
) -> ToolAnswer:
    transcript = NewTranscript(
        session_id=arguments.session_id,
        messages=tuple(turn_of(each) for each in arguments.messages),
    )
    compacted = services.compact(principal, transcript, Target(tokens=arguments.target_tokens))
    structured = {
        "context": compacted.context,
        "conversation_id": compacted.conversation_id,
        "dropped": compacted.dropped,
    }
    services.keep_briefing(principal, compacted)
    return ToolAnswer(text=compacted.context, structured=structured)


def _begin(services: ApiServices, principal: Principal, arguments: SessionIn) -> ToolAnswer:
    opened = services.open_session(
        principal, agent=arguments.agent, conversation_id=arguments.conversation_id
    )
    return ToolAnswer(text=opened.context or NOTHING, structured={"context": opened.context})


COMPACT = Tool(
    name="context_compact",
    title="Make a conversation shorter",
    description="Record a long conversation; get a summary and its last turns; recall has all.",
    arguments=CompactArguments,
    parameters={
        "session_id": "Names the conversation.",
        "messages": "In order, as 'user: ...', 'assistant: ...', 'tool: ...', or a person's name.",
        "target_tokens": "Of the result.",
    },
    result=Shorter,
    call=_compact,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
SESSION = Tool(
    name="context_session",
    title="Begin a session",
    description=(
        "What to know before the first turn: review digest, open tasks, what waits for a person, "
        "your subscriptions, what was said before."
    ),
    arguments=SessionIn,
    parameters={
        "agent": "Whose subscriptions; your own.",
        "conversation_id": "The conversation that goes on.",
    },
    result=Begun,
    call=_begin,
    roles=WRITERS,
)
