"""A subgraph around a question or around nodes: the graph itself as the answer.

Not recall: no vector or keyword ranking, no text budget.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation
from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent
from cairn.graph.merge import MIN_CONFIDENCE, SECOND_OPINION, best, decayed
from cairn.graph.node import Label
from cairn.graph.quality import edge_quality
from cairn.graph.traversal import HOP_DECAY, MOST, Bounds
from cairn.kernel.errors import FieldError, Unavailable, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.llm.budget import Budget
from cairn.llm.costs import Call
from cairn.recall.legs import tuning_of
from cairn.recall.proactive import proactive_json, surface
from cairn.recall.questions.model_calls import ModelCalls
from cairn.recall.questions.understanding import asker, question_names, understand
from cairn.recall.records import Filters
from cairn.recall.rendering import node_json
from cairn.recall.scoring import DECAY_PER_DAY, DECAYING_KINDS
from cairn.recall.scoring import decayed as decayed_confidence
from cairn.recall.walks.exploration import Exploration, Way
from cairn.recall.walks.graph_ports import GraphSeeds, Method
from cairn.recall.walks.graph_walks import explore
from cairn.workspace.settings import RecallSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import IntentWeights
    from cairn.graph.quality import GraphEdge
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.llm.budget import Limits
    from cairn.recall.ports import ReadSettings
    from cairn.recall.proactive import Surfaced
    from cairn.recall.questions.intents import IntentClassifier
    from cairn.recall.records import FoundNode
    from cairn.recall.similar_nodes import MatchedNodes


MAX_QUERY_CHARS = 4_000
MAX_SEED_NODES = 50
MAX_NAMED = 20
EDGES_PER_NODE = 4
"""Edges shown for each node shown, the best believed first."""
MATCHED_SEEDS = 20
"""Matched nodes the walks start from, besides those that are named or given."""
MATCHING_SHARE = 0.5
"""Of the time a request has, what matching may take; the walks have what is left."""

_LABEL = re.compile(r"[A-Z][A-Za-z0-9]{0,63}")
_RELATION = re.compile(r"[A-Z][A-Z_]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubgraphRequest:
    """Where to start, and how far and by what to go.

    `query` or `node_ids` is given. `intent` overrides what the question seems to be after, `method`
    what that would choose. `labels` says which nodes are shown (others are walked over),
    `relations` which edges are walked. `as_of` is a moment or a ledger position.
    """

    query: str | None = None
    node_ids: tuple[UUID, ...] = ()
    intent: Intent | None = None
    method: Method | None = None
    max_depth: int = 3
    max_nodes: int = 100
    timeout_ms: int = 5_000
    as_of: datetime | int | None = None
    labels: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    session_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNode:
    """A node of the subgraph. `depth` is None for a proactive one."""

    node: FoundNode
    scores: Mapping[str, float]
    depth: int | None
    via: UUID | None = None
    surfaced: Surfaced | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """Nodes, best first, the edges between them, and what happened."""

    nodes: tuple[ShownNode, ...]
    edges: tuple[GraphEdge, ...]
    exploration: Exploration
    intents: Mapping[Intent, float]
    request: SubgraphRequest
    hop_decay: float = HOP_DECAY
    as_of_position: int | None = None
    truncated: bool = False
    query_ms: float = 0.0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Classified:
    """Says what a question is after, as recall's classifier does, within a budget of its own."""

    classifier: IntentClassifier
    limits: Limits
    clock: Clock
    stopwatch: Stopwatch

    def __call__(self, workspace_id: UUID, question: str) -> Mapping[Intent, float]:
        """Return the intents with their confidence."""
        budget = Budget(self.limits, stopwatch=self.stopwatch)
        calls = ModelCalls(budget, Call(workspace_id=workspace_id))
        understanding = understand(question, self.clock())
        return self.classifier(question, understanding=understanding, calls=calls).confidence


def check(request: SubgraphRequest) -> Bounds:
    """Return the bounds of a request; ValidationFailed with what is wrong with it."""
    errors: list[FieldError] = []
    if request.query is not None:
        clean_text(request.query, field="query", max_chars=MAX_QUERY_CHARS)
    elif not request.node_ids:
        errors.append(FieldError("query", "or node_ids must say where to start"))
    if len(request.node_ids) > MAX_SEED_NODES:
        errors.append(FieldError("node_ids", f"must be at most {MAX_SEED_NODES}"))
    if isinstance(request.as_of, datetime) and request.as_of.tzinfo is None:
        errors.append(FieldError("as_of", "must say its time zone"))
    if isinstance(request.as_of, int) and not 0 <= request.as_of < 2**53:
        errors.append(FieldError("as_of", "is not a ledger position"))
    errors += _faults_of_words("labels", request.labels, _LABEL)
    errors += _faults_of_words("relations", request.relations, _RELATION)
    if errors:
        first = errors[0]
        raise ValidationFailed(f"{first.location} {first.message}.", errors=errors)
    return Bounds(
        max_depth=request.max_depth, max_nodes=request.max_nodes, timeout_ms=request.timeout_ms
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubgraph:
    """The use case. `classify` says what a question is after, with a confidence for each intent; it
    is given the workspace and the question.

    `similar` finds the nodes a question matches, from which the walks start too; None: nothing
    does. `settings` are the workspace's, whose intent weights are laid over `weights`.
    """

    transactions: Transactions[Stores]
    classify: Callable[[UUID, str], Mapping[Intent, float]]
    clock: Clock
    stopwatch: Stopwatch
    similar: MatchedNodes | None = None
    settings: ReadSettings | None = None
    weights: IntentWeights = field(default_factory=lambda: INTENT_WEIGHTS)

    def __call__(self, principal: Principal, request: SubgraphRequest) -> Subgraph:
        """Return what lies around the question or the nodes, as `principal` may see it.

        Unknown ids and names are no error: they lead nowhere. Raises ValidationFailed for a bad
        request, Unavailable when the graph cannot be read.
        """
        bounds = check(request)
        start = self.stopwatch()
        intents = self._intents(principal, request)
        tuned = (
            RecallSettings() if self.settings is None else self.settings(principal).settings.recall
        )
        filters = Filters(as_of_position=self._position(principal, request))
        matching = self.stopwatch()
        seeds, troubles = self._seeds(principal, request, filters)
        taken_ms = int((self.stopwatch() - matching) * 1000)
        way = Way(
            intents=intents,
            filters=filters,
            bounds=replace(bounds, timeout_ms=max(1, bounds.timeout_ms - taken_ms)),
            method=request.method,
            relations=request.relations,
            weights=tuned.matrix or self.weights,
            tuning=tuning_of(tuned),
        )
        with self.transactions.reading(principal, timeout_ms=bounds.timeout_ms) as stores:
            exploration = explore(stores, seeds, way, stopwatch=self.stopwatch)
        with self.transactions.reading(principal, timeout_ms=bounds.timeout_ms) as stores:
            shown = self._shown(stores, exploration, request, filters, tuned)
        return replace(
            shown,
            intents=intents,
            as_of_position=filters.as_of_position,
            query_ms=(self.stopwatch() - start) * 1000,
            warnings=(*shown.warnings, *troubles),
        )

    def _intents(self, principal: Principal, request: SubgraphRequest) -> Mapping[Intent, float]:
        if request.intent is not None:
            return {request.intent: 1.0}
        if not request.query:
            return {Intent.GENERAL: 1.0}
        return self.classify(principal.workspace_id, request.query)

    def _position(self, principal: Principal, request: SubgraphRequest) -> int | None:
        if not isinstance(request.as_of, datetime):
            return request.as_of
        with self.transactions.reading(principal) as stores:
            return stores.graph.position_at(request.as_of)

    def _seeds(
        self, principal: Principal, request: SubgraphRequest, filters: Filters
    ) -> tuple[GraphSeeds, tuple[str, ...]]:
        """Return where to start, and a warning when nobody could say what matches."""
        if not request.query:
            return GraphSeeds(node_ids=request.node_ids), ()
        seeds = GraphSeeds(
            names=question_names(request.query),
            node_ids=request.node_ids,
            agent=principal.agent_slug,
            own=asker(request.query, principal.client_id, principal.agent_slug),
        )
        if self.similar is None:
            return seeds, ()
        try:
            matched = self.similar(
                principal,
                request.query,
                replace(filters, labels=_matched_labels(request.labels)),
                limit=MATCHED_SEEDS,
                timeout_ms=max(1, int(request.timeout_ms * MATCHING_SHARE)),
            )
        except Unavailable as error:
            return seeds, (f"Nothing was matched by words or meaning: {error.reason}.",)
        return replace(seeds, matched=matched), ()

    def _shown(
        self,
        stores: Stores,
        exploration: Exploration,
        request: SubgraphRequest,
        filters: Filters,
        tuned: RecallSettings,
    ) -> Subgraph:
        others: Mapping[UUID, Sequence[str]] = {}
        if request.labels:
            others = stores.graph.extra_labels(list(exploration.scores), filters)
        scores = {
            node_id: score
            for node_id, score in exploration.scores.items()
            if not request.labels
            or not {exploration.labels[node_id], *others.get(node_id, ())}.isdisjoint(
                request.labels
            )
        }
        seeds = [
            node_id
            for node_id in exploration.seed_ids
            if node_id in scores.keys() - exploration.matched
        ]
        reached = [node_id for node_id, _ in best(scores, request.max_nodes)]
        node_ids = list(dict.fromkeys([*seeds, *reached]))[: request.max_nodes]
        nodes = {node.id: node for node in stores.graph.read(node_ids, filters)}
        now = self.clock()
        shown = _ranked(nodes, exploration, now, tuned.decay_factor)
        signals = tuned.proactive_signals
        extra = _proactive(stores, exploration, shown, request, filters, now, signals)
        ids = {each.node.id for each in (*shown, *extra)}
        edges = _edges_between(exploration.edges, ids, EDGES_PER_NODE * max(1, len(ids)))
        return Subgraph(
            nodes=(*shown, *extra),
            edges=edges,
            exploration=exploration,
            intents={},
            request=request,
            hop_decay=tuned.graph_search_decay,
            truncated=exploration.truncated or len(scores) > len(node_ids),
            warnings=tuple(_warnings(request, exploration, others)),
        )


def decay_factor(node: FoundNode, at: datetime, factor: float = DECAY_PER_DAY) -> float:
    """Return confidence x factor^days since last access for facts and statuses, 1 for others."""
    if node.kind not in DECAYING_KINDS:
        return 1.0
    since = node.last_accessed_at or node.recorded_at
    return decayed_confidence(node.confidence, since, at, factor)


def _ranked(
    nodes: Mapping[UUID, FoundNode], exploration: Exploration, at: datetime, factor: float
) -> list[ShownNode]:
    """Return the nodes by their decayed scores, best first."""
    factors = {node_id: decay_factor(node, at, factor) for node_id, node in nodes.items()}
    scores = decayed({node_id: exploration.scores.get(node_id, 0.0) for node_id in nodes}, factors)
    shown: list[ShownNode] = []
    for node_id, score in best(scores, len(scores)):
        node = nodes[node_id]
        via = exploration.via.get(node_id)
        by_intent = {
            intent.value: each[node_id]
            for intent, each in exploration.by_intent.items()
            if node_id in each
        }
        shown.append(
            ShownNode(
                node=node,
                scores={
                    "relevance_score": score,
                    "decay_score": factors[node_id],
                    "importance_score": node.importance,
                    **_match(exploration, node_id),
                    **by_intent,
                },
                depth=exploration.depths.get(node_id),
                via=via.id if via else None,
            )
        )
    return shown


def _match(exploration: Exploration, node_id: UUID) -> dict[str, float]:
    """Return what a node had before any walk, when it was a seed for matching the question."""
    own = exploration.matched.get(node_id)
    return {} if own is None else {"match_score": own}


def _matched_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Return which nodes may match: those that are shown. Entities do not match, they are named."""
    return tuple(label for label in labels if label != Label.ENTITY)


def _proactive(
    stores: Stores,
    exploration: Exploration,
    shown: Sequence[ShownNode],
    request: SubgraphRequest,
    filters: Filters,
    now: datetime,
    signals: Mapping[str, bool],
) -> list[ShownNode]:
    """Return nodes nobody asked for; none when the caller narrowed what is shown or is full."""
    room = request.max_nodes - len(shown)
    if request.labels or request.relations or room < 1:
        return []
    surfaced = surface(
        stores,
        results=[each.node.id for each in shown],
        entity_ids=[seed.node_id for seed in exploration.seeds],
        session_id=request.session_id,
        filters=filters,
        now=now,
        chosen=signals,
    )[:room]
    nodes = {
        node.id: node for node in stores.graph.read([item.node_id for item in surfaced], filters)
    }
    return [
        ShownNode(
            node=nodes[item.node_id],
            scores={
                "relevance_score": item.score,
                "importance_score": nodes[item.node_id].importance,
            },
            depth=None,
            surfaced=item,
        )
        for item in surfaced
        if item.node_id in nodes
    ]


def _edges_between(edges: Sequence[GraphEdge], ids: set[UUID], limit: int) -> tuple[GraphEdge, ...]:
    between = [edge for edge in edges if edge.source_id in ids and edge.target_id in ids]
    return tuple(sorted(between, key=lambda edge: (-edge_quality(edge), edge.id))[:limit])


def _warnings(
    request: SubgraphRequest, exploration: Exploration, others: Mapping[UUID, Sequence[str]]
) -> list[str]:
    """Return what of the request names nothing this graph knows."""
    labels = frozenset(exploration.labels.values()) | frozenset(Label)
    labels |= {label for each in others.values() for label in each}
    warnings = [
        f"No node seen here has the label {label}."
        for label in request.labels
        if label not in labels
    ]
    warnings += [
        f"{relation} is not a relation of this graph."
        for relation in request.relations
        if relation not in frozenset(Relation)
    ]
    known_ids = frozenset(exploration.seed_ids)
    if missing := sum(node_id not in known_ids for node_id in request.node_ids):
        warnings.append(f"{missing} of node_ids are unknown or not to be seen.")
    return warnings


def _faults_of_words(name: str, words: Sequence[str], shape: re.Pattern[str]) -> list[FieldError]:
    errors = [
        FieldError(f"{name}.{number}", "is not a name of one")
        for number, word in enumerate(words)
        if not shape.fullmatch(word)
    ]
    if len(words) > MAX_NAMED:
        errors.append(FieldError(name, f"must be at most {MAX_NAMED}"))
    return errors


_DECIMALS = 6


def subgraph_json(subgraph: Subgraph) -> dict[str, Any]:
    """Return nodes, edges and meta, ready to be written."""
    return {
        "nodes": [_node(each) for each in subgraph.nodes],
        "edges": [edge_json(edge) for edge in subgraph.edges],
        "meta": _meta(subgraph),
    }


def edge_json(edge: GraphEdge) -> dict[str, Any]:
    """Return an edge; what it does not say is left out."""
    shown = {
        "edge_id": str(edge.id),
        "source_id": str(edge.source_id),
        "target_id": str(edge.target_id),
        "relation": edge.relation,
        "view": edge.view,
        "weight": edge.weight,
        "score": edge.score,
        "mechanism": edge.mechanism,
        "role": edge.role,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _node(each: ShownNode) -> dict[str, Any]:
    reason: dict[str, Any] = {"retrieval_reason": "direct", "depth": each.depth}
    if each.via is not None:
        reason["via"] = str(each.via)
    if each.surfaced is not None:
        reason = dict(proactive_json(each.surfaced))
    scores = {name: round(value, _DECIMALS) for name, value in each.scores.items()}
    return {**node_json(each.node), "scores": scores, **reason}


def _meta(subgraph: Subgraph) -> dict[str, Any]:
    request, explored = subgraph.request, subgraph.exploration
    names = {seed.node_id: f"entity:{seed.canonical_name}" for seed in explored.seeds}
    return {
        "query_ms": round(subgraph.query_ms, 3),
        "nodes_returned": len(subgraph.nodes),
        "edges_returned": len(subgraph.edges),
        "truncated": subgraph.truncated,
        "retrieval_method": explored.method.value,
        "inferred_intents": {}
        if request.intent
        else {intent.value: sure for intent, sure in subgraph.intents.items()},
        "intent_override": request.intent.value if request.intent else None,
        "seed_nodes": [names.get(node_id, str(node_id)) for node_id in explored.seed_ids],
        "proactive_nodes_count": sum(each.surfaced is not None for each in subgraph.nodes),
        "scoring_weights": {
            "hop_decay": subgraph.hop_decay,
            "minimum_confidence": MIN_CONFIDENCE,
            "second_opinion": SECOND_OPINION,
        },
        "capacity": {
            "max_nodes": request.max_nodes,
            "used_nodes": len(subgraph.nodes),
            "max_depth": request.max_depth,
            "timeout_ms": request.timeout_ms,
            "explored_nodes": len(explored.labels),
            "limits": {
                "max_nodes": MOST.max_nodes,
                "max_depth": MOST.max_depth,
                "timeout_ms": MOST.timeout_ms,
            },
        },
        "as_of_position": subgraph.as_of_position,
        "warnings": list(subgraph.warnings),
    }
