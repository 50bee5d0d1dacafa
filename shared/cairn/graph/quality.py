"""A neighbourhood as walks see it, and what its edges are worth to an intent. Pure formulas."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from cairn.graph.edge import Relation, Role
from cairn.graph.intent_weights import greatest_weight, weight_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import Row


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


FULL_STRENGTH = 5.0
"""Observations after which a relation between entities is as strong as it gets."""
INFERRED_QUALITY = 0.6
"""Of a cause that rules or a model inferred; a direct one has 1."""
ROLE_QUALITY: Mapping[str, float] = {
    Role.ABOUT: 1.0,
    Role.SUBJECT: 1.0,
    Role.OBJECT: 0.9,
    Role.TOOL: 0.8,
    Role.TARGET: 0.8,
    Role.MENTIONED: 0.7,
    Role.SOURCE: 0.4,  # an agent says very much: little follows from two things it said
}
"""Of REFERENCES by its role; 0.7 for a role nobody knows."""
BETWEEN_ENTITIES: frozenset[str] = frozenset(
    {
        Relation.CO_OCCURRENCE,
        Relation.CONTACT_OF,
        Relation.SAME_OWNER,
        Relation.USES,
        Relation.WORKS_ON,
        Relation.COMPETITOR_OF,
    }
)
"""Relations whose weight is a strength: one more each time they are observed."""

OTHER_ROLE_QUALITY = 0.7

_ENTITY = "Entity"
_INFERRED = "inferred"
_SIMILAR_TO, _REFERENCES = Relation.SIMILAR_TO.value, Relation.REFERENCES.value


def strength_factor(strength: float) -> float:
    """Return min(strength / 5, 1), the strength of a relation between entities; never negative."""
    return min(max(strength, 0.0) / FULL_STRENGTH, 1.0)


def edge_quality(edge: GraphEdge) -> float:
    """Return how much an edge is to be believed, from 0 to 1.

    SIMILAR_TO: its cosine, clamped; CAUSED_BY: 1 direct, 0.6 inferred; REFERENCES: by role (about
    and subject 1, object 0.9, tool and target 0.8, mentioned 0.7, source 0.4); a relation between
    two entities: min(strength / 5, 1); every other edge: its weight, at most 1. The formula is
    this project's own; the strength factor is spreading activation's.
    """
    if edge.relation == _SIMILAR_TO:
        return min(max(edge.score if edge.score is not None else edge.weight, 0.0), 1.0)
    if edge.relation == _REFERENCES:
        return ROLE_QUALITY.get(edge.role or "", OTHER_ROLE_QUALITY)
    if edge.mechanism == _INFERRED:
        return INFERRED_QUALITY
    if edge.relation in BETWEEN_ENTITIES and edge.source_label == edge.target_label == _ENTITY:
        return strength_factor(edge.weight)
    return min(max(edge.weight, 0.0), 1.0)


def traverse_score(edge: GraphEdge, row: Row) -> float:
    """Return intent_weight[intent][relation] x edge_quality(edge), the published formula."""
    return weight_of(row, edge.relation) * edge_quality(edge)


def step(edge: GraphEdge, row: Row) -> float:
    """Return the traverse score as a share of the intent's greatest weight, from 0 to 1.

    So that a path's score, the product of its steps, never grows with its length, and the best
    path is the one a best-first walk settles first.
    """
    return traverse_score(edge, row) / greatest_weight(row)


def strongest_edges(
    edges: Sequence[GraphEdge], row: Row, *, per_node: int
) -> dict[UUID, list[tuple[float, GraphEdge]]]:
    """Return each node's edges with their traverse scores, falling, at most `per_node` of them.

    An edge stands at both of its ends; a self-loop nowhere. A hub so loses its weakest edges from
    its own side only: a leaf keeps its edge to the hub. Ties are kept in the order of edge ids.
    """
    at: dict[UUID, list[tuple[float, GraphEdge]]] = {}
    for edge in sorted(edges, key=_by_id):
        if edge.source_id != edge.target_id:
            scored = (traverse_score(edge, row), edge)
            at.setdefault(edge.source_id, []).append(scored)
            at.setdefault(edge.target_id, []).append(scored)
    for scored in at.values():
        if len(scored) > 1:
            scored.sort(key=_by_score, reverse=True)  # keeps equals in their order
            del scored[per_node:]
    return at


def _by_id(edge: GraphEdge) -> int:
    return edge.id.int


def _by_score(scored: tuple[float, GraphEdge]) -> float:
    return scored[0]
