"""What a search gives back: the nodes read, what stands beside and hangs on them, what happened."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.kernel.text.canonical import format_timestamp
from cairn.recall.proactive import surface
from cairn.recall.ranking import Validity, bookkeeping, validity
from cairn.recall.records import Neighbours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any
    from uuid import UUID

    from cairn.kernel.stores import Stores
    from cairn.recall.coverage import Coverage
    from cairn.recall.legs import LegOutcome
    from cairn.recall.personal import PersonalReason
    from cairn.recall.proactive import Surfaced
    from cairn.recall.query import Search
    from cairn.recall.ranking import Ranked
    from cairn.recall.records import Filters, FoundNode
    from cairn.recall.relevance import Judgement
    from cairn.recall.walks.graph_ports import Method


RELATED_CAP = 20
"""Related nodes shown a result; further ones are counted."""
RELATED_COUNTED = 200
RELATED_CHARACTERS = 1_000

OUTGOING = "outgoing"
INCOMING = "incoming"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedNode:
    """A node one edge away from a result. `direction` is the edge's, seen from the result."""

    of_id: UUID
    node_id: UUID
    label: str
    kind: str | None
    relation: str
    view: str
    direction: str
    text: str
    title: str | None
    canonical_name: str | None
    importance: int
    occurred_at: datetime
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The related nodes of one result, and how many more there are than shown.

    Relations are counted up to 200 a direction, so at a hub `dropped` means at least.
    """

    nodes: tuple[RelatedNode, ...] = ()
    dropped: int = 0


def expand(
    stores: Stores,
    node_ids: Sequence[UUID],
    filters: Filters,
    *,
    hops: int = 1,
    cap: int = RELATED_CAP,
) -> Mapping[UUID, Related]:
    """Return what hangs on each of `node_ids`; nothing with `hops` 0, which is compact output.

    A related node that is itself a result stays: the edge between two results is worth knowing.
    """
    if hops < 1 or not node_ids:
        return {}
    return stores.graph.related(list(dict.fromkeys(node_ids)), filters, cap=min(cap, RELATED_CAP))


def related_json(node: RelatedNode) -> dict[str, Any]:
    """Return the JSON form of a related node."""
    shown = {
        "node_id": str(node.node_id),
        "type": node.label,
        "kind": node.kind,
        "relation": node.relation,
        "view": node.view,
        "direction": node.direction,
        "text": node.text,
        "title": node.title,
        "canonical_name": node.canonical_name,
        "importance": node.importance,
        "occurred_at": format_timestamp(node.occurred_at),
    }
    return {name: value for name, value in shown.items() if value is not None}


DIRECT = "direct"
PROACTIVE = "proactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One found node, what stands beside it, and why it is where it is.

    `scores` by signal: relevance_score (the final score), the legs' own by leg, when they found
    it, fused, what each signal added, decay_score and importance_score. `merged` are the ids this
    result stands for besides its own. `surfaced` says why a proactive node is there, `validity`
    whether what the node says held at the moment the search answers for. `relevance` is the
    probability that it bears on the question, where that is known. `personal` is why it stands
    higher for whom the search is.
    """

    node: FoundNode
    scores: Mapping[str, float]
    neighbours: Neighbours = field(default_factory=Neighbours)
    related: Related = field(default_factory=Related)
    merged: tuple[UUID, ...] = ()
    surfaced: Surfaced | None = None
    validity: Validity = Validity.CURRENT
    relevance: float | None = None
    personal: PersonalReason | None = None

    @property
    def retrieval_reason(self) -> str:
        """Return `direct` for what was asked for, else `proactive`."""
        return PROACTIVE if self.surfaced else DIRECT


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMeta:
    """What happened on the way. `degraded` names each part that failed, and why.

    `head_position` is the ledger's end when the results were read. `counts` says how many
    candidates each stage left, `method` how the graph leg ranked, `judgement` what is
    relevant, `coverage` what came of the question's parts. `cached` names the search whose answer
    this is.
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
    judgement: Judgement | None = None
    coverage: Coverage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """Results, best first, proactive ones last, and what happened."""

    results: tuple[Result, ...]
    meta: RecallMeta


def shown(
    stores: Stores,
    search: Search,
    best: Sequence[Ranked],
    merged: Mapping[UUID, tuple[UUID, ...]],
    *,
    subscribed: frozenset[UUID],
    personal: Mapping[UUID, PersonalReason] = MappingProxyType({}),
) -> tuple[Result, ...]:
    """Read the nodes of `best` and what stands beside and hangs on them, in their order.

    A node that is gone by now, or hidden, is left out. `subscribed` are ids a subscription found.
    """
    if not best:
        return ()
    ids = [each.id for each in best]
    nodes = stores.node_reader.read(ids, search.filters, subscribed=subscribed.intersection(ids))
    beside: Mapping[UUID, Neighbours] = {}
    if count := search.request.neighbours:
        beside = stores.node_reader.neighbours(nodes, count, search.filters)
    related: Mapping[UUID, Related] = {}
    if search.hops:
        related = expand(stores, [node.id for node in nodes], search.filters)
    by_id = {node.id: node for node in nodes}
    return tuple(
        Result(
            node=node,
            scores={**each.scores, "importance_score": node.importance},
            neighbours=beside.get(node.id, Neighbours()),
            related=related.get(node.id, Related()),
            merged=merged.get(node.id, ()),
            validity=Validity.SUPERSEDED
            if each.scored.sketch.replaced_by
            else validity(node, search.at),
            relevance=each.relevance,
            personal=personal.get(each.id),
        )
        for each in best
        if (node := by_id.get(each.id)) is not None
    )


def proactive(
    stores: Stores,
    search: Search,
    results: Sequence[Result],
    entity_ids: Sequence[UUID],
) -> tuple[Result, ...]:
    """Return nodes nobody asked for, each with its signal, at most as many as the recipe says."""
    cap = search.recipe.proactive
    if not cap:
        return ()
    surfaced = surface(
        stores,
        results=[each.node.id for each in results],
        entity_ids=entity_ids,
        session_id=search.request.session_id,
        filters=search.filters,
        now=search.started_at,
        chosen=search.workspace.proactive_signals,
        cap=cap,
    )
    if not surfaced:
        return ()
    nodes = stores.node_reader.read([each.node_id for each in surfaced], search.filters)
    by_id = {node.id: node for node in nodes}
    return tuple(
        Result(
            node=node,
            scores={"relevance_score": each.score, "importance_score": node.importance},
            surfaced=each,
            validity=validity(node, search.at),
        )
        for each in surfaced
        if (node := by_id.get(each.node_id)) is not None
        and not bookkeeping(node.label, node.text, node.kind)
    )
