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
    passes = _transitions(edges, row, per_node)
    nodes = list(dict.fromkeys([*seeds, *passes]))
    number = {node_id: place for place, node_id in enumerate(nodes)}
    total = sum(seeds.values())
    home = [seeds.get(node_id, 0.0) / total for node_id in nodes]
    ways = [[(number[far], share) for far, share in passes.get(one, ())] for one in nodes]
    ranks = home
    for _ in range(iterations):
        after = _stepped(ranks, home, ways, damping)
        change = sum(abs(one - other) for one, other in zip(after, ranks, strict=True))
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
