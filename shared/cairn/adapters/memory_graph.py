"""The memory graph in memory: nothing is kept when the process ends. Not thread-safe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cairn.graph.memory_records import (
    Dump,
    EdgeDump,
    EdgeKey,
    MemoryEdge,
    MemoryNode,
    NodeDump,
    Ref,
    Status,
    clean_edge,
    clean_label,
    clean_node,
    dangling,
    named_subjects,
    owners_of,
    written_over,
)
from cairn.graph.memory_walk import MAX_LIMIT, Step, neighbours, order, shortest_path
from cairn.kernel.errors import NotFound
from cairn.memory_graph.ports import ForgetReport, Health, tied_to

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource


@dataclass(slots=True)
class _Graph:
    """What one workspace holds."""

    nodes: dict[UUID, MemoryNode] = field(default_factory=dict["UUID", MemoryNode])
    refs: dict[Ref, UUID] = field(default_factory=dict[Ref, "UUID"])
    edges: dict[EdgeKey, MemoryEdge] = field(default_factory=dict[EdgeKey, MemoryEdge])

    def touching(
        self, node_ids: Collection[UUID], relations: Collection[str] | None, limit: int
    ) -> Sequence[Step]:
        """Return edges at the nodes with the visible node at the other end."""
        steps: list[Step] = []
        for edge in self.edges.values():
            if relations is not None and edge.dump.relation not in relations:
                continue
            for near, far in (
                (edge.source_id, edge.target_id),
                (edge.target_id, edge.source_id),
            ):
                if near in node_ids and self.nodes[far].visible:
                    steps.append((edge, self.nodes[far]))
        return sorted(steps, key=order)[:limit]

    def erase(self, gone: Collection[UUID]) -> None:
        """Take nodes out, with their edges."""
        for node_id in gone:
            del self.refs[self.nodes.pop(node_id).dump.ref]
        self.edges = {
            key: edge
            for key, edge in self.edges.items()
            if edge.source_id not in gone and edge.target_id not in gone
        }


class InMemoryGraph:
    """Implements `MemoryGraph`."""

    def __init__(self, clock: Clock, new_id: IdSource) -> None:
        self._clock = clock
        self._new_id = new_id
        self._graphs: dict[UUID, _Graph] = {}

    def upsert_node(
        self,
        workspace_id: UUID,
        label: str,
        natural_key: str,
        properties: Mapping[str, Any],
        provenance: str,
        status: str = Status.PROVISIONAL,
    ) -> UUID:
        """Write a node and return its id."""
        node = clean_node(label, natural_key, properties, provenance, status)
        return self._put_node(self._graph(workspace_id), node, importing=False)

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
        """Write an edge and return its id."""
        graph = self._graph(workspace_id)
        source, target = (_node(graph, item).dump.ref for item in (from_id, to_id))
        edge = clean_edge(
            source, target, relation, weight, properties or {}, observed_at or self._clock()
        )
        present = graph.edges.get(edge.key)
        if present is not None and observed_at is None:
            edge = replace(edge, observed_at=present.dump.observed_at)
        return self._put_edge(graph, edge)

    def mark_archived(self, workspace_id: UUID, node_id: UUID) -> None:
        """Hide a node from walks and questions."""
        graph = self._graph(workspace_id)
        node = _node(graph, node_id)
        graph.nodes[node_id] = replace(node, dump=replace(node.dump, status=Status.ARCHIVED))

    def forget_subject(self, workspace_id: UUID, subject_natural_key: str) -> ForgetReport:
        """Erase a subject's nodes, archive what speaks of it."""
        graph = self._graph(workspace_id)
        meant = set(named_subjects(subject_natural_key))
        gone = [node.id for node in graph.nodes.values() if meant & set(owners_of(node.dump))]
        tied = [item for item in tied_to(graph.touching, gone) if item not in gone]
        for node_id in tied:
            self.mark_archived(workspace_id, node_id)
        graph.erase(set(gone))
        return ForgetReport(known=bool(gone), erased=len(gone), archived=len(tied))

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None:
        """Return a node by what names it."""
        graph = self._graph(workspace_id)
        node_id = graph.refs.get((clean_label(label), natural_key))
        return graph.nodes[node_id] if node_id else None

    def neighbors(
        self,
        workspace_id: UUID,
        node: UUID,
        *,
        depth: int = 1,
        relations: Sequence[str] | None = None,
        limit: int = 10,
    ) -> list[tuple[MemoryNode, MemoryEdge]]:
        """Return visible nodes around a node."""
        touching = self._graph(workspace_id).touching
        return neighbours(touching, node, depth=depth, relations=relations, limit=limit)

    def path(
        self, workspace_id: UUID, from_id: UUID, to_id: UUID, max_depth: int = 3
    ) -> list[MemoryEdge] | None:
        """Return the edges of a shortest way."""
        touching = self._graph(workspace_id).touching
        return shortest_path(touching, from_id, to_id, max_depth=max_depth)

    def query_by_labels(
        self, workspace_id: UUID, labels: Sequence[str], limit: int = 50
    ) -> list[MemoryNode]:
        """Return visible nodes of the labels."""
        clean = {clean_label(label, "labels") for label in labels}
        nodes = self._graph(workspace_id).nodes.values()
        matches = [node for node in nodes if node.dump.label in clean and node.visible]
        return sorted(matches, key=lambda item: item.dump.ref)[: min(limit, MAX_LIMIT)]

    def healthcheck(self) -> Health:
        """Say that it answers."""
        return Health(ok=True, backend="memory")

    def export_all(self, workspace_id: UUID) -> Iterator[Dump]:
        """Yield nodes, then edges, each sorted."""
        graph = self._graph(workspace_id)
        yield from sorted((node.dump for node in graph.nodes.values()), key=lambda item: item.ref)
        yield from sorted((edge.dump for edge in graph.edges.values()), key=lambda item: item.key)

    def import_all(self, workspace_id: UUID, stream: Iterable[Dump]) -> int:
        """Write records as they are; each stands at once."""
        graph = self._graph(workspace_id)
        count = 0
        for record in stream:
            if isinstance(record, NodeDump):
                self._put_node(graph, record, importing=True)
            else:
                self._put_edge(graph, record)
            count += 1
        return count

    def _graph(self, workspace_id: UUID) -> _Graph:
        return self._graphs.setdefault(workspace_id, _Graph())

    def _put_node(self, graph: _Graph, node: NodeDump, *, importing: bool) -> UUID:
        node_id = graph.refs.get(node.ref)
        present = graph.nodes[node_id].dump if node_id else None
        owners_of(node)  # refuses what is no list of names
        after = written_over(present, node, importing=importing)
        if node_id is None:
            node_id = graph.refs[node.ref] = self._new_id()
        if after is not None:
            graph.nodes[node_id] = MemoryNode(id=node_id, dump=after)
        return node_id

    def _put_edge(self, graph: _Graph, edge: EdgeDump) -> UUID:
        ends = [graph.refs.get(ref) for ref in (edge.source, edge.target)]
        source, target = ends
        if source is None or target is None:
            raise dangling(edge, {edge.source, edge.target} & graph.refs.keys())
        present = graph.edges.get(edge.key)
        if present is not None and present.dump == edge:
            return present.id
        new_edge = MemoryEdge(id=self._new_id(), source_id=source, target_id=target, dump=edge)
        graph.edges[edge.key] = new_edge
        return new_edge.id


def _node(graph: _Graph, node_id: UUID) -> MemoryNode:
    node = graph.nodes.get(node_id)
    if node is None:
        raise NotFound("There is no such node.", node_id=str(node_id))
    return node
