"""What keeping profiles in the graph reads of the stores: who holds what, and what is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class DueClient:
    """A client of whom something came, or went, since their profiles were derived."""

    client_id: str
    profiles: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Whose a profile is: an entity in its audience, as far as some data subjects go."""

    entity_id: UUID
    name: str
    scope: str
    agents: tuple[str, ...] | None
    data_subjects: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldEdge:
    """An open edge of a holder, of their profile or its parts; `profile` is whose it is, if any."""

    id: UUID
    view: str
    relation: str
    source_id: UUID
    target_id: UUID
    weight: float
    profile: str | None
