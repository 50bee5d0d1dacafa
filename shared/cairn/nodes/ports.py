"""What writing nodes, edges and entities asks of the stores. Contracts; not the adapters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.graph.node import Label, State


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNode:
    """A node that is about to be linked, changed or merged: what the change has to know of it.

    `created_position` is the entry that made it, `position` the last one that changed it.
    """

    id: UUID
    label: str
    kind: str | None
    name: str | None
    state: State
    scope: str
    agents: tuple[str, ...] | None
    data_subjects: tuple[UUID, ...]
    client_id: str
    created_position: int
    position: int
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None

    @property
    def is_entity(self) -> bool:
        """Return whether this is an entity."""
        return self.label == Label.ENTITY

    @property
    def is_present(self) -> bool:
        """Return whether edges may be tied to it."""
        return self.state in (State.ACTIVE, State.PROVISIONAL, State.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEdge:
    """An edge as it stands, or stood before it was closed."""

    id: UUID
    view: str
    relation: str
    source_id: UUID
    target_id: UUID
    weight: float
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
