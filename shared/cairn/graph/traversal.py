"""A bounded best-first walk from seeds, one intent at a time. Pure: the edges are given."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cairn.graph.intent_weights import greatest_weight
from cairn.graph.quality import strongest_edges
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import Row
    from cairn.graph.quality import GraphEdge
    from cairn.kernel.clock import Stopwatch

HOP_DECAY = 0.8
PER_NODE = 50
"""Edges followed at one node; a hub has more, and its weakest are left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How far a walk may go. Defaults and maxima are the published ones."""

    max_depth: int = 3
    max_nodes: int = 100
    timeout_ms: int = 5_000

    def __post_init__(self) -> None:
        """Raise ValidationFailed with every bound that is out of its range."""
        errors = [
            FieldError(name, f"must be from {least} to {most}")
            for name, least, most in (
                ("max_depth", LEAST.max_depth, MOST.max_depth),
                ("max_nodes", LEAST.max_nodes, MOST.max_nodes),
                ("timeout_ms", LEAST.timeout_ms, MOST.timeout_ms),
            )
            if not least <= getattr(self, name) <= most
        ]
        if errors:
            first = errors[0]
            raise ValidationFailed(
                f"{first.location} {first.message}.", reason="traversal-bounds", errors=errors
            )


class _Range(NamedTuple):
    max_depth: int
    max_nodes: int
    timeout_ms: int


LEAST = _Range(max_depth=1, max_nodes=1, timeout_ms=1)
MOST = _Range(max_depth=10, max_nodes=500, timeout_ms=30_000)


_Waiting = tuple[float, int, "UUID", "GraphEdge | None"]


class Reached(NamedTuple):
    """A node the walk settled: its score, its hops from a seed, and the edge it came by."""

    score: float
    depth: int
    via: GraphEdge | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What a walk reached, best first, and whether a bound ended it."""

    reached: Mapping[UUID, Reached]
    truncated: bool


def walk(
    edges: Sequence[GraphEdge],
    seeds: Mapping[UUID, float],
    row: Row,
    bounds: Bounds,
    *,
    stopwatch: Stopwatch,
    deadline: float,
    per_node: int = PER_NODE,
    decay: float = HOP_DECAY,
) -> Walk:
    """Return the best nodes around `seeds` by intent-weighted traversal.

    A path's score is its seed's score (in (0, 1]) times, for each edge, `decay` x
    traverse_score(edge) / greatest weight of the intent; traverse_score is intent_weight[relation]
    x edge_quality(edge). A node has the score of its best path. The walk is best-first, so it
    settles nodes by falling score; it ends at `max_nodes` settled nodes, `max_depth` hops, or when
    `stopwatch` reaches `deadline` (seconds). At equal scores the shorter path, then the smaller
    id, comes first. Cycles and self-loops do no harm; edges of weight zero are closed.
    """
    at = strongest_edges(edges, row, per_node=per_node)
    greatest = greatest_weight(row)
    settled: dict[UUID, Reached] = {}
    shallowest: dict[UUID, int] = {}
    waiting: list[_Waiting] = [(-score, 0, node_id, None) for node_id, score in seeds.items()]
    heapq.heapify(waiting)
    while waiting:
        if len(settled) >= bounds.max_nodes or stopwatch() >= deadline:
            break
        negative, depth, node_id, via = heapq.heappop(waiting)
        if depth >= shallowest.get(node_id, bounds.max_depth + 1):
            continue
        shallowest[node_id] = depth
        settled.setdefault(node_id, Reached(-negative, depth, via))
        if depth < bounds.max_depth:
            passed = -negative * decay / greatest
            for entry in _beyond(at.get(node_id, ()), node_id, passed, depth):
                if depth + 1 < shallowest.get(entry[2], bounds.max_depth + 1):
                    heapq.heappush(waiting, entry)
    left = any(node_id not in settled for _, _, node_id, _ in waiting)
    return Walk(reached=settled, truncated=left)


def _beyond(
    edges: Sequence[tuple[float, GraphEdge]], node_id: UUID, passed: float, depth: int
) -> Iterator[_Waiting]:
    """Return what waits behind a node's edges; a closed edge (of weight zero) leads nowhere.

    `passed` times an edge's traverse score is what reaches its other end.

    A node already settled waits again when this way to it is shorter: what lies behind it may be
    in reach only so. Its score stays that of its best path.
    """
    for score, edge in edges:
        if score > 0:
            yield -passed * score, depth + 1, edge.other(node_id), edge
