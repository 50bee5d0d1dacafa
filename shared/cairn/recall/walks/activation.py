"""One exploration by spreading activation: entities stir each other, and memories hang on them.

Hops lead from entity to entity. What references an entity that was stirred is reached without a
further hop. The formulas are in `graph.activation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.graph.activation import activate_nodes, spread
from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.recall.walks.exploration import LEAST_PER_NODE, Exploration, fetch_hop, path_to
from cairn.recall.walks.graph_ports import Method

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.activation import Activated
    from cairn.graph.neighbourhood import GraphEdge
    from cairn.kernel.clock import Stopwatch
    from cairn.recall.walks.exploration import Starts, Way
    from cairn.recall.walks.graph_ports import GraphReader

BETWEEN = tuple(sorted(frozenset(Relation) - {Relation.REFERENCES}))
"""What may join two entities; an edge to anything else conducts nothing."""


@dataclass(slots=True, kw_only=True)
class _Spreading:
    """What has been read so far, and how."""

    reader: GraphReader
    way: Way
    deadline: float
    stopwatch: Stopwatch
    labels: dict[UUID, str]
    edges: dict[UUID, GraphEdge] = field(default_factory=dict["UUID", "GraphEdge"])
    truncated: bool = False

    def read(self, frontier: Sequence[UUID], relations: Iterable[str], *, limit: int) -> None:
        """Read the edges of `relations`, narrowed by the way's, at the first `limit` nodes."""
        asked = self.way.relations
        wanted = tuple(one for one in relations if not asked or one in asked)
        if not frontier or not wanted:
            return
        edges, cut = fetch_hop(
            self.reader,
            frontier[:limit],
            self.way,
            relations=wanted,
            deadline=self.deadline,
            stopwatch=self.stopwatch,
        )
        self.truncated = self.truncated or cut or len(frontier) > limit
        for edge in edges:
            self.edges[edge.id] = edge
            self.labels[edge.source_id] = edge.source_label
            self.labels[edge.target_id] = edge.target_label


def explore_by_activation(
    reader: GraphReader, starts: Starts, way: Way, *, deadline: float, stopwatch: Stopwatch
) -> Exploration:
    """Return what the starts stir: entities by their activation, and the nodes that name them.

    Entities up to the tuning's `max_depth` hops away, or the bounds' if that is less. A given seed
    that is no entity stirs the entities it references; matched ones do where nothing was given. A
    matched node has what it started with besides.
    """
    found = _Spreading(
        reader=reader,
        way=way,
        deadline=deadline,
        stopwatch=stopwatch,
        labels=dict(starts.labels),
    )
    stirred = _stirred(found, starts)
    entities = _entities(found, stirred)
    most = way.edges_per_hop // LEAST_PER_NODE
    found.read(_most_active(entities), (Relation.REFERENCES,), limit=most)
    edges = tuple(found.edges.values())
    nodes = activate_nodes(edges, entities)
    scores = {node_id: one.activation for node_id, one in entities.items()} | nodes
    scores |= {node_id: scores.get(node_id, 0.0) + one for node_id, one in starts.matched.items()}
    via = _ways(edges, starts, stirred, entities, nodes)
    return Exploration(
        seeds=tuple(starts.named),
        seed_ids=tuple(starts.labels),
        matched=starts.matched,
        method=Method.ACTIVATION,
        edges=edges,
        labels=found.labels,
        scores=scores,
        depths={node_id: len(path_to(node_id, via)) for node_id in scores},
        via=via,
        truncated=found.truncated,
    )


def _stirred(found: _Spreading, starts: Starts) -> dict[UUID, GraphEdge | None]:
    """Return the entities that begin with full activation, and the edge that named each, if any."""
    stirring = starts.given or starts.matched.keys()
    others = sorted(one for one in stirring if found.labels[one] != Label.ENTITY)
    seeds: dict[UUID, GraphEdge | None] = {
        one: None for one in sorted(stirring) if found.labels[one] == Label.ENTITY
    }
    found.read(others, (Relation.REFERENCES,), limit=found.way.frontier)
    for edge in found.edges.values():
        if edge.source_id in stirring and edge.target_label == Label.ENTITY:
            seeds.setdefault(edge.target_id, edge)
    return seeds


def _entities(found: _Spreading, stirred: Mapping[UUID, object]) -> dict[UUID, Activated]:
    """Read hop by hop, from the entities stirred last, and return what activation each has."""
    tuning = found.way.tuning
    depth = min(tuning.max_depth, found.way.bounds.max_depth)
    entities = spread((), stirred)
    for hops in range(depth):
        frontier = {one: each for one, each in entities.items() if each.depth == hops}
        found.read(_most_active(frontier), BETWEEN, limit=found.way.frontier)
        entities = spread(
            tuple(found.edges.values()),
            stirred,
            depth=hops + 1,
            decay=tuning.hop_decay,
            typed_boost=tuning.typed_boost,
        )
    return entities


def _most_active(entities: Mapping[UUID, Activated]) -> list[UUID]:
    return sorted(entities, key=lambda one: (-entities[one].activation, one))


def _ways(
    edges: Sequence[GraphEdge],
    starts: Starts,
    stirred: Mapping[UUID, GraphEdge | None],
    entities: Mapping[UUID, Activated],
    nodes: Mapping[UUID, float],
) -> dict[UUID, GraphEdge]:
    """Return the edge each reached node got its score by; a node's leads to its most active."""
    via = {one: each.via or stirred.get(one) for one, each in entities.items()}
    best: dict[UUID, GraphEdge] = {}
    for edge in edges:
        named = edge.relation == Relation.REFERENCES and edge.target_id in entities
        if not named or edge.source_id not in nodes or edge.source_id in starts.labels:
            continue
        held = best.get(edge.source_id)
        if held is None or _activation(edge, entities) > _activation(held, entities):
            best[edge.source_id] = edge
    return {one: edge for one, edge in via.items() if edge is not None} | best


def _activation(edge: GraphEdge, entities: Mapping[UUID, Activated]) -> float:
    return entities[edge.target_id].activation
