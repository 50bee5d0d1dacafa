"""The memory graph in PostgreSQL: nodes with a natural key, and the edges stated between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.graph.memory_records import (
    EdgeDump,
    MemoryEdge,
    MemoryNode,
    NodeDump,
    Provenance,
    Ref,
    Status,
    without_fractions,
)
from cairn.graph.node import State
from cairn.memory_graph.ports import KeptNode

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.memory_records import EdgeKey
    from cairn.graph.memory_walk import Step

_SHOWN = frozenset(Status)


class PostgresMemoryGraph(Store):
    """The nodes with natural keys, and the stated edges between them, of one workspace."""

    def find(self, node_ids: Collection[UUID]) -> Mapping[UUID, KeptNode]:
        """Return those of the nodes there are; in a writing transaction hidden ones too."""
        nodes = self.all_of(record(_stored_node), "memory_graph.find", ids=list(node_ids))
        return {item.node.id: item for item in nodes}

    def named(self, refs: Collection[Ref]) -> Mapping[Ref, KeptNode]:
        """Return those of the nodes there are by what names them, hidden ones too as `find`."""
        labels, keys = [_stored(label) for label, _ in refs], [key for _, key in refs]
        nodes = self.all_of(record(_stored_node), "memory_graph.named", labels=labels, keys=keys)
        return {item.node.dump.ref: item for item in nodes}

    def owned_by(self, subjects: Collection[UUID]) -> Sequence[UUID]:
        """Return the nodes that are data of any of these subjects."""
        return self.values("memory_graph.owned_by", subjects=list(subjects))

    def edges(
        self, keys: Collection[tuple[UUID, UUID, str]]
    ) -> Mapping[tuple[UUID, UUID, str], MemoryEdge]:
        """Return the edges that hold between (source, target) by a relation."""
        edges = self.all_of(
            record(_edge),
            "memory_graph.edges",
            sources=[source for source, _, _ in keys],
            targets=[target for _, target, _ in keys],
            relations=[relation for _, _, relation in keys],
        )
        return {(item.source_id, item.target_id, item.dump.relation): item for item in edges}

    def touching(
        self, node_ids: Collection[UUID], relations: Collection[str] | None, limit: int
    ) -> Sequence[Step]:
        """Return edges at the nodes with the visible node at the other end."""
        return self.all_of(
            record(_step),
            "memory_graph.touching",
            ids=list(node_ids),
            relations=sorted(relations) if relations is not None else None,
            limit=limit,
        )

    def by_labels(self, labels: Collection[str], limit: int) -> Sequence[MemoryNode]:
        """Return visible nodes of the labels by label and natural key."""
        stored = [_stored(label) for label in labels]
        return self.all_of(NODE, "memory_graph.by_labels", labels=stored, limit=limit)

    def provisional(self, *, before: UUID | None, limit: int) -> Sequence[MemoryNode]:
        """Return provisional nodes made before one, the newest first."""
        return self.all_of(NODE, "memory_graph.provisional", before=before, limit=limit)

    def remembered(
        self, labels: Collection[str], *, before: UUID | None, limit: int
    ) -> Sequence[MemoryNode]:
        """Return nodes of the labels that a person made of lines of timelines, the newest first."""
        stored = [_stored(label) for label in labels]
        return self.all_of(
            NODE, "memory_graph.remembered", labels=stored, before=before, limit=limit
        )

    def node_page(self, after: Ref | None, *, position: int, limit: int) -> Sequence[MemoryNode]:
        """Return nodes made up to a position, by label and natural key."""
        label, key = after or ("", "")
        return self.all_of(
            NODE,
            "memory_graph.node_page",
            label=_stored(label),
            key=key,
            position=position,
            limit=limit,
        )

    def edge_page(
        self, after: EdgeKey | None, *, position: int, limit: int
    ) -> Sequence[MemoryEdge]:
        """Return edges between nodes made up to a position, by their `key`."""
        source_label, source_key, target_label, target_key, relation = after or ("",) * 5
        return self.all_of(
            record(_edge),
            "memory_graph.edge_page",
            source_label=_stored(source_label),
            source_key=source_key,
            target_label=_stored(target_label),
            target_key=target_key,
            relation=relation,
            position=position,
            limit=limit,
        )


def _stored(label: str) -> str:
    """Return a label as nodes have it: the first letter is a capital."""
    return label[:1].upper() + label[1:]


def _lower_first(label: str) -> str:
    return label[:1].lower() + label[1:]


def _node(*, id: UUID, label: str, key: str, metadata: dict[str, Any], state: str) -> MemoryNode:
    dump = NodeDump(
        label=_lower_first(label),
        natural_key=key,
        properties=metadata.get("properties", {}),
        provenance=Provenance(metadata.get("provenance", Provenance.IMPORTED)),
        status=Status(state) if state in _SHOWN else Status.ARCHIVED,
    )
    return MemoryNode(id=id, dump=dump)


NODE = record(_node)


def _stored_node(*, data_subjects: tuple[UUID, ...], state: str, **row: Any) -> KeptNode:
    return KeptNode(node=_node(state=state, **row), state=State(state), data_subjects=data_subjects)


def _edge(
    *,
    id: UUID,
    source_id: UUID,
    target_id: UUID,
    source_label: str,
    source_key: str,
    target_label: str,
    target_key: str,
    properties: dict[str, Any],
    **row: Any,
) -> MemoryEdge:
    dump = EdgeDump(
        source=(_lower_first(source_label), source_key),
        target=(_lower_first(target_label), target_key),
        properties=without_fractions(properties),
        **row,
    )
    return MemoryEdge(id=id, source_id=source_id, target_id=target_id, dump=dump)


def _step(
    *, far_id: UUID, far_label: str, far_key: str, metadata: Any, state: str, **row: Any
) -> Step:
    far = _node(id=far_id, label=far_label, key=far_key, metadata=metadata, state=state)
    return _edge(**row), far
