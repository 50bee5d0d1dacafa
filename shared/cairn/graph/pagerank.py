"""Personalised PageRank over a fetched neighbourhood: the topology decides. Pure, plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.graph.quality import strongest_edges

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import Row
    from cairn.graph.neighbourhood import GraphEdge

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
    home = _summing_to_one(seeds)
    passes = _transitions(edges, row, per_node)
    ranks = dict(home)
    for _ in range(iterations):
        after = _stepped(ranks, home, passes, damping)
        change = sum(abs(rank - ranks.get(node_id, 0.0)) for node_id, rank in after.items())
        ranks = after
        if change < tolerance:
            break
    return ranks


def _stepped(
    ranks: Mapping[UUID, float],
    home: Mapping[UUID, float],
    passes: Mapping[UUID, Sequence[tuple[UUID, float]]],
    damping: float,
) -> dict[UUID, float]:
    stuck = sum(rank for node_id, rank in ranks.items() if node_id not in passes)
    back = 1 - damping + damping * stuck
    after = {node_id: back * share for node_id, share in home.items()}
    for node_id, rank in ranks.items():
        for other, share in passes.get(node_id, ()):
            after[other] = after.get(other, 0.0) + damping * rank * share
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
        if sum(weights.values()) > 0:
            passes[node_id] = list(_summing_to_one(weights).items())
    return passes


def _summing_to_one(values: Mapping[UUID, float]) -> dict[UUID, float]:
    total = sum(values.values())
    return {node_id: value / total for node_id, value in values.items()}
