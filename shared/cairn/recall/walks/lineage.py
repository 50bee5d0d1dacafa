"""Where a node comes from and what came of it: causes, makers, summaries, parts and predecessors.

Not a ranked walk: every step along these relations counts, nearest first, within bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation, View
from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent, weight_of
from cairn.graph.quality import GraphEdge, crowded, step, traverse_score
from cairn.graph.traversal import HOP_DECAY, Bounds
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import derived_id
from cairn.recall.records import Filters
from cairn.recall.rendering import node_json
from cairn.recall.scoring import decayed
from cairn.recall.walks.subgraph import edge_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.intent_weights import IntentWeights, Row
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.ports import ReadSettings
    from cairn.recall.records import FoundNode


MAX_NODES = 500
PER_NODE = 50
EDGES_PER_HOP = 2_000

TOWARDS_ORIGIN = frozenset(
    {
        Relation.CAUSED_BY,
        Relation.SUPERSEDES,
        Relation.SUMMARIZES,
        Relation.PART_OF,
        Relation.RAISED_DURING,
        Relation.DERIVED_FROM,
        Relation.BUILDS_ON,
        Relation.DEPENDS_ON,
    }
)
"""Relations whose target was there first."""
TOWARDS_OUTCOME = frozenset(
    {Relation.PRODUCED, Relation.CAUSES, Relation.TRIGGERS, Relation.LEADS_TO}
)
"""Relations whose source was there first."""
LINEAGE = tuple(sorted(TOWARDS_ORIGIN | TOWARDS_OUTCOME))
BESIDE = (Relation.REFERENCES, Relation.SIMILAR_TO)
BESIDE_PER_NODE = 20


class Direction(StrEnum):
    """Which way a lineage is followed."""

    ANCESTORS = "ancestors"  # what it comes from
    DESCENDANTS = "descendants"  # what came of it
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageRequest:
    """Whose lineage, which way and how far. `intent` orders each node's edges by its weights.

    `beside` adds what its nodes refer to and are like, which is no part of it.
    """

    node_id: UUID
    direction: Direction = Direction.ANCESTORS
    max_depth: int = 3
    intent: Intent | None = None
    as_of: datetime | int | None = None
    beside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageNode:
    """A node of a lineage: steps from the asked one, 0 being itself.

    `score` is the product, over the edges of its best way among the shortest, of 0.8 x the edge's
    share of the greatest weight; 1 for the asked node. `via` is that way's last edge.
    """

    node: FoundNode
    depth: int
    score: float = 1.0
    via: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """Nodes, nearest first, and every lineage edge between them.

    `weights` is what each followed relation counted. `beside` and `beside_edges` are what the nodes
    refer to or are like, when that was asked for.
    """

    root: FoundNode
    nodes: tuple[LineageNode, ...]
    edges: tuple[GraphEdge, ...]
    request: LineageRequest
    as_of_position: int | None
    truncated: bool
    at: datetime
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    beside: tuple[FoundNode, ...] = ()
    beside_edges: tuple[GraphEdge, ...] = ()
    query_ms: float = 0.0


@dataclass(slots=True)
class _Tracing:
    """What is known so far."""

    nodes: dict[UUID, LineageNode] = field(default_factory=dict["UUID", LineageNode])
    edges: dict[UUID, GraphEdge] = field(default_factory=dict["UUID", GraphEdge])
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLineage:
    """The use case. Intent weights of the workspace's `settings` go before `weights`."""

    transactions: Transactions[Stores]
    clock: Clock
    stopwatch: Stopwatch
    settings: ReadSettings | None = None
    weights: IntentWeights = field(default_factory=lambda: INTENT_WEIGHTS)

    def __call__(self, principal: Principal, request: LineageRequest) -> Lineage:
        """Return the lineage of a node as `principal` may see it.

        The node itself passes the strict agent guard, its relatives the lenient one. Raises
        NotFound for a node that is not to be seen, ValidationFailed for a depth out of bounds.
        """
        bounds = Bounds(max_depth=request.max_depth, max_nodes=MAX_NODES)
        start = self.stopwatch()
        row = self._row(principal, request)
        with self.transactions.reading(principal, timeout_ms=bounds.timeout_ms) as stores:
            position = request.as_of
            if position is not None and not isinstance(position, int):
                position = stores.graph.position_at(position)
            filters = Filters(as_of_position=position)
            root = _root(stores, request.node_id, filters)
            traced = _traced(stores, root, request, filters, row)
            beside = _beside(stores, traced, filters) if request.beside else ((), ())
        return Lineage(
            root=root,
            nodes=tuple(traced.nodes.values()),
            edges=tuple(traced.edges.values()),
            request=request,
            as_of_position=filters.as_of_position,
            truncated=traced.truncated,
            at=self.clock(),
            weights={relation: weight_of(row, relation) for relation in LINEAGE},
            beside=beside[0],
            beside_edges=beside[1],
            query_ms=(self.stopwatch() - start) * 1000,
        )

    def _row(self, principal: Principal, request: LineageRequest) -> Row:
        """Return what each relation weighs: by the intent, as the workspace sets it."""
        own = self.settings(principal).settings.recall.matrix if self.settings else None
        weights = own or self.weights
        return weights[request.intent or Intent.GENERAL]


def _traced(
    stores: Stores, root: FoundNode, request: LineageRequest, filters: Filters, row: Row
) -> _Tracing:
    traced = _Tracing(nodes={root.id: LineageNode(node=root, depth=0)})
    level: Sequence[FoundNode] = (root,)
    for depth in range(1, request.max_depth + 2):
        steps, cut = _steps(stores, level, request, filters, row)
        fresh = list(dict.fromkeys(far for _, far in steps if far not in traced.nodes))
        room = MAX_NODES - len(traced.nodes)
        last = depth > request.max_depth
        traced.truncated = traced.truncated or cut or len(fresh) > (0 if last else room)
        nodes = () if last else stores.graph.read(fresh[:room], filters)
        order = {node_id: place for place, node_id in enumerate(fresh)}
        level = sorted(nodes, key=lambda node: order[node.id])
        best = _best_ways(steps, traced, row)
        for item in level:
            score, via = best[item.id]
            traced.nodes[item.id] = LineageNode(node=item, depth=depth, score=score, via=via)
        for edge, _ in steps:
            if edge.source_id in traced.nodes and edge.target_id in traced.nodes:
                traced.edges[edge.id] = edge
        if not level:
            break
    return traced


def _best_ways(
    steps: Sequence[tuple[GraphEdge, UUID]], traced: _Tracing, row: Row
) -> dict[UUID, tuple[float, UUID]]:
    """Return the score of each node a step leads to, and the edge it has it by."""
    best: dict[UUID, tuple[float, UUID]] = {}
    for edge, far in steps:
        score = traced.nodes[edge.other(far)].score * HOP_DECAY * step(edge, row)
        if far not in best or score > best[far][0]:
            best[far] = (score, edge.id)
    return best


def _steps(
    stores: Stores,
    level: Sequence[FoundNode],
    request: LineageRequest,
    filters: Filters,
    row: Row,
) -> tuple[list[tuple[GraphEdge, UUID]], bool]:
    """Return each edge that leads on from a level, and where to; and whether there are more.

    The weightiest come first when the request has an intent.
    """
    here = {node.id for node in level}
    hop = stores.graph.hop(
        list(here), filters, per_node=PER_NODE, limit=EDGES_PER_HOP, relations=LINEAGE
    )
    edges = [*hop, *(edge for node in level for edge in _versions(node))]
    cut = crowded(hop, here, PER_NODE)
    steps = [(edge, far) for edge in edges for far in _leads_to(edge, here, request.direction)]
    if request.intent is not None:
        steps.sort(key=lambda step: -traverse_score(step[0], row))
    return steps, cut


def _beside(
    stores: Stores, traced: _Tracing, filters: Filters
) -> tuple[tuple[FoundNode, ...], tuple[GraphEdge, ...]]:
    """Return what the nodes of a lineage refer to or are like, and the edges that say so."""
    own = traced.nodes.keys()
    edges = {
        edge.id: edge
        for edge in stores.graph.hop(
            list(own), filters, per_node=BESIDE_PER_NODE, limit=EDGES_PER_HOP, relations=BESIDE
        )
        if edge.source_id in own or edge.relation == Relation.SIMILAR_TO
    }
    ends = {end for edge in edges.values() for end in (edge.source_id, edge.target_id)}
    nodes = tuple(stores.graph.read(sorted(ends - own)[:MAX_NODES], filters))
    ids = own | {node.id for node in nodes}
    inner = [edge for edge in edges.values() if edge.source_id in ids and edge.target_id in ids]
    return nodes, tuple(inner)


def _root(stores: Stores, node_id: UUID, filters: Filters) -> FoundNode:
    visible = stores.graph.starts([node_id], filters)
    nodes = stores.graph.read([node_id], filters) if visible else ()
    if not nodes:
        raise NotFound("There is no such node.", node_id=str(node_id))
    return nodes[0]


def _leads_to(edge: GraphEdge, here: set[UUID], direction: Direction) -> Iterable[UUID]:
    """Yield the ends an edge leads to from `here` in this direction; a self-loop leads nowhere."""
    if edge.source_id == edge.target_id:
        return
    origin, outcome = edge.target_id, edge.source_id
    if edge.relation in TOWARDS_OUTCOME:
        origin, outcome = outcome, origin
    if outcome in here and direction is not Direction.DESCENDANTS:
        yield origin
    if origin in here and direction is not Direction.ANCESTORS:
        yield outcome


def _versions(node: FoundNode) -> Iterable[GraphEdge]:
    """Yield the supersede chain's links at a memory; they are columns, not edges."""
    pairs = ((node.id, node.supersedes), (node.superseded_by, node.id))
    for younger, older in pairs:
        if younger is not None and older is not None:
            yield GraphEdge(
                id=derived_id(younger, Relation.SUPERSEDES, older),
                view=View.TEMPORAL,
                relation=Relation.SUPERSEDES,
                source_id=younger,
                target_id=older,
                source_label=node.label,
                target_label=node.label,
            )


def depths(lineage: Lineage) -> Mapping[UUID, int]:
    """Return the steps of every node from the asked one."""
    return {each.node.id: each.depth for each in lineage.nodes}


_DECIMALS = 6


def _decay(lineage: Lineage, each: LineageNode) -> float:
    node = each.node
    return decayed(node.confidence, node.last_accessed_at or node.recorded_at, lineage.at)


def lineage_json(lineage: Lineage) -> dict[str, Any]:
    """Return nodes, nearest first, edges and meta, ready to be written."""
    request = lineage.request
    return {
        "root": str(lineage.root.id),
        "nodes": [
            {
                **node_json(each.node),
                "scores": {
                    "relevance_score": round(each.score, _DECIMALS),
                    "decay_score": round(_decay(lineage, each), _DECIMALS),
                    "importance_score": each.node.importance,
                },
                "retrieval_reason": "direct",
                "depth": each.depth,
                **({"via": str(each.via)} if each.via else {}),
            }
            for each in lineage.nodes
        ],
        "edges": [edge_json(edge) for edge in lineage.edges],
        "meta": {
            "query_ms": round(lineage.query_ms, 3),
            "nodes_returned": len(lineage.nodes),
            "truncated": lineage.truncated,
            "direction": request.direction.value,
            "intent_override": request.intent.value if request.intent else None,
            "seed_nodes": [str(lineage.root.id)],
            "scoring_weights": {"hop_decay": HOP_DECAY, "relations": dict(lineage.weights)},
            "capacity": {"max_depth": request.max_depth, "used_nodes": len(lineage.nodes)},
            "as_of_position": lineage.as_of_position,
        },
    }
