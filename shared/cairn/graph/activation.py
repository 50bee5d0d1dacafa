"""Spreading activation: what entities stir in each other, and what memories hang on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.graph.quality import strength_factor

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.neighbourhood import GraphEdge

SEED = 1.0
DECAY = 0.8
TYPED_BOOST = 2.0
DEPTH = 2
FLOOR = 0.1


class Activated(NamedTuple):
    """An entity's activation, how many hops from a seed, and the edge that brought it."""

    activation: float
    depth: int
    via: GraphEdge | None


def spread(
    edges: Sequence[GraphEdge],
    seeds: Collection[UUID],
    *,
    depth: int = DEPTH,
    decay: float = DECAY,
    typed_boost: float = TYPED_BOOST,
    floor: float = FLOOR,
) -> dict[UUID, Activated]:
    """Return the activation of every entity within `depth` hops of a seed, at least `floor`.

    A seed has 1.0; along an edge between two entities activation becomes
    activation x decay x boost x min(strength / 5, 1), where the boost is `typed_boost` for typed
    relations (USES, WORKS_ON, ...) and 1 for CO_OCCURRENCE. An entity reached several ways keeps
    the highest; a seed keeps its 1.0. Both directions count, self-loops and cycles change nothing.
    """
    at = _between_entities(edges)
    reached = {seed: Activated(SEED, 0, None) for seed in seeds}
    frontier: Mapping[UUID, Activated] = reached
    for hops in range(1, depth + 1):
        fresh: dict[UUID, Activated] = {}
        for node_id, (activation, _, _) in frontier.items():
            for edge in at.get(node_id, ()):
                other = edge.other(node_id)
                value = activation * _passed(edge, decay, typed_boost)
                held = fresh.get(other) or reached.get(other)
                if value >= floor and (held is None or (value > held.activation and held.depth)):
                    fresh[other] = Activated(value, hops, edge)
        reached = {**reached, **fresh}
        frontier = fresh
    return reached


def activate_nodes(
    edges: Sequence[GraphEdge], entities: Mapping[UUID, Activated]
) -> dict[UUID, float]:
    """Return, of every node that references activated entities, the sum of their activations.

    An entity counts once for a node, however many edges join them.
    """
    stirred: dict[UUID, set[UUID]] = {}
    for edge in edges:
        if edge.relation == Relation.REFERENCES and edge.target_id in entities:
            stirred.setdefault(edge.source_id, set()).add(edge.target_id)
    return {
        node_id: sum(entities[entity].activation for entity in sorted(of))
        for node_id, of in stirred.items()
        if node_id not in entities
    }


def _between_entities(edges: Sequence[GraphEdge]) -> dict[UUID, list[GraphEdge]]:
    at: dict[UUID, list[GraphEdge]] = {}
    for edge in edges:
        joins_entities = edge.source_label == edge.target_label == Label.ENTITY
        if joins_entities and edge.source_id != edge.target_id:
            at.setdefault(edge.source_id, []).append(edge)
            at.setdefault(edge.target_id, []).append(edge)
    return at


def _passed(edge: GraphEdge, decay: float, typed_boost: float) -> float:
    boost = 1.0 if edge.relation == Relation.CO_OCCURRENCE else typed_boost
    return decay * boost * strength_factor(edge.weight)
