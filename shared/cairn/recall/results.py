"""What a search gives back: results, each with its reasons, and what happened. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.recall.expand_one_hop import Related
from cairn.recall.records import Neighbours

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.recall.in_flight import Search
    from cairn.recall.legs import LegOutcome
    from cairn.recall.proactive import Surfaced
    from cairn.recall.records import FoundNode
    from cairn.recall.walks.graph_ports import Method

DIRECT = "direct"
PROACTIVE = "proactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One found node, what stands beside it, and why it is where it is.

    `scores` by signal: relevance_score (the final score), the legs' own by leg, when they found
    it, fused, what each signal added, decay_score and importance_score. `merged` are the ids this
    result stands for besides its own. `surfaced` says why a proactive node is there.
    """

    node: FoundNode
    scores: Mapping[str, float]
    neighbours: Neighbours = field(default_factory=Neighbours)
    related: Related = field(default_factory=Related)
    merged: tuple[UUID, ...] = ()
    surfaced: Surfaced | None = None

    @property
    def retrieval_reason(self) -> str:
        """Return `direct` for what was asked for, else `proactive`."""
        return PROACTIVE if self.surfaced else DIRECT


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMeta:
    """What happened on the way. `degraded` names each part that failed, and why.

    `head_position` is the ledger's end when the results were read. `counts` says how many
    candidates each stage left, `method` how the graph leg ranked. `cached` names the search whose
    answer this is.
    """

    search: Search
    query_ms: float
    stages_ms: Mapping[str, float]
    legs: Mapping[str, LegOutcome]
    degraded: tuple[str, ...]
    embedder: str
    counts: Mapping[str, int]
    seeds: tuple[str, ...] = ()
    method: Method | None = None
    head_position: int | None = None
    cached: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """Results, best first, proactive ones last, and what happened."""

    results: tuple[Result, ...]
    meta: RecallMeta
