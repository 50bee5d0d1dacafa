"""The graph leg and what it needs of storage. Contracts and the records that cross them only."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cairn.graph.activation import DEPTH, TYPED_BOOST
from cairn.graph.quality import GraphEdge
from cairn.graph.traversal import HOP_DECAY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.intent_weights import Intent
    from cairn.recall.records import Candidate, Filters, FoundNode

__all__ = [
    "GraphEdge",
    "GraphFound",
    "GraphReader",
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
    starts and answers. When nothing gives a seed, the entity of `agent`, the slug of the agent that
    asks, is the only one.
    """

    names: tuple[str, ...] = ()
    node_ids: tuple[UUID, ...] = ()
    agent: str | None = None
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


class GraphReader(Protocol):
    """Reads the graph inside one transaction, under row level security.

    Everywhere: deleted and quarantined nodes are not there, and with `filters.as_of_position` the
    versions that held at that position are read instead of the present rows.
    """

    def find_entities(self, names: Sequence[str], filters: Filters) -> Sequence[Seed]:
        """Return the visible entities that `names` mean, by canonical name or alias.

        Case does not count. A name may mean several (one an audience and type). At most 64 names
        and 256 entities. The agent guard is strict: a search starts from what it may find.
        """
        ...

    def starts(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[tuple[UUID, str]]:
        """Return (id, label) of those of `node_ids` the principal may see, strictly guarded."""
        ...

    def hop(
        self,
        frontier: Sequence[UUID],
        filters: Filters,
        *,
        per_node: int,
        limit: int,
        relations: Sequence[str] = (),
        timeout_ms: int | None = None,
    ) -> Sequence[GraphEdge]:
        """Return the edges at `frontier`, in both directions; an edge may come once for each end.

        For each node and direction at most the `per_node` heaviest (the newest of equals), and as
        many CO_OCCURRENCE edges besides, so that neither hides the other; `limit` in all.
        `relations` empty means any. Both ends of an edge are visible: workspace, scope, and the
        agent guard that lets untagged nodes pass. Edges that were closed are not there. One
        statement for the whole frontier; Unavailable when it takes longer than `timeout_ms`, after
        which this transaction reads nothing more.
        """
        ...

    def eligible(self, node_ids: Sequence[UUID], filters: Filters) -> frozenset[UUID]:
        """Return those that may be results: all of `filters`, the strict agent guard.

        Entities only when `filters.labels` names them.
        """
        ...

    def read(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[FoundNode]:
        """Return the nodes, untagged ones too, in any order. Up to 500 ids."""
        ...

    def summaries(
        self,
        scope: str | None,
        scope_id: str | None,
        filters: Filters,
        *,
        after: tuple[datetime, UUID] | None,
        limit: int,
    ) -> Sequence[UUID]:
        """Return summaries that are found, the latest first, behind (occurred_at, id).

        Of a scope (`kind`) and of one thing, if given: an episode's trace or session, a session, an
        agent. Strictly guarded.
        """
        ...

    def position_at(self, moment: datetime) -> int:
        """Return the last ledger position recorded at or before `moment`; 0 when there is none."""
        ...
