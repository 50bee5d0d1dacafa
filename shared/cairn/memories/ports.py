"""What planning the write of a memory reads of its store. Contracts; adapters implement them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cairn.memories.identity import Link, Message
from cairn.writing.audience import Audience
from cairn.writing.ports import KnownStore, WriteStores


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation as one audience sees it."""

    session_id: str
    audience: Audience


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory:
    """A memory about to be deleted: what the deletion has to know of it."""

    id: UUID
    position: int
    deleted: bool
    data_subjects: tuple[UUID, ...]
    session: Session | None
    sequence: int | None
    text: str


class MemoryStore(KnownStore, Protocol):
    """What planning a write reads. Deleted memories are never returned, except by `find`."""

    def links(self, places: Sequence[tuple[str, datetime]]) -> Mapping[str, tuple[Link, ...]]:
        """Return, by chain key, the links just before and just after each (chain key, moment).

        The one before holds at that moment or starts with it; the one after starts later.
        """
        ...

    def messages(self, session: Session, first: int, last: int) -> tuple[Message, ...]:
        """Return a session's messages from `first` to `last`, and two more on either side."""
        ...

    def find(self, memory_id: UUID) -> StoredMemory | None:
        """Return a memory, deleted or not, that the principal's agent may see; None otherwise."""
        ...


class MemoryStores(WriteStores, Protocol):
    """What remembering and deleting memories need of a transaction."""

    @property
    def memories(self) -> MemoryStore: ...
