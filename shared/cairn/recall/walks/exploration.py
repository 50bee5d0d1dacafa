"""What an exploration of the graph is told, where it starts, and what it comes to.

Shared by every method of ranking a neighbourhood; none of them is here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.graph.intent_weights import INTENT_WEIGHTS
from cairn.graph.neighbourhood import crowded
from cairn.graph.node import Label
from cairn.kernel.errors import Unavailable
from cairn.recall.walks.graph_ports import GraphTuning, Method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.graph.intent_weights import Intent, IntentWeights
    from cairn.graph.neighbourhood import GraphEdge
    from cairn.graph.traversal import Bounds
    from cairn.kernel.clock import Stopwatch
    from cairn.recall.records import Filters
    from cairn.recall.walks.graph_ports import GraphReader, GraphSeeds, Seed

SHARPNESS = 2
"""A matched node starts with its weight to this power: the best matches say most."""
EDGES_PER_HOP = 2_000
"""Edges one hop may bring; a wide frontier gets fewer of each node."""
MOST_PER_NODE = 50
LEAST_PER_NODE = 10
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


def find_starts(reader: GraphReader, seeds: GraphSeeds, filters: Filters) -> Starts:
    """Return where to start; a node that is named or given and matches too starts as named."""
    named = reader.find_entities(seeds.names, filters) if seeds.names else ()
    labels: dict[UUID, str] = {seed.node_id: Label.ENTITY for seed in named}
    asked = dict.fromkeys([*seeds.node_ids, *seeds.matched])
    if asked:
        labels.update(reader.starts(list(asked), filters))
    given = {*seeds.node_ids, *(seed.node_id for seed in named)}
    matched = {
        node_id: weight**SHARPNESS
        for node_id, weight in seeds.matched.items()
        if node_id in labels and node_id not in given
    }
    if not labels and seeds.agent:
        named = reader.find_entities([seeds.agent], filters)
        labels = {seed.node_id: Label.ENTITY for seed in named}
    return Starts(named=named, labels=labels, matched=matched)


def fetch_hop(
    reader: GraphReader,
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
        edges = reader.hop(
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
