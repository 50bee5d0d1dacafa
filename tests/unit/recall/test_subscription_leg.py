"""What subscriptions find, scored: worked out by hand."""

from uuid import UUID

import pytest

from cairn.recall.subscriptions import KeywordMatch, scored

A, B, C = (UUID(int=number) for number in (1, 2, 3))


def by_text(node: UUID, keyword: str, rank: float) -> KeywordMatch:
    return KeywordMatch(node_id=node, keyword=keyword, rank=rank, tagged=False)


def by_tag(node: UUID, keyword: str) -> KeywordMatch:
    return KeywordMatch(node_id=node, keyword=keyword, rank=None, tagged=True)


def test_text_ranks_are_stretched_within_their_keyword() -> None:
    found = scored(
        [by_text(A, "solar", 0.6), by_text(B, "solar", 0.3), by_text(C, "solar", 0.4)], limit=10
    )
    assert [item.node_id for item in found] == [A, C, B]
    assert [item.score for item in found] == [1.0, pytest.approx(1 / 3), 0.0]


def test_matches_of_equal_rank_all_score_one() -> None:
    found = scored([by_text(A, "solar", 0.2), by_text(B, "solar", 0.2)], limit=10)
    assert [item.score for item in found] == [1.0, 1.0]


def test_a_node_that_carries_the_keyword_scores_as_the_best_text_match() -> None:
    found = scored(
        [by_text(A, "solar", 0.6), by_text(B, "solar", 0.3), by_tag(B, "solar")], limit=10
    )
    assert dict(found) == {A: 1.0, B: 1.0}


def test_a_node_keeps_the_best_score_of_all_keywords_and_comes_once() -> None:
    found = scored(
        [
            by_text(A, "solar", 0.6),
            by_text(B, "solar", 0.3),
            by_text(B, "roof", 0.3),
            by_text(A, "roof", 0.1),
        ],
        limit=10,
    )
    assert dict(found) == {A: 1.0, B: 1.0}
    assert len(found) == 2


def test_no_more_than_the_limit_are_returned() -> None:
    assert len(scored([by_tag(A, "x"), by_tag(B, "x"), by_tag(C, "x")], limit=2)) == 2


def test_nothing_matched_is_nothing_found() -> None:
    assert scored([], limit=10) == ()
