"""Likeness: above the cosine, few edges a node, no neighbours, nothing twice."""

from typing import Any
from uuid import UUID

import numpy as np
from tests.support.remembering import NOON

from cairn.enrichment.causes import MAX_SIMILAR, found_pairs, pairs_within, strongest_similar
from cairn.enrichment.ports import EnrichableNode, Likeness, NewEmbedding, SimilarNode


def node(number: int, **changes: Any) -> EnrichableNode:
    given: dict[str, Any] = {
        "id": UUID(int=number),
        "label": "Memory",
        "text": "x",
        "context": (),
        "scope": "admin",
        "agents": None,
        "data_subjects": (),
        "occurred_at": NOON,
    }
    return EnrichableNode(**(given | changes))


def pair(one: int, other: int, score: float, edge: int | None = None) -> Likeness:
    return Likeness(
        source_id=UUID(int=max(one, other)),
        target_id=UUID(int=min(one, other)),
        score=score,
        edge_id=UUID(int=edge) if edge else None,
    )


def ends(pairs: Any) -> set[tuple[int, int]]:
    return {(pair.source_id.int, pair.target_id.int) for pair in pairs}


def found(one: int, other: int, score: float, **place: Any) -> SimilarNode:
    given: dict[str, Any] = dict.fromkeys(("document_id", "ordinal", "session_id", "sequence"))
    return SimilarNode(
        node_id=UUID(int=one), other_id=UUID(int=other), score=score, **(given | place)
    )


def test_only_what_is_above_the_cosine_is_alike() -> None:
    nodes = {UUID(int=9): node(9)}
    pairs = found_pairs(nodes, [found(9, 1, 0.85), found(9, 2, 0.8501)])
    assert ends(pairs) == {(9, 2)}


def test_the_newer_node_is_the_source() -> None:
    nodes = {UUID(int=1): node(1)}
    assert ends(found_pairs(nodes, [found(1, 9, 0.9)])) == {(9, 1)}


def test_neighbours_of_a_document_or_a_session_are_left_to_their_order() -> None:
    document = UUID(int=77)
    chunk = node(9, document_id=document, ordinal=4)
    message = node(8, session_id="s", sequence=10)
    nodes = {chunk.id: chunk, message.id: message}
    pairs = found_pairs(
        nodes,
        [
            found(9, 1, 0.9, document_id=document, ordinal=5),
            found(9, 2, 0.9, document_id=document, ordinal=6),
            found(8, 3, 0.9, session_id="s", sequence=12),
            found(8, 4, 0.9, session_id="s", sequence=13),
            found(8, 5, 0.9, session_id="other", sequence=10),
        ],
    )
    assert ends(pairs) == {(9, 2), (8, 4), (8, 5)}


def test_a_batch_is_compared_with_itself_within_each_audience() -> None:
    nodes = {
        item.id: item
        for item in (node(1), node(2), node(3, scope="public"), node(4, agents=("bot",)))
    }
    same, other = np.float32([1, 0]), np.float32([0, 1])
    vectors = [(1, same), (2, same), (3, same), (4, other)]
    embeddings = [NewEmbedding(node_id=UUID(int=n), vectors=[v]) for n, v in vectors]
    (only,) = pairs_within(nodes, embeddings)
    assert (ends([only]), only.score) == ({(2, 1)}, 1.0)


def test_a_node_keeps_its_best_edges_of_one_batch() -> None:
    pairs = [pair(9, n, 0.86 + n / 100) for n in range(1, 8)]
    result = strongest_similar(pairs, [])
    assert ends(result.added) == {(9, n) for n in (3, 4, 5, 6, 7)}
    assert result.closed == ()


def test_a_better_pair_takes_the_place_of_the_weakest_stored_edge() -> None:
    stored = [pair(5, n, 0.90 + n / 1000, edge=100 + n) for n in (10, 11, 12, 13, 14)]
    result = strongest_similar([pair(5, 20, 0.95)], stored)
    assert ends(result.added) == {(20, 5)}
    assert result.closed == (UUID(int=110),)


def test_a_weaker_pair_is_left_out_of_a_full_node() -> None:
    stored = [pair(5, n, 0.95, edge=100 + n) for n in (10, 11, 12, 13, 14)]
    result = strongest_similar([pair(5, 20, 0.94), pair(5, 21, 0.95)], stored)
    assert (result.added, result.closed) == ((), ())


def test_a_pair_that_is_stored_is_not_added_again() -> None:
    assert strongest_similar([pair(5, 6, 0.99)], [pair(5, 6, 0.9, edge=1)]).added == ()


def test_no_node_ends_with_more_edges_than_it_may_keep() -> None:
    everyone = [pair(a, b, 0.86 + (a * b % 13) / 100) for a in range(1, 30) for b in range(1, a)]
    result = strongest_similar(everyone, [])
    counts: dict[int, int] = {}
    for one, other in ends(result.added):
        counts[one] = counts.get(one, 0) + 1
        counts[other] = counts.get(other, 0) + 1
    assert max(counts.values()) <= MAX_SIMILAR


def test_the_same_pairs_in_another_order_are_kept_alike() -> None:
    everyone = [pair(a, b, 0.86 + (a * b % 13) / 100) for a in range(1, 20) for b in range(1, a)]
    assert ends(strongest_similar(everyone, []).added) == ends(
        strongest_similar(everyone[::-1], []).added
    )
