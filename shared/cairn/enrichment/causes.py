"""What caused a node, by rules over what it says, and which nodes are alike. Pure; no model.

A cause stated as `parent_id` is direct. The others are inferred and weigh less; they are listed
with the weights below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.enrichment.ports import Likeness
from cairn.graph.node import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cairn.embedding.port import Vectors
    from cairn.enrichment.ports import EnrichableNode, NewEmbedding, SimilarNode, TraceStep


DIRECT_WEIGHT = 1.0
REFERENCE_WEIGHT = 0.7  # the payload names the cause under a key for it
TEXT_WEIGHT = 0.6  # the text says "because of" or "due to" before the cause's id
FAILURE_WEIGHT = 0.5  # a failure right after a tool's event of the same trace
MAX_CAUSES = 10  # of one node

CAUSE_KEYS = frozenset(
    {
        "caused_by",
        "cause_id",
        "retry_of",
        "parent_id",
        "parent_event_id",
        "triggered_by",
        "in_reply_to",
        "in_response_to",
    }
)
"""Keys of a payload, casefolded, whose value is the id of what caused the event."""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SAID = re.compile(
    rf"\b(?:because of|due to|caused by|as a result of)\s+(?:\w+\s+){{0,2}}({_UUID})\b", re.I
)
_ID = re.compile(_UUID, re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A node came of another one."""

    node_id: UUID
    cause_id: UUID
    mechanism: str  # direct or inferred
    weight: float


def asks_trace(node: EnrichableNode) -> bool:
    """Return whether what came before an event in its trace may be its cause."""
    if node.label != Label.EVENT or node.trace_id is None or node.parent_id is not None:
        return False
    from cairn.events.draft import is_failure  # what checks new events is not for every batch

    return is_failure(node.kind or "", node.metadata.get("status"))


def stated_causes(node: EnrichableNode) -> list[Cause]:
    """Return the causes a node names itself, unchecked: whether they exist is not known here.

    The `parent_id` of an event made its edge when it was observed; others get it here.
    """
    causes: list[Cause] = []
    drawn = node.conversation_id is not None  # its parent is the message that says it
    if node.parent_id is not None and node.label == Label.MEMORY and not drawn:
        causes.append(_cause(node, node.parent_id, "direct", DIRECT_WEIGHT))
    if node.label == Label.EVENT:
        payload = cast("Mapping[str, Any]", node.metadata.get("payload") or {})
        causes += [_cause(node, item, "inferred", REFERENCE_WEIGHT) for item in _referred(payload)]
    causes += [
        _cause(node, UUID(item), "inferred", TEXT_WEIGHT) for item in _SAID.findall(node.text)
    ]
    return causes[:MAX_CAUSES]


def failure_cause(step: TraceStep) -> Cause | None:
    """Return the cause of a failure: the event just before it, if a tool ran there."""
    if step.tool_name is None and not step.type.startswith("tool."):
        return None
    return Cause(
        node_id=step.node_id,
        cause_id=step.before_id,
        mechanism="inferred",
        weight=FAILURE_WEIGHT,
    )


def good_causes(
    nodes: Mapping[UUID, EnrichableNode],
    causes: Iterable[Cause],
    audiences: Mapping[UUID, tuple[str, tuple[str, ...] | None]],
    held: Iterable[tuple[UUID, UUID]],
) -> Sequence[Cause]:
    """Return the causes that are there, are not the node itself, and are not known already.

    A cause has to be of the node's own audience, or untagged in its scope: what its writer could
    not see must not be told by an edge. A pair is kept once, with its highest weight.
    """
    pairs = set(held)
    best: dict[tuple[UUID, UUID], Cause] = {}
    for item in sorted(causes, key=lambda cause: -cause.weight):
        pair = (item.node_id, item.cause_id)
        scope, agents = nodes[item.node_id].audience
        if item.node_id == item.cause_id or pair in pairs:
            continue
        if audiences.get(item.cause_id) in ((scope, agents), (scope, None)):
            best.setdefault(pair, item)
    return list(best.values())


def _referred(payload: Mapping[str, Any]) -> list[UUID]:
    ids: list[UUID] = []
    for key, value in payload.items():
        if key.casefold() not in CAUSE_KEYS:
            continue
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        ids += [UUID(value) for value in values if isinstance(value, str) and _ID.fullmatch(value)]
    return ids


def _cause(node: EnrichableNode, cause_id: UUID, mechanism: str, weight: float) -> Cause:
    return Cause(node_id=node.id, cause_id=cause_id, mechanism=mechanism, weight=weight)


MIN_SIMILARITY = 0.85
"""Pairs are taken whose cosine is above this."""

MAX_SIMILAR = 5
"""SIMILAR_TO edges a node keeps; the least alike go."""

CONTEXT_REACH = 2
"""Messages so near share their context, and their vectors with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseChanges:
    """The pairs to add, and the stored edges that have to go for them."""

    added: tuple[Likeness, ...] = ()
    closed: tuple[UUID, ...] = ()


def found_pairs(
    nodes: Mapping[UUID, EnrichableNode], similar: Iterable[SimilarNode]
) -> list[Likeness]:
    """Return the pairs of new nodes with stored ones that are not neighbours."""
    return [
        _pair(item.node_id, item.other_id, item.score)
        for item in similar
        if item.score > MIN_SIMILARITY
        and not _neighbours(
            nodes[item.node_id], (item.document_id, item.ordinal), (item.session_id, item.sequence)
        )
    ]


def pairs_within(
    nodes: Mapping[UUID, EnrichableNode], embeddings: Sequence[NewEmbedding]
) -> list[Likeness]:
    """Return the pairs within one batch, whose vectors are not stored yet; they have length 1."""
    import numpy as np  # loaded only where vectors are made

    flat = [(row.node_id, vector) for row in embeddings for vector in row.vectors]
    if len(flat) < 2:
        return []
    matrix: Vectors = np.asarray([vector for _, vector in flat], dtype=np.float32)
    cosines: Vectors = matrix @ matrix.T
    pairs: list[Likeness] = []
    for row, other in zip(*(cosines > MIN_SIMILARITY).nonzero(), strict=True):
        if row >= other:
            continue
        a, b = nodes[flat[row][0]], nodes[flat[other][0]]
        apart = a.id != b.id and not _neighbours(
            a, (b.document_id, b.ordinal), (b.session_id, b.sequence)
        )
        if apart and a.audience == b.audience:
            pairs.append(_pair(a.id, b.id, float(cosines[row, other])))
    return pairs


def strongest_similar(pairs: Iterable[Likeness], stored: Iterable[Likeness]) -> CauseChanges:
    """Return which pairs to add so that no node has more than MAX_SIMILAR, the most alike first.

    A new pair takes the place of a node's weakest edge when it is better; else it is left out.
    """
    at: dict[UUID, dict[UUID, Likeness]] = {}
    for likeness in stored:
        _put(at, likeness)
    held = {(edge.source_id, edge.target_id) for edges in at.values() for edge in edges.values()}
    closed: dict[UUID, None] = {}
    for pair in sorted(pairs, key=lambda pair: (-pair.score, pair.source_id, pair.target_id)):
        ends = (pair.source_id, pair.target_id)
        weaker = [likeness for end in ends if (likeness := _weakest_if_full(at.get(end, {})))]
        if ends in held or any(item.score >= pair.score for item in weaker):
            continue
        held.add(ends)
        for likeness in weaker:
            at[likeness.source_id].pop(likeness.target_id, None)
            at[likeness.target_id].pop(likeness.source_id, None)
            if likeness.edge_id:
                closed[likeness.edge_id] = None
        _put(at, pair)
    new = {
        (edge.source_id, edge.target_id): edge
        for edges in at.values()
        for edge in edges.values()
        if edge.edge_id is None
    }
    return CauseChanges(added=tuple(new.values()), closed=tuple(closed))


def _put(at: dict[UUID, dict[UUID, Likeness]], pair: Likeness) -> None:
    at.setdefault(pair.source_id, {})[pair.target_id] = pair
    at.setdefault(pair.target_id, {})[pair.source_id] = pair


def _weakest_if_full(edges: Mapping[UUID, Likeness]) -> Likeness | None:
    if len(edges) < MAX_SIMILAR:
        return None
    return min(edges.values(), key=lambda edge: (edge.score, edge.source_id, edge.target_id))


def _pair(node_id: UUID, other: UUID, score: float) -> Likeness:
    """Return the pair with the newer node as its source: ids sort by the time they were made."""
    return Likeness(
        source_id=max(node_id, other),
        target_id=min(node_id, other),
        score=min(1.0, round(score, 6)),
    )


def _neighbours(
    node: EnrichableNode,
    document: tuple[UUID | None, int | None],
    session: tuple[str | None, int | None],
) -> bool:
    return _near(node.document_id, node.ordinal, *document, reach=1) or _near(
        node.session_id, node.sequence, *session, reach=CONTEXT_REACH
    )


def _near(
    whole: object, place: int | None, other_whole: object, other_place: int | None, *, reach: int
) -> bool:
    if whole is None or whole != other_whole or place is None or other_place is None:
        return False
    return abs(place - other_place) <= reach
