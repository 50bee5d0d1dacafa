"""Reading conversations: lists, and one with its messages. Not searching them, not recording them.

Visibility is the stores': row level security (a public key sees the one conversation it is bound to
and no other) and the agent guard.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import NotFound
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import Transactions
from cairn.reading.views import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationView:
    """A conversation as its reader sees it. `position` is that of the entry that opened it.

    `infer` False: no memories are drawn from its messages.
    """

    id: UUID
    position: int
    channel: str
    session_id: str
    client_id: str
    scope: Scope
    opened_at: datetime
    recorded_at: datetime
    agents: tuple[str, ...] = ()
    source_agent: str | None = None
    infer: bool = True
    messages: int = 0
    last_message_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnMemory:
    """A memory that was drawn from a message."""

    id: UUID
    message_id: UUID
    kind: str
    text: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationMessage:
    """One message. `accepted` False: it was turned away before an agent saw it, for `gated`.

    `infer` False: no memories are drawn from it. `utc_offset` is in minutes, where it was written.
    `labels` are what the gateway found when it came in; none for what was recorded before that.
    `memories` were drawn from it; filled where one conversation is read, not for public keys.
    """

    id: UUID
    position: int
    conversation_id: UUID
    role: str
    content: str
    timestamp: datetime
    sequence: int
    session_id: str
    recorded_at: datetime
    channel: str = ""
    sender: str | None = None
    source_agent: str | None = None
    accepted: bool = True
    gated: str | None = None
    infer: bool = True
    utc_offset: int = 0
    labels: Mapping[str, Any] = field(default_factory=dict[str, Any])
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    memories: tuple[DrawnMemory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFilter:
    """Which conversations a list shows; None means any.

    `agent` recorded it or it is tagged for that agent; `sender` said something in it.
    """

    channel: str | None = None
    session_id: str | None = None
    client_id: str | None = None
    agent: str | None = None
    sender: str | None = None
    opened_from: datetime | None = None
    opened_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowseConversations:
    """The reads behind the GET routes."""

    transactions: Transactions[Stores]

    def list(
        self, principal: Principal, where: ConversationFilter, *, limit: int, after: int | None
    ) -> Page[ConversationView]:
        """Return a page of conversations, newest first."""
        with self.transactions.reading(principal) as stores:
            conversations = stores.conversation_views.conversations(
                where, limit=limit + 1, after=after
            )
        items = tuple(conversations[:limit])
        return Page(
            items=items, next_after=items[-1].position if len(conversations) > limit else None
        )

    def get(
        self, principal: Principal, conversation_id: UUID, *, limit: int, after: int | None
    ) -> tuple[ConversationView, Page[ConversationMessage]]:
        """Return a conversation and a page of its messages, oldest first.

        Raises NotFound when the principal cannot see it, or it is not recorded yet.
        """
        with self.transactions.reading(principal) as stores:
            conversation = stores.conversation_views.conversation(conversation_id)
            if conversation is None:
                raise NotFound("There is no such conversation.")
            messages = stores.conversation_views.messages(
                conversation_id, limit=limit + 1, after=after or 0
            )
            items = tuple(messages[:limit])
            if principal.role is not Role.PUBLIC:
                items = _with_memories(stores, conversation, items)
        following = items[-1].position if len(messages) > limit else None
        return conversation, Page(items=items, next_after=following)


def _with_memories(
    stores: Stores, conversation: ConversationView, messages: Sequence[ConversationMessage]
) -> tuple[ConversationMessage, ...]:
    drawn = stores.conversation_views.memories(conversation, [each.id for each in messages])
    return tuple(
        replace(each, memories=tuple(memory for memory in drawn if memory.message_id == each.id))
        for each in messages
    )
