"""What planning the write of a memory reads of its store. Contracts; adapters implement them."""

from dataclasses import dataclass
from uuid import UUID

from cairn.writing.audience import Audience


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
