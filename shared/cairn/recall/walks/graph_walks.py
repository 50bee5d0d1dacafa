"""One exploration of the graph: seeds found, their neighbourhood fetched once, ranked by a method.

Every intent walks the same fetched edges, so several intents cost one round of reading. The
graph leg of recall chooses candidates among the reached nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.graph.activation import pagerank
from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent, greatest_weight, weight_of
from cairn.graph.merge import arrivals, best, merge, surest, walked_intents, with_matches
from cairn.graph.node import Label
from cairn.graph.quality import edge_quality
from cairn.graph.traversal import Bounds, Reached, walk
from cairn.recall.records import Candidate
from cairn.recall.walks.exploration import (
    Exploration,
    Starts,
    Way,
    explore_by_activation,
    fetch_hop,
    find_starts,
    path_to,
)
from cairn.recall.walks.graph_ports import GraphFound, GraphTuning, Method

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import IntentWeights, Row
    from cairn.graph.quality import GraphEdge
    from cairn.graph.traversal import Walk
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.records import Filters
    from cairn.recall.walks.graph_ports import GraphSeeds


PPR_INTENTS = frozenset({Intent.GENERAL, Intent.RELATED})
"""Intents without a direction; from entities alone, these are ranked by the topology."""


@dataclass(slots=True)
class _Neighbourhood:
    """What has been fetched so far.

    `same` has one object for each id: looking ids up costs a third when they are the same object.
    """

    edges: dict[UUID, GraphEdge] = field(default_factory=dict["UUID", "GraphEdge"])
    labels: dict[UUID, str] = field(default_factory=dict["UUID", str])
    promise: dict[UUID, float] = field(default_factory=dict["UUID", float])
    hopped: set[UUID] = field(default_factory=set["UUID"])
    same: dict[UUID, UUID] = field(default_factory=dict["UUID", "UUID"])
    truncated: bool = False


def method_for(intents: Collection[Intent], *, matched: bool = False) -> Method:
    """Return the method for a question that names none; docs/decisions/0012 has the measures.

    The walk, except for questions that are general or after likeness only and whose walks start
    from no `matched` node: entities and given nodes say little of what is wanted.
    """
    undirected = PPR_INTENTS.issuperset(intents) and not matched
    return Method.PPR if undirected else Method.INTENT_WEIGHTED


def explore(stores: Stores, seeds: GraphSeeds, way: Way, *, stopwatch: Stopwatch) -> Exploration:
    """Return what lies around `seeds`, ranked, within the bounds of `way`.

    The deadline is the bounds' `timeout_ms` from now; what was fetched by then is ranked, and the
    result is `truncated`. Raises Unavailable when not even the seeds can be read.
    """
    deadline = stopwatch() + way.bounds.timeout_ms / 1000
    intents = walked_intents(way.intents)
    starts = find_starts(stores, seeds, way.filters)
    if not starts.labels:
        return Exploration(method=way.method or method_for(intents))
    if way.method is Method.ACTIVATION:
        return explore_by_activation(stores, starts, way, deadline=deadline, stopwatch=stopwatch)
    neighbourhood = _fetched(stores, starts, way, intents, deadline=deadline, stopwatch=stopwatch)
    method = way.method or method_for(intents, matched=bool(starts.matched))
    edges = tuple(neighbourhood.edges.values())
    walks = _walks(edges, starts.scores, way, intents, deadline=deadline, stopwatch=stopwatch)
    by_intent = {
        intent: {node_id: reached.score for node_id, reached in each.reached.items()}
        for intent, each in walks.items()
    }
    if method is Method.PPR:
        scores = _by_pagerank(edges, starts, way.weights[surest(intents)], way.tuning)
    else:
        arrived = _arrived(edges, starts, walks, way)
        scores = merge(by_intent, intents) | with_matches(starts.matched, arrived, intents)
    ways = _ways(walks, intents)
    return Exploration(
        seeds=tuple(starts.named),
        seed_ids=tuple(starts.labels),
        matched=starts.matched,
        method=method,
        edges=edges,
        labels=neighbourhood.labels,
        scores=scores,
        by_intent=by_intent if method is Method.INTENT_WEIGHTED else {},
        depths={node_id: reached.depth for node_id, reached in ways.items()},
        via={node_id: walked.via for node_id, walked in ways.items() if walked.via is not None},
        truncated=neighbourhood.truncated or any(each.truncated for each in walks.values()),
    )


def _fetched(
    stores: Stores,
    starts: Starts,
    way: Way,
    intents: Mapping[Intent, float],
    *,
    deadline: float,
    stopwatch: Stopwatch,
) -> _Neighbourhood:
    neighbourhood = _Neighbourhood(labels=dict(starts.labels), promise=starts.scores)
    for _ in range(way.bounds.max_depth):
        frontier, left_out = _frontier(neighbourhood, way.frontier)
        if not frontier:
            break
        edges, cut = fetch_hop(
            stores,
            frontier,
            way,
            relations=way.relations,
            deadline=deadline,
            stopwatch=stopwatch,
        )
        neighbourhood.truncated = neighbourhood.truncated or left_out or cut
        neighbourhood.hopped.update(frontier)
        _learn(neighbourhood, edges, way, intents)
    return neighbourhood


def _frontier(neighbourhood: _Neighbourhood, limit: int) -> tuple[list[UUID], bool]:
    """Return the most promising nodes not yet hopped from, and whether others were left out."""
    fresh = [node_id for node_id in neighbourhood.promise if node_id not in neighbourhood.hopped]
    fresh.sort(key=lambda node_id: (-neighbourhood.promise[node_id], node_id))
    return fresh[:limit], len(fresh) > limit


def _learn(
    neighbourhood: _Neighbourhood,
    edges: Sequence[GraphEdge],
    way: Way,
    intents: Mapping[Intent, float],
) -> None:
    before = dict(neighbourhood.promise)
    edges = [
        edge for edge in edges if edge.id not in neighbourhood.edges
    ]  # may come once for each end
    weights, decay = way.weights, way.tuning.hop_decay
    rows = [(sure / greatest_weight(weights[of]), weights[of]) for of, sure in intents.items()]
    shares: dict[str, float] = {}
    same = neighbourhood.same.setdefault
    for fetched in edges:
        source_id, target_id = fetched.source_id, fetched.target_id
        edge = fetched._replace(
            source_id=same(source_id, source_id), target_id=same(target_id, target_id)
        )
        neighbourhood.edges[edge.id] = edge
        neighbourhood.labels[edge.source_id] = edge.source_label
        neighbourhood.labels[edge.target_id] = edge.target_label
        relation = edge.relation
        if relation not in shares:
            shares[relation] = decay * max(by * weight_of(row, relation) for by, row in rows)
        worth = shares[relation] * edge_quality(edge)
        for near, far in (
            (edge.source_id, edge.target_id),
            (edge.target_id, edge.source_id),
        ):
            if near in before and worth > 0:
                promise = before[near] * worth
                neighbourhood.promise[far] = max(neighbourhood.promise.get(far, 0.0), promise)


def _walks(
    edges: Sequence[GraphEdge],
    starts: Mapping[UUID, float],
    way: Way,
    intents: Mapping[Intent, float],
    *,
    deadline: float,
    stopwatch: Stopwatch,
) -> dict[Intent, Walk]:
    """Walk once for each intent; what is left of the time is shared among those still to come."""
    walks: dict[Intent, Walk] = {}
    for number, intent in enumerate(intents):
        now = stopwatch()
        share = (deadline - now) / (len(intents) - number)
        walks[intent] = walk(
            edges,
            starts,
            way.weights[intent],
            way.bounds,
            stopwatch=stopwatch,
            deadline=now + share,
            decay=way.tuning.hop_decay,
        )
    return walks


def _ways(walks: Mapping[Intent, Walk], intents: Mapping[Intent, float]) -> dict[UUID, Reached]:
    """Return how each node was reached by the intent that scores it best."""
    best: dict[UUID, Reached] = {}
    for intent, each in walks.items():
        for node_id, reached in each.reached.items():
            sure = reached._replace(score=reached.score * intents[intent])
            held = best.get(node_id)
            if held is None or sure.score > held.score:
                best[node_id] = sure
    return best


def _arrived(
    edges: Sequence[GraphEdge], starts: Starts, walks: Mapping[Intent, Walk], way: Way
) -> dict[Intent, dict[UUID, float]]:
    """Return, by intent, what reaches each matched node from the others."""
    return {
        intent: arrivals(
            starts.matched, each.reached, edges, way.weights[intent], max_depth=way.bounds.max_depth
        )
        for intent, each in walks.items()
    }


def _by_pagerank(
    edges: Sequence[GraphEdge], starts: Starts, row: Row, tuning: GraphTuning
) -> dict[UUID, float]:
    """Return 1 for given seeds and, for others, a hop's decay x the share of the best one's rank.

    So that the best of the others scores as one hop of a walk does at best. The walker jumps home
    to seeds in proportion to what they start with.
    """
    ranks = pagerank(edges, starts.scores, row)
    stated = starts.given
    greatest = max((rank for node_id, rank in ranks.items() if node_id not in stated), default=1.0)
    return {
        node_id: 1.0 if node_id in stated else tuning.hop_decay * rank / greatest
        for node_id, rank in ranks.items()
    }


LEG_NODES = 500
LEG_FRONTIER = 40
LEG_EDGES = 600
"""A leg is one of several and has to be quick: it reads less than a subgraph does."""
WIDENED = 4
"""Reached nodes asked whether they may be results, for each result wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkingGraphLeg:
    """Finds nodes by how they hang together with what the question names."""

    transactions: Transactions[Stores]
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
        """Walk from the seeds and return at most `limit` candidates within `timeout_ms`.

        `intents` has confidences in [0, 1]; those at or below 0.3 are left out, and with none left
        the walk is `general`. `weights` None takes the deployment's matrix, `tuning` None its
        constants. `method` None is chosen by the intents. No seed, nothing found. Candidates
        satisfy `filters` and the strict agent guard; nodes on the way satisfy the lenient one.
        Raises Unavailable when storage cannot answer; a deadline that passes while walking is
        `truncated`, not an error.
        """
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
            exploration = explore(stores, seeds, way, stopwatch=self.stopwatch)
        if not exploration.scores:
            return _leg_answer(exploration, ())
        left_ms = max(1, int((end - self.stopwatch()) * 1000))
        with self.transactions.reading(principal, timeout_ms=left_ms) as stores:
            candidates = _candidates(stores, exploration, filters, limit)
        return _leg_answer(exploration, candidates)


def _candidates(
    stores: Stores, exploration: Exploration, filters: Filters, limit: int
) -> tuple[Candidate, ...]:
    """Return the best reached nodes that may be results.

    Seeds are what was asked with, not for, except those that are seeds because they match.
    """
    seeds = frozenset(exploration.seed_ids) - exploration.matched.keys()
    wants_entities = Label.ENTITY in filters.labels
    reached = {
        node_id: score
        for node_id, score in exploration.scores.items()
        if node_id not in seeds and (wants_entities or exploration.labels[node_id] != Label.ENTITY)
    }
    ranked = best(reached, WIDENED * limit)
    eligible = stores.graph.eligible([node_id for node_id, _ in ranked], filters)
    shown = [Candidate(node_id, score) for node_id, score in ranked if node_id in eligible]
    return tuple(shown[:limit])


def _leg_answer(exploration: Exploration, candidates: tuple[Candidate, ...]) -> GraphFound:
    """Return the leg's answer, with only the edges that lead from the seeds to its candidates."""
    walked: dict[UUID, GraphEdge] = {}
    for candidate in candidates:
        for edge in path_to(candidate.node_id, exploration.via):
            walked[edge.id] = edge
    ends = {end for edge in walked.values() for end in (edge.source_id, edge.target_id)}
    ends |= {*exploration.seed_ids, *(candidate.node_id for candidate in candidates)}
    return GraphFound(
        candidates=candidates,
        seed_ids=exploration.seed_ids,
        edges=tuple(walked.values()),
        explored=len(exploration.labels),
        truncated=exploration.truncated,
        method=exploration.method,
        depths={node_id: hops for node_id, hops in exploration.depths.items() if node_id in ends},
        via={node_id: edge for node_id, edge in exploration.via.items() if node_id in ends},
        scores={node_id: score for node_id, score in exploration.scores.items() if node_id in ends},
        by_intent=exploration.by_intent,
        seeds=exploration.seeds,
    )
