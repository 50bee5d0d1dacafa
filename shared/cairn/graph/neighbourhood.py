"""The part of the graph a walk may use: edges already fetched and cut. Not how they are fetched."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from cairn.graph.edge import Relation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from uuid import UUID


class GraphEdge(NamedTuple):
    """A stored edge with the labels of its two ends, both visible to whoever asked.

    `weight` is the edge's own (a strength between entities); `score` is SIMILAR_TO's cosine,
    `mechanism` CAUSED_BY's (direct or inferred), `role` REFERENCES's.
    """

    id: UUID
    view: str
    relation: str
    source_id: UUID
    target_id: UUID
    source_label: str
    target_label: str
    weight: float = 1.0
    score: float | None = None
    mechanism: str | None = None
    role: str | None = None

    def other(self, node_id: UUID) -> UUID:
        """Return the end that is not `node_id`; of a self-loop the node itself."""
        return self.target_id if node_id == self.source_id else self.source_id


def crowded(edges: Iterable[GraphEdge], nodes: Collection[UUID], per_node: int) -> bool:
    """Return whether one of `nodes` has as many edges as a hop brings: it may have more.

    A hop brings at most `per_node` edges of a node a direction, co-occurrence counted apart.
    """
    shares: Counter[tuple[UUID, bool, bool]] = Counter()
    for edge in edges:
        apart = edge.relation == Relation.CO_OCCURRENCE
        shares[(edge.source_id, True, apart)] += 1
        shares[(edge.target_id, False, apart)] += 1
    return any(count >= per_node and node in nodes for (node, _, _), count in shares.items())
