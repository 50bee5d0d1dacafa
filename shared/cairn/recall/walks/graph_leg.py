"""The graph as a leg of recall: what hangs together with what the question names.

Not a subgraph for people to look at; that is `subgraph`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.graph.intent_weights import INTENT_WEIGHTS
from cairn.graph.merge import best
from cairn.graph.node import Label
from cairn.graph.traversal import Bounds
from cairn.recall.records import Candidate
from cairn.recall.walks.exploration import Way, path_to
from cairn.recall.walks.graph_ports import GraphFound, GraphTuning
from cairn.recall.walks.graph_walks import explore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.graph.intent_weights import Intent, IntentWeights
    from cairn.graph.neighbourhood import GraphEdge
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.transaction import Transactions
    from cairn.recall.records import Filters
    from cairn.recall.walks.exploration import Exploration
    from cairn.recall.walks.graph_ports import GraphReader, GraphSeeds, GraphStores, Method

LEG_NODES = 500
LEG_FRONTIER = 40
LEG_EDGES = 600
"""A leg is one of several and has to be quick: it reads less than a subgraph does."""
WIDENED = 4
"""Reached nodes asked whether they may be results, for each result wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkingGraphLeg:
    """Implements `retrieval.graph_ports.GraphLeg` over any reader of the graph."""

    transactions: Transactions[GraphStores]
    stopwatch: Stopwatch
    weights: IntentWeights = field(default_factory=lambda: INTENT_WEIGHTS)
    tuning: GraphTuning = field(default_factory=GraphTuning)

    def search(
        self,
        principal: Principal,
        seeds: GraphSeeds,
        intents: Mapping[Intent, float],
        filters: Filters,
        *,
        method: Method | None,
        limit: int,
        timeout_ms: int,
        weights: IntentWeights | None = None,
        tuning: GraphTuning | None = None,
    ) -> GraphFound:
        """Walk from the seeds and return at most `limit` candidates within `timeout_ms`."""
        end = self.stopwatch() + timeout_ms / 1000
        tuning = tuning or self.tuning
        way = Way(
            intents=intents,
            filters=filters,
            bounds=Bounds(max_depth=tuning.max_depth, max_nodes=LEG_NODES, timeout_ms=timeout_ms),
            method=method,
            weights=weights or self.weights,
            tuning=tuning,
            frontier=LEG_FRONTIER,
            edges_per_hop=LEG_EDGES,
        )
        with self.transactions.reading(principal, timeout_ms=timeout_ms) as stores:
            found = explore(stores.graph, seeds, way, stopwatch=self.stopwatch)
        if not found.scores:
            return _found(found, ())
        left_ms = max(1, int((end - self.stopwatch()) * 1000))
        with self.transactions.reading(principal, timeout_ms=left_ms) as stores:
            candidates = _candidates(stores.graph, found, filters, limit)
        return _found(found, candidates)


def _candidates(
    reader: GraphReader, found: Exploration, filters: Filters, limit: int
) -> tuple[Candidate, ...]:
    """Return the best reached nodes that may be results.

    Seeds are what was asked with, not for, except those that are seeds because they match.
    """
    seeds = frozenset(found.seed_ids) - found.matched.keys()
    wants_entities = Label.ENTITY in filters.labels
    reached = {
        node_id: score
        for node_id, score in found.scores.items()
        if node_id not in seeds and (wants_entities or found.labels[node_id] != Label.ENTITY)
    }
    ranked = best(reached, WIDENED * limit)
    eligible = reader.eligible([node_id for node_id, _ in ranked], filters)
    shown = [Candidate(node_id, score) for node_id, score in ranked if node_id in eligible]
    return tuple(shown[:limit])


def _found(found: Exploration, candidates: tuple[Candidate, ...]) -> GraphFound:
    """Return the leg's answer, with only the edges that lead from the seeds to its candidates."""
    walked: dict[UUID, GraphEdge] = {}
    for candidate in candidates:
        for edge in path_to(candidate.node_id, found.via):
            walked[edge.id] = edge
    kept = {end for edge in walked.values() for end in (edge.source_id, edge.target_id)}
    kept |= {*found.seed_ids, *(candidate.node_id for candidate in candidates)}
    return GraphFound(
        candidates=candidates,
        seed_ids=found.seed_ids,
        edges=tuple(walked.values()),
        explored=len(found.labels),
        truncated=found.truncated,
        method=found.method,
        depths={node_id: hops for node_id, hops in found.depths.items() if node_id in kept},
        via={node_id: edge for node_id, edge in found.via.items() if node_id in kept},
        scores={node_id: score for node_id, score in found.scores.items() if node_id in kept},
        by_intent=found.by_intent,
        seeds=found.seeds,
    )
