"""The memory graph's eleven methods, and what the one over the ledger reads of its stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cairn.graph.memory_records import Status
from cairn.graph.memory_walk import FRONTIER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.memory_records import Dump, MemoryEdge, MemoryNode
    from cairn.graph.memory_walk import Touching
    from cairn.graph.node import State


IMPORT_BATCH = 100
"""Records that an import writes at once, and at the most 100 entries of one transaction."""

TIED = frozenset({"fact", "observation", "resolution", "ticket", "investigation"})
"""Labels of nodes that speak of whom an edge ties them to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What forgetting a subject did. An unknown one is reported, not an error.

    `erased` nodes are gone with their edges; `archived` ones spoke of the subject by an edge only
    and are found no more. `forgettings` are the ids under which a backend keeps what it did.
    """

    known: bool
    erased: int = 0
    archived: int = 0
    forgettings: tuple[UUID, ...] = field(default_factory=tuple["UUID", ...])


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Whether a backend answers, and which it is."""

    ok: bool
    backend: str
    detail: str = ""


class MemoryGraph(Protocol):
    """A graph of nodes with natural keys and typed edges, one for each workspace."""

    def upsert_node(
        self,
        workspace_id: UUID,
        label: str,
        natural_key: str,
        properties: Mapping[str, Any],
        provenance: str,
        status: str = Status.PROVISIONAL,
    ) -> UUID:
        """Write a node, replacing properties and status of one there is; return its id.

        The first provenance stays. A proposal is never active, and leaves alone what somebody
        accepted or archived. Raises ValidationFailed naming the field.
        """
        ...

    def upsert_edge(
        self,
        workspace_id: UUID,
        from_id: UUID,
        to_id: UUID,
        relation: str,
        weight: float = 1.0,
        properties: Mapping[str, Any] | None = None,
        observed_at: datetime | None = None,
    ) -> UUID:
        """Write an edge, replacing the one of that relation there is; return its id.

        Without `observed_at` it is now, and an edge that is there keeps its own. Raises NotFound
        for an end that is not of the workspace, ValidationFailed for an unknown relation.
        """
        ...

    def mark_archived(self, workspace_id: UUID, node_id: UUID) -> None:
        """Hide a node from walks and questions; again, and nothing changes. NotFound without it."""
        ...

    def forget_subject(self, workspace_id: UUID, subject_natural_key: str) -> ForgetReport:
        """Erase a customer or user with all nodes that are theirs; archive what speaks of them."""
        ...

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None:
        """Return a node, an archived one too; None without it."""
        ...

    def neighbors(
        self,
        workspace_id: UUID,
        node: UUID,
        *,
        depth: int = 1,
        relations: Sequence[str] | None = None,
        limit: int = 10,
    ) -> list[tuple[MemoryNode, MemoryEdge]]:
        """Return visible nodes around a node, nearest and strongest first; depth at most 5."""
        ...

    def path(
        self, workspace_id: UUID, from_id: UUID, to_id: UUID, max_depth: int = 3
    ) -> list[MemoryEdge] | None:
        """Return the edges of a shortest way in either direction over visible nodes, or None."""
        ...

    def query_by_labels(
        self, workspace_id: UUID, labels: Sequence[str], limit: int = 50
    ) -> list[MemoryNode]:
        """Return visible nodes of the labels by label and natural key; at most 500."""
        ...

    def healthcheck(self) -> Health:
        """Say whether the backend answers; raises nothing."""
        ...

    def export_all(self, workspace_id: UUID) -> Iterator[Dump]:
        """Yield every node by label and natural key, then every edge by its `key`."""
        ...

    def import_all(self, workspace_id: UUID, stream: Iterable[Dump]) -> int:
        """Write records as they are and return how many there were; again changes nothing.

        Batch by batch, each whole or not at all. Raises ValidationFailed (`dangling-edge`) for an
        edge whose end is neither in the backend nor earlier in the stream.
        """
        ...


def tied_to(touching: Touching, subjects: Sequence[UUID]) -> list[UUID]:
    """Return the nodes that speak of these subjects by an edge, and of no other customer or user.

    They may hold what they say of them in words, so they are archived with them. Sorted.
    """
    if not subjects:
        return []
    own = set(subjects)
    near = {
        far.id
        for _, far in touching(own, None, FRONTIER)
        if far.dump.label in TIED and far.id not in own
    }
    if not near:
        return []
    shared = {
        (edge.source_id if edge.target_id == far.id else edge.target_id)
        for edge, far in touching(near, None, FRONTIER)
        if far.dump.label in ("customer", "user") and far.id not in own
    }
    return sorted(near - shared)


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
