"""The stores that recording conversations needs, and what they keep. Contracts only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.writing.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.conversations.plan import LastMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """A conversation about to go on: its id, whose it is, and its last two messages, in order."""

    id: UUID
    data_subjects: tuple[UUID, ...]
    last: tuple[LastMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingMessage:
    """A message that waits for its conversation to come about. `body` is sealed for `id`."""

    id: UUID
    conversation_id: UUID
    identity: str
    sequence: int
    by_user: bool
    data_subjects: tuple[UUID, ...]
    body: bytes
    created_at: datetime
    expires_at: datetime


class ConversationStore(Protocol):
    """Conversations of the transaction's workspace, and what waits to become one."""

    def find(self, identity: str) -> StoredConversation | None:
        """Return the conversation of this identity."""
        ...

    def exists(self, conversation_id: UUID) -> bool:
        """Return whether the principal sees this conversation, or one waits under this id."""
        ...

    def pending(self, identity: str, now: datetime) -> Sequence[PendingMessage]:
        """Return the messages that wait and have not expired, in their order."""
        ...

    def wait(self, message: PendingMessage) -> None:
        """Let a message wait."""
        ...

    def settle(self, identity: str) -> None:
        """Remove what waits under this identity, expired or not."""
        ...

    def public_key_ids(self) -> Collection[UUID]:
        """Return the ids of the workspace's public keys that are not revoked."""
        ...

    def bound_to(self, key_id: UUID) -> UUID | None:
        """Return the conversation a key was bound to."""
        ...

    def bind(self, key_id: UUID, conversation_id: UUID, position: int) -> None:
        """Bind a key to a conversation, for good."""
        ...


class ConversationStores(WriteStores, Protocol):
    """What recording conversations needs of a transaction."""

    @property
    def conversations(self) -> ConversationStore: ...
