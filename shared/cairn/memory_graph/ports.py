"""What the memory graph over the ledger reads of its stores. Adapters live in `storage`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.writing.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import EdgeKey, MemoryEdge, MemoryNode, Ref
    from cairn.graph.memory_walk import Step
    from cairn.graph.node import State


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNode:
    """A node about to be changed. `state` may be one the graph does not show, such as deleted."""

    node: MemoryNode
    state: State
    data_subjects: tuple[UUID, ...]

    @property
    def shown(self) -> bool:
        """Return whether the graph has it."""
        return self.state in ("provisional", "active", "archived")


class MemoryGraphStore(Protocol):
    """The nodes with natural keys, and the stated edges between them, of one workspace."""

    def find(self, node_ids: Collection[UUID]) -> Mapping[UUID, KeptNode]:
        """Return those of the nodes there are; in a writing transaction hidden ones too."""
        ...

    def named(self, refs: Collection[Ref]) -> Mapping[Ref, KeptNode]:
        """Return those of the nodes there are by what names them, hidden ones too as `find`."""
        ...

    def owned_by(self, subjects: Collection[UUID]) -> Sequence[UUID]:
        """Return the nodes that are data of any of these subjects."""
        ...

    def edges(
        self, wanted: Collection[tuple[UUID, UUID, str]]
    ) -> Mapping[tuple[UUID, UUID, str], MemoryEdge]:
        """Return the edges that hold between (source, target) by a relation."""
        ...

    def touching(
        self, node_ids: Collection[UUID], relations: Collection[str] | None, limit: int
    ) -> Sequence[Step]:
        """Return edges at the nodes: see `graph.memory_walk.Touching`."""
        ...

    def by_labels(self, labels: Collection[str], limit: int) -> Sequence[MemoryNode]:
        """Return visible nodes of the labels by label and natural key."""
        ...

    def provisional(self, *, before: UUID | None, limit: int) -> Sequence[MemoryNode]:
        """Return provisional nodes of any label made before one, the newest first."""
        ...

    def node_page(self, after: Ref | None, *, position: int, limit: int) -> Sequence[MemoryNode]:
        """Return nodes made up to a ledger position, by label and natural key."""
        ...

    def edge_page(
        self, after: EdgeKey | None, *, position: int, limit: int
    ) -> Sequence[MemoryEdge]:
        """Return edges between nodes made up to a ledger position, by their `key`."""
        ...


class MemoryGraphStores(WriteStores, Protocol):
    """What the memory graph needs of a transaction."""

    @property
    def memory_graph(self) -> MemoryGraphStore: ...
