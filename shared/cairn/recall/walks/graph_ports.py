"""The graph leg and what it needs of storage. Contracts and the records that cross them only."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from cairn.graph.activation import DEPTH, TYPED_BOOST
from cairn.graph.quality import GraphEdge
from cairn.graph.traversal import HOP_DECAY

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.graph.intent_weights import Intent
    from cairn.recall.records import Candidate

__all__ = [
    "GraphEdge",
    "GraphFound",
    "GraphSeeds",
    "GraphTuning",
    "Method",
    "Seed",
]


class Method(StrEnum):
    """How a neighbourhood is ranked."""

    INTENT_WEIGHTED = "intent_weighted"  # best-first, by the matrix of the question's intents
    PPR = "ppr"  # personalised PageRank: the topology decides
    ACTIVATION = "activation"  # spreading activation through entities


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSeeds:
    """Where to start: names of entities as the question has them, and nodes already known.

    `matched` are nodes that match the question, with their `MatchedNodes` weights: they are both
    starts and answers. `own` is the client or agent that asks, of a question about itself: its
    entity is a start, and the most important nodes at it match. When nothing gives a seed, the
    entity of `agent`, the slug of the agent that asks, is the only one.
    """

    names: tuple[str, ...] = ()
    node_ids: tuple[UUID, ...] = ()
    agent: str | None = None
    own: str | None = None
    matched: Mapping[UUID, float] = field(default_factory=dict["UUID", float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """An entity a name means to this reader."""

    node_id: UUID
    name: str  # as asked, casefolded
    canonical_name: str
    type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFound:
    """What a walk found, best first, and how.

    `candidates` are nodes other than entities, with the scores of the method; higher is better.
    `edges` are those the walk used, `depths` the hops from the nearest seed (0) of every node it
    reached, `via` the edge by which a reached node got its score, `explored` how many nodes were
    looked at, `truncated` whether a bound or the deadline ended it, `seeds` the names that were
    found.
    """

    candidates: tuple[Candidate, ...] = ()
    seed_ids: tuple[UUID, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    explored: int = 0
    truncated: bool = False
    method: Method = Method.INTENT_WEIGHTED
    depths: Mapping[UUID, int] = field(default_factory=dict["UUID", int])
    via: Mapping[UUID, GraphEdge] = field(default_factory=dict["UUID", GraphEdge])
    scores: Mapping[UUID, float] = field(default_factory=dict["UUID", float])
    by_intent: Mapping[Intent, Mapping[UUID, float]] = field(
        default_factory=dict["Intent", "Mapping[UUID, float]"]
    )
    seeds: tuple[Seed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTuning:
    """Constants of walks. `hop_decay` is what each hop keeps of a score or an activation.

    `typed_boost` is what a typed relation between entities multiplies activation by, and
    `max_depth` how many hops a search walks.
    """

    hop_decay: float = HOP_DECAY
    typed_boost: float = TYPED_BOOST
    max_depth: int = DEPTH
