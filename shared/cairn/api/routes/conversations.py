"""Conversations: say something in one, list them, read one, search what was said."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer, fitting, replay_headers
from cairn.api.dependencies import (
    Admin,
    Anyone,
    ClientGiven,
    ClientWriter,
    Idempotency,
    Options,
    Services,
    Writer,
    require_client,
)
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Metadata, Name, Names, ScopeName, Text, Timestamp, at_most
from cairn.api.pages import Cursor, Limit, page_answer
from cairn.api.routing import router
from cairn.conversations.messages import Channel, GateReason, MessageRole, NewMessage
from cairn.conversations.read import ConversationFilter, ConversationMessage, ConversationView
from cairn.conversations.record import MessageRecorded as Recorded
from cairn.conversations.search import (
    MAX_QUERY_CHARS,
    MAX_RESULTS,
    ConversationAnswer,
    ConversationQuery,
    FoundMessage,
)
from cairn.kernel.records import convert
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import MAX_TEXT_CHARS

routes = router("conversations")

_ROOM = 8192
ConversationId = Annotated[UUID, Path(description="The conversation's id.")]


class MessageRecorded(TypedDict):
    """A message that is recorded, or waits for the next one of its conversation."""

    conversation_id: UUID
    message_id: UUID
    persisted: bool
    position: int | None
    written: Sequence[UUID]
    pending: int
    expires_at: datetime | None
    warnings: Sequence[str]


class ConversationWithMessages(TypedDict):
    """A conversation with a page of its messages, the oldest first."""

    conversation: ConversationView
    items: list[ConversationMessage]
    next_cursor: str | None


class KeyBound(TypedDict):
    """A public key and the conversation it sees."""

    conversation_id: UUID
    key_id: UUID


class ConversationChanged(TypedDict):
    """A conversation, and whether memories are drawn from it."""

    conversation_id: UUID
    infer: bool


class MessageHit(TypedDict):
    """A message that was found, and how well it answers, from 0 to 1."""

    id: UUID
    conversation_id: UUID
    role: str
    content: str
    timestamp: datetime
    relevance_score: float
    channel: str
    session_id: str
    sequence: int
    sender: str | None
    accepted: bool
    position: int


class LegCount(TypedDict):
    """How many candidates a way of searching found, and how long it took."""

    found: int
    ms: float


class ConversationSearchMeta(TypedDict):
    """What a search of conversations did."""

    query_ms: float
    conversation_id: UUID | None
    legs: dict[str, LegCount]
    degraded: Sequence[str]


class MessagesFound(TypedDict):
    """Messages, best first."""

    messages: list[MessageHit]
    meta: ConversationSearchMeta


class MessageIn(Body):
    """One message of a conversation, named by its channel and the channel's session id."""

    channel: Annotated[Channel, Field(strict=False)]
    session_id: Name
    role: Annotated[MessageRole, Field(strict=False)]
    text: Annotated[Text, at_most(MAX_TEXT_CHARS)]
    occurred_at: Timestamp | None = None
    sender: Name | None = None
    accepted: bool = True
    gate_reason: Annotated[GateReason | None, Field(strict=False)] = None
    client_id: Name = GLOBAL_CLIENT
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    data_subjects: Names = Field(default_factory=list[str])
    metadata: Metadata = Field(default_factory=dict[str, Any])
    infer: bool = True


class ConversationChange(Body):
    """What is to hold for a conversation from now on."""

    infer: bool


class ConversationSearchIn(Body):
    """What to look for in what was said."""

    query: Annotated[Text, at_most(MAX_QUERY_CHARS)]
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = 10
    conversation_id: Annotated[UUID, Field(strict=False)] | None = None
    role: Annotated[MessageRole | None, Field(strict=False)] = None
    occurred_from: Timestamp | None = None
    occurred_to: Timestamp | None = None

    def record(self) -> ConversationQuery:
        """Return the use case's record."""
        return convert(self, ConversationQuery, role=self.role.value if self.role else None)


@routes.post(
    "/v1/conversations/messages",
    summary="Record a message",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is recorded, with what waited before it", MessageRecorded),
        **answers(202, "It waits for the second message of a web chat's user", MessageRecorded),
        **problems("conflict", body=True),
    },
)
def record_message(
    body: MessageIn, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Record what was said.

    A web chat is recorded from its user's second message on; every other channel from the first,
    whether its sender was let in or not.
    """
    done = services.record_message(caller, convert(body, NewMessage), idempotency=idempotency)
    headers = replay_headers(replayed=done.replayed)
    return answer(message_recorded(done), status=201 if done.persisted else 202, headers=headers)


def message_recorded(done: Recorded) -> MessageRecorded:
    """Return the JSON form of what became of a message."""
    return {
        "conversation_id": done.conversation_id,
        "message_id": done.message_id,
        "persisted": done.persisted,
        "position": done.position,
        "written": done.written,
        "pending": done.pending,
        "expires_at": done.expires_at,
        "warnings": done.warnings,
    }


@routes.get(
    "/v1/conversations",
    summary="List conversations, newest first",
    response_model=None,
    responses={**answers(200, "One page", PageOf[ConversationView]), **problems()},
)
def list_conversations(
    caller: Anyone,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    channel: Annotated[Channel | None, Query()] = None,
    session_id: Annotated[Name | None, Query()] = None,
    agent: Annotated[Name | None, Query(description="It recorded them, or finds them.")] = None,
    sender: Annotated[Name | None, Query(description="Who said something in them.")] = None,
    opened_from: Annotated[Timestamp | None, Query()] = None,
    opened_to: Annotated[Timestamp | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what the key may see: a public key the one conversation it is bound to."""
    where = ConversationFilter(
        channel=channel.value if channel else None,
        session_id=session_id,
        client_id=client_id,
        agent=agent,
        sender=sender,
        opened_from=opened_from,
        opened_to=opened_to,
    )
    filters = asdict(where)
    after = pages.decode(cursor, route="conversations", filters=filters)
    page = services.conversations.list(caller, where, limit=limit, after=after)
    return page_answer(page, route="conversations", filters=filters, options=options)


@routes.get(
    "/v1/conversations/{conversation_id}",
    summary="Read a conversation",
    response_model=None,
    responses={
        **answers(200, "The conversation and a page of its messages", ConversationWithMessages),
        **problems("not-found"),
    },
)
def get_conversation(
    conversation_id: ConversationId,
    caller: Anyone,
    services: Services,
    options: Options,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Read the messages of a conversation, oldest first."""
    bound: dict[str, Any] = {
        "route": "conversation",
        "filters": {"conversation_id": conversation_id},
    }
    after = pages.decode(cursor, **bound)
    conversation, page = services.conversations.get(
        caller, conversation_id, limit=limit, after=after
    )
    items = fitting(page.items, max_bytes=options.max_answer_bytes - _ROOM)
    following = page.next_after
    if len(items) < len(page.items):
        following = int(items[-1]["position"])
    onward = None if following is None else pages.encode(following, **bound)
    return answer({"conversation": conversation, "items": items, "next_cursor": onward})


@routes.patch(
    "/v1/conversations/{conversation_id}",
    summary="Say whether memories are drawn from a conversation",
    response_model=None,
    responses={
        **answers(200, "The conversation as it is now", ConversationChanged),
        **problems("not-found", body=True),
    },
)
def change_conversation(
    conversation_id: ConversationId, body: ConversationChange, caller: Writer, services: Services
) -> Response:
    """Let memories be drawn from what is said from now on, or not. What was drawn stays."""
    services.change_conversation(caller, conversation_id, infer=body.infer)
    changed: ConversationChanged = {"conversation_id": conversation_id, "infer": body.infer}
    return answer(changed)


@routes.post(
    "/v1/conversations/search",
    summary="Search what was said",
    response_model=None,
    responses={
        **answers(200, "Messages, best first", MessagesFound),
        **problems("not-found", body=True),
    },
)
def search_conversations(
    body: ConversationSearchIn, caller: Anyone, services: Services
) -> Response:
    """Find messages by meaning and by words. A public key searches its own conversation only."""
    require_client(services, caller, None)
    return answer(found_messages(services.search_conversations(caller, body.record())))


@routes.put(
    "/v1/conversations/{conversation_id}/keys/{key_id}",
    summary="Bind a public key to a conversation",
    response_model=None,
    responses={
        **answers(200, "The key sees this conversation and no other", KeyBound),
        **problems("not-found", "conflict"),
    },
)
def bind_conversation_key(
    conversation_id: ConversationId,
    key_id: Annotated[UUID, Path(description="The key's id.")],
    caller: Admin,
    services: Services,
) -> Response:
    """Let a public key see one conversation. It cannot be bound to another one afterwards."""
    services.bind_key(caller, conversation_id, key_id)
    return answer({"conversation_id": conversation_id, "key_id": key_id})


def found_messages(answer_: ConversationAnswer) -> MessagesFound:
    """Return the JSON form of a search's answer."""
    return {
        "messages": [_message_hit(message) for message in answer_.messages],
        "meta": {
            "query_ms": round(answer_.query_ms, 1),
            "conversation_id": answer_.conversation_id,
            "legs": {
                name: {"found": len(leg.candidates), "ms": round(leg.ms, 1)}
                for name, leg in answer_.legs.items()
            },
            "degraded": answer_.degraded,
        },
    }


def _message_hit(found_message: FoundMessage) -> MessageHit:
    message = found_message.message
    return {
        "id": message.id,
        "conversation_id": message.conversation_id,
        "role": message.role,
        "content": message.content,
        "timestamp": message.timestamp,
        "relevance_score": found_message.relevance_score,
        "channel": message.channel,
        "session_id": message.session_id,
        "sequence": message.sequence,
        "sender": message.sender,
        "accepted": message.accepted,
        "position": message.position,
    }
