"""The stores that recording conversations needs, and what they keep. Contracts only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
