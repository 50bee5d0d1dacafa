"""Which pairs of nodes are kept as alike: above a cosine, few a node. Pure; stores search.

Order in a document or a session is another view's: neighbours there are like each other anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.enrichment.ports import Likeness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.enrichment.ports import EnrichableNode, Found, NewEmbedding

MINIMUM = 0.85
"""Pairs are kept whose cosine is above this."""

MAX_EDGES = 5
"""SIMILAR_TO edges a node keeps; the least alike go."""

CONTEXT_REACH = 2
"""Messages so near share their context, and their vectors with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The pairs to add, and the stored edges that have to go for them."""

    added: tuple[Likeness, ...] = ()
    closed: tuple[UUID, ...] = ()


def found_pairs(nodes: Mapping[UUID, EnrichableNode], found: Iterable[Found]) -> list[Likeness]:
    """Return the pairs of new nodes with stored ones that are not neighbours."""
    return [
        _pair(one.node_id, one.other_id, one.score)
        for one in found
        if one.score > MINIMUM
        and not _neighbours(
            nodes[one.node_id], (one.document_id, one.ordinal), (one.session_id, one.sequence)
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
    for one, other in zip(*(cosines > MINIMUM).nonzero(), strict=True):
        if one >= other:
            continue
        a, b = nodes[flat[one][0]], nodes[flat[other][0]]
        apart = a.id != b.id and not _neighbours(
            a, (b.document_id, b.ordinal), (b.session_id, b.sequence)
        )
        if apart and a.audience == b.audience:
            pairs.append(_pair(a.id, b.id, float(cosines[one, other])))
    return pairs


def kept(pairs: Iterable[Likeness], stored: Iterable[Likeness]) -> Kept:
    """Return which pairs to add so that no node has more than MAX_EDGES, the most alike first.

    A new pair takes the place of a node's weakest edge when it is better; else it is left out.
    """
    at: dict[UUID, dict[UUID, Likeness]] = {}
    for one in stored:
        _put(at, one)
    held = {(one.source_id, one.target_id) for edges in at.values() for one in edges.values()}
    closed: dict[UUID, None] = {}
    for pair in sorted(pairs, key=lambda one: (-one.score, one.source_id, one.target_id)):
        ends = (pair.source_id, pair.target_id)
        weaker = [one for end in ends if (one := _weakest_if_full(at.get(end, {})))]
        if ends in held or any(one.score >= pair.score for one in weaker):
            continue
        held.add(ends)
        for one in weaker:
            at[one.source_id].pop(one.target_id, None)
            at[one.target_id].pop(one.source_id, None)
            if one.edge_id:
                closed[one.edge_id] = None
        _put(at, pair)
    new = {
        (one.source_id, one.target_id): one
        for edges in at.values()
        for one in edges.values()
        if one.edge_id is None
    }
    return Kept(added=tuple(new.values()), closed=tuple(closed))


def _put(at: dict[UUID, dict[UUID, Likeness]], pair: Likeness) -> None:
    at.setdefault(pair.source_id, {})[pair.target_id] = pair
    at.setdefault(pair.target_id, {})[pair.source_id] = pair


def _weakest_if_full(edges: Mapping[UUID, Likeness]) -> Likeness | None:
    if len(edges) < MAX_EDGES:
        return None
    return min(edges.values(), key=lambda one: (one.score, one.source_id, one.target_id))


def _pair(one: UUID, other: UUID, score: float) -> Likeness:
    """Return the pair with the newer node as its source: ids sort by the time they were made."""
    return Likeness(
        source_id=max(one, other), target_id=min(one, other), score=min(1.0, round(score, 6))
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
