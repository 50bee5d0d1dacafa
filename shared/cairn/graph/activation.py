"""Spreading activation from entities to memories, and PageRank. Pure formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.graph.quality import strength_factor, strongest_edges

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import Row
    from cairn.graph.quality import GraphEdge


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


DAMPING = 0.85
ITERATIONS = 20
TOLERANCE = 1e-6
PER_NODE = 50


def pagerank(
    edges: Sequence[GraphEdge],
    seeds: Mapping[UUID, float],
    row: Row,
    *,
    damping: float = DAMPING,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    per_node: int = PER_NODE,
) -> dict[UUID, float]:
    """Return the share of time a walker spends at each node who jumps home to a seed now and then.

    r' = (1 - damping) p + damping (W r + d p): p is the seeds' scores made to sum 1, W passes a
    node's rank to its neighbours in proportion to the edges' base weight x quality (`row`, for
    every edge both ways), d is the rank of nodes without an edge, which goes home. Ends after
    `iterations` or when the ranks change by less than `tolerance` in all (damping 0.85, 20 and
    1e-6 as in the usual implementations). Ranks sum to 1; self-loops do not count; a hub keeps its
    `per_node` heaviest edges. No seeds, no ranks.
    """
    if not seeds:
        return {}
    passes = _transitions(edges, row, per_node)
    nodes = list(dict.fromkeys([*seeds, *passes]))
    number = {node_id: place for place, node_id in enumerate(nodes)}
    total = sum(seeds.values())
    home = [seeds.get(node_id, 0.0) / total for node_id in nodes]
    ways = [[(number[far], share) for far, share in passes.get(node, ())] for node in nodes]
    ranks = home
    for _ in range(iterations):
        after = _stepped(ranks, home, ways, damping)
        change = sum(abs(rank - other) for rank, other in zip(after, ranks, strict=True))
        ranks = after
        if change < tolerance:
            break
    return {node_id: rank for node_id, rank in zip(nodes, ranks, strict=True) if rank > 0}


def _stepped(
    ranks: Sequence[float],
    home: Sequence[float],
    ways: Sequence[Sequence[tuple[int, float]]],
    damping: float,
) -> list[float]:
    """Return the ranks one step on; nodes stand for their place, which hashes nothing."""
    stuck = sum(rank for rank, onward in zip(ranks, ways, strict=True) if not onward)
    back = 1 - damping + damping * stuck
    after = [back * share for share in home]
    for rank, onward in zip(ranks, ways, strict=True):
        if rank:
            passed = damping * rank
            for other, share in onward:
                after[other] += passed * share
    return after


def _transitions(
    edges: Sequence[GraphEdge], row: Row, per_node: int
) -> dict[UUID, list[tuple[UUID, float]]]:
    """Return, by node, its neighbours with shares that sum to 1; several edges add up."""
    passes: dict[UUID, list[tuple[UUID, float]]] = {}
    for node_id, strongest in strongest_edges(edges, row, per_node=per_node).items():
        weights: dict[UUID, float] = {}
        for score, edge in strongest:
            other = edge.other(node_id)
            weights[other] = weights.get(other, 0.0) + score
        total = sum(weights.values())
        passes[node_id] = [(other, weight / total) for other, weight in weights.items() if total]
    return passes
