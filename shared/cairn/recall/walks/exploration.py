"""What an exploration of the graph is told, where it starts, and one by spreading activation.

In the latter entities stir each other, and memories hang on them: hops lead from entity to entity,
and what references an entity that was stirred is reached without a further hop. The formulas are
in `graph.activation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.graph.activation import activate_nodes, spread
from cairn.graph.edge import Relation
from cairn.graph.intent_weights import INTENT_WEIGHTS
from cairn.graph.node import Label
from cairn.graph.quality import crowded
from cairn.kernel.errors import Unavailable
from cairn.recall.walks.graph_ports import GraphTuning, Method

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.activation import Activated
    from cairn.graph.intent_weights import Intent, IntentWeights
    from cairn.graph.quality import GraphEdge
    from cairn.graph.traversal import Bounds
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.recall.records import Filters
    from cairn.recall.walks.graph_ports import GraphSeeds, Seed


SHARPNESS = 2
"""A matched node starts with its weight to this power: the best matches say most."""
EDGES_PER_HOP = 2_000
"""Edges one hop may bring; a wide frontier gets fewer of each node."""
MOST_PER_NODE = 50
LEAST_PER_NODE = 10
ASKERS = frozenset({"client", "agent"})
"""Types of entities that may ask."""
IMPORTANT, MOST_NEAR = 7, 5
"""Of nodes at the asker's own entity, so many of this importance or more match a question of it."""
FRONTIER = 40
"""Nodes one hop starts from: the most promising ones reached so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What a walk is told besides its seeds. `intents` as the question has them, unfiltered."""

    intents: Mapping[Intent, float]
    filters: Filters
    bounds: Bounds
    method: Method | None = None
    relations: tuple[str, ...] = ()
    weights: IntentWeights = field(default_factory=lambda: INTENT_WEIGHTS)
    tuning: GraphTuning = field(default_factory=GraphTuning)
    frontier: int = FRONTIER
    edges_per_hop: int = EDGES_PER_HOP


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration:
    """What an exploration came to.

    `scores` has every reached node, seeds and entities too, by the method's merged score;
    `labels` the label of every node seen. `matched` are the seeds that are there because they match
    the question, with the scores they started with.
    """

    seeds: tuple[Seed, ...] = ()
    seed_ids: tuple[UUID, ...] = ()
    matched: Mapping[UUID, float] = field(default_factory=dict["UUID", float])
    method: Method = Method.INTENT_WEIGHTED
    edges: tuple[GraphEdge, ...] = ()
    labels: Mapping[UUID, str] = field(default_factory=dict["UUID", str])
    scores: Mapping[UUID, float] = field(default_factory=dict["UUID", float])
    by_intent: Mapping[Intent, Mapping[UUID, float]] = field(
        default_factory=dict["Intent", "Mapping[UUID, float]"]
    )
    depths: Mapping[UUID, int] = field(default_factory=dict["UUID", int])
    via: Mapping[UUID, GraphEdge] = field(default_factory=dict["UUID", "GraphEdge"])
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Starts:
    """Where the walks start: `given` nodes, which have 1, and `matched` ones, which have less."""

    named: Sequence[Seed]
    labels: Mapping[UUID, str]
    matched: Mapping[UUID, float]

    @property
    def given(self) -> frozenset[UUID]:
        """Return the seeds that were named or given by id."""
        return frozenset(self.labels.keys() - self.matched.keys())

    @property
    def scores(self) -> dict[UUID, float]:
        """Return what each seed starts with."""
        return {node_id: self.matched.get(node_id, 1.0) for node_id in self.labels}


def path_to(node_id: UUID, via: Mapping[UUID, GraphEdge]) -> list[GraphEdge]:
    """Return the edges from a node back to its seed, nearest first; none for a seed."""
    path: list[GraphEdge] = []
    here = node_id
    while (edge := via.get(here)) is not None and edge not in path:
        path.append(edge)
        here = edge.other(here)
    return path


def find_starts(stores: Stores, seeds: GraphSeeds, filters: Filters) -> Starts:
    """Return where to start; a node that is named or given and matches too starts as named."""
    own = _own(stores, seeds, filters)
    entities = [*stores.graph.find_entities(seeds.names, filters), *own] if seeds.names else own
    labels: dict[UUID, str] = {seed.node_id: Label.ENTITY for seed in entities}
    matching = {**_near(stores, own, filters), **seeds.matched}
    node_ids = dict.fromkeys([*seeds.node_ids, *matching])
    if node_ids:
        labels.update(stores.graph.starts(list(node_ids), filters))
    stated = {*seeds.node_ids, *(seed.node_id for seed in entities)}
    matched = {
        node_id: weight**SHARPNESS
        for node_id, weight in matching.items()
        if node_id in labels and node_id not in stated
    }
    if not labels and seeds.agent:
        entities = stores.graph.find_entities([seeds.agent], filters)
        labels = {seed.node_id: Label.ENTITY for seed in entities}
    return Starts(named=entities, labels=labels, matched=matched)


def _own(stores: Stores, seeds: GraphSeeds, filters: Filters) -> list[Seed]:
    """Return the entities of whoever asks a question about itself."""
    entities = stores.graph.find_entities([seeds.own], filters) if seeds.own else ()
    return [seed for seed in entities if seed.type in ASKERS]


def _near(stores: Stores, own: Sequence[Seed], filters: Filters) -> Mapping[UUID, float]:
    """Return the most important of the newest nodes there, as matches; none of the past."""
    if not own or filters.as_of_position is not None:
        return {}
    rows = stores.graph.important_connections(
        [seed.node_id for seed in own], minimum=IMPORTANT, limit=MOST_NEAR
    )
    return {node_id: importance / 10 for node_id, _, importance in rows}


def fetch_hop(
    stores: Stores,
    frontier: Sequence[UUID],
    way: Way,
    *,
    relations: Sequence[str],
    deadline: float,
    stopwatch: Stopwatch,
) -> tuple[Sequence[GraphEdge], bool]:
    """Return the edges at a frontier, and whether there are more or the time ran out.

    Raises Unavailable when the graph cannot be read, and not for a deadline that passes meanwhile.
    """
    left_ms = int((deadline - stopwatch()) * 1000)
    if left_ms < 1:
        return (), True
    share = way.edges_per_hop // len(frontier)
    per_node = max(LEAST_PER_NODE, min(MOST_PER_NODE, share))
    try:
        edges = stores.graph.hop(
            frontier,
            way.filters,
            per_node=per_node,
            limit=2 * way.edges_per_hop,
            relations=relations,
            timeout_ms=left_ms,
        )
    except Unavailable:
        if stopwatch() < deadline:
            raise
        return (), True
    return edges, crowded(edges, frozenset(frontier), per_node)


BETWEEN = tuple(sorted(frozenset(Relation) - {Relation.REFERENCES}))
"""What may join two entities; an edge to anything else conducts nothing."""


@dataclass(slots=True, kw_only=True)
class _Spreading:
    """What has been read so far, and how."""

    stores: Stores
    way: Way
    deadline: float
    stopwatch: Stopwatch
    labels: dict[UUID, str]
    edges: dict[UUID, GraphEdge] = field(default_factory=dict["UUID", "GraphEdge"])
    truncated: bool = False

    def read(self, frontier: Sequence[UUID], relations: Iterable[str], *, limit: int) -> None:
        """Read the edges of `relations`, narrowed by the way's, at the first `limit` nodes."""
        allowed = self.way.relations
        relations_read = tuple(
            relation for relation in relations if not allowed or relation in allowed
        )
        if not frontier or not relations_read:
            return
        edges, cut = fetch_hop(
            self.stores,
            frontier[:limit],
            self.way,
            relations=relations_read,
            deadline=self.deadline,
            stopwatch=self.stopwatch,
        )
        self.truncated = self.truncated or cut or len(frontier) > limit
        for edge in edges:
            self.edges[edge.id] = edge
            self.labels[edge.source_id] = edge.source_label
            self.labels[edge.target_id] = edge.target_label


def explore_by_activation(
    stores: Stores, starts: Starts, way: Way, *, deadline: float, stopwatch: Stopwatch
) -> Exploration:
    """Return what the starts stir: entities by their activation, and the nodes that name them.

    Entities up to the tuning's `max_depth` hops away, or the bounds' if that is less. A given seed
    that is no entity stirs the entities it references; matched ones do where nothing was given. A
    matched node has what it started with besides.
    """
    spreading = _Spreading(
        stores=stores,
        way=way,
        deadline=deadline,
        stopwatch=stopwatch,
        labels=dict(starts.labels),
    )
    stirred = _stirred(spreading, starts)
    entities = _entities(spreading, stirred)
    most = way.edges_per_hop // LEAST_PER_NODE
    spreading.read(_most_active(entities), (Relation.REFERENCES,), limit=most)
    edges = tuple(spreading.edges.values())
    nodes = activate_nodes(edges, entities)
    scores = {node_id: entity.activation for node_id, entity in entities.items()} | nodes
    scores |= {
        node_id: scores.get(node_id, 0.0) + score for node_id, score in starts.matched.items()
    }
    via = _ways(edges, starts, stirred, entities, nodes)
    return Exploration(
        seeds=tuple(starts.named),
        seed_ids=tuple(starts.labels),
        matched=starts.matched,
        method=Method.ACTIVATION,
        edges=edges,
        labels=spreading.labels,
        scores=scores,
        depths={node_id: len(path_to(node_id, via)) for node_id in scores},
        via=via,
        truncated=spreading.truncated,
    )


def _stirred(spreading: _Spreading, starts: Starts) -> dict[UUID, GraphEdge | None]:
    """Return the entities that begin with full activation, and the edge that named each, if any."""
    stirring = starts.given or starts.matched.keys()
    others = sorted(item for item in stirring if spreading.labels[item] != Label.ENTITY)
    seeds: dict[UUID, GraphEdge | None] = {
        item: None for item in sorted(stirring) if spreading.labels[item] == Label.ENTITY
    }
    spreading.read(others, (Relation.REFERENCES,), limit=spreading.way.frontier)
    for edge in spreading.edges.values():
        if edge.source_id in stirring and edge.target_label == Label.ENTITY:
            seeds.setdefault(edge.target_id, edge)
    return seeds


def _entities(spreading: _Spreading, stirred: Mapping[UUID, object]) -> dict[UUID, Activated]:
    """Read hop by hop, from the entities stirred last, and return what activation each has."""
    tuning = spreading.way.tuning
    depth = min(tuning.max_depth, spreading.way.bounds.max_depth)
    entities = spread((), stirred)
    for hops in range(depth):
        frontier = {node_id: each for node_id, each in entities.items() if each.depth == hops}
        spreading.read(_most_active(frontier), BETWEEN, limit=spreading.way.frontier)
        entities = spread(
            tuple(spreading.edges.values()),
            stirred,
            depth=hops + 1,
            decay=tuning.hop_decay,
            typed_boost=tuning.typed_boost,
        )
    return entities


def _most_active(entities: Mapping[UUID, Activated]) -> list[UUID]:
    return sorted(entities, key=lambda entity: (-entities[entity].activation, entity))


def _ways(
    edges: Sequence[GraphEdge],
    starts: Starts,
    stirred: Mapping[UUID, GraphEdge | None],
    entities: Mapping[UUID, Activated],
    nodes: Mapping[UUID, float],
) -> dict[UUID, GraphEdge]:
    """Return the edge each reached node got its score by; a node's leads to its most active."""
    via = {node_id: each.via or stirred.get(node_id) for node_id, each in entities.items()}
    best: dict[UUID, GraphEdge] = {}
    for edge in edges:
        is_mention = edge.relation == Relation.REFERENCES and edge.target_id in entities
        if not is_mention or edge.source_id not in nodes or edge.source_id in starts.labels:
            continue
        held = best.get(edge.source_id)
        if held is None or _activation(edge, entities) > _activation(held, entities):
            best[edge.source_id] = edge
    return {node_id: edge for node_id, edge in via.items() if edge is not None} | best


def _activation(edge: GraphEdge, entities: Mapping[UUID, Activated]) -> float:
    return entities[edge.target_id].activation
