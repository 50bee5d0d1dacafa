"""What callers hand to the corrections of entities and what they get back. Not checked yet."""

from dataclasses import dataclass
from uuid import UUID

MAX_SPLIT_MENTIONS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityChanged:
    """An entity was corrected: the entity that stands now, and how many edges moved."""

    id: UUID
    position: int
    moved_edges: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """What to part: a merge to undo, or named mentions that meant another entity."""

    undo: UUID | None = None
    name: str | None = None
    type: str | None = None
    mentions: tuple[UUID, ...] = ()
