"""Fusion: what several rankings say together."""

import pytest
from tests.unit.recall.fakes import node_id, ranked

from cairn.recall.ranking import RRF_K, min_max, reciprocal_rank, weighted_sum

EQUAL = {"vector": 1.0, "keyword": 1.0}


def order(fused: dict[object, float]) -> list[object]:
    return sorted(fused, key=lambda each: -fused[each])


def test_third_in_both_beats_first_in_one() -> None:
    legs = {"vector": ranked(1, 2, 3), "keyword": ranked(4, 5, 3)}

    fused = reciprocal_rank(legs, EQUAL)

    assert order(fused)[0] == node_id(3)
    assert fused[node_id(3)] == pytest.approx(2 / 63)
    assert fused[node_id(1)] == pytest.approx(1 / 61)


def test_the_constant_is_sixty() -> None:
    assert RRF_K == 60


def test_a_heavier_leg_counts_more() -> None:
    fused = reciprocal_rank(
        {"vector": ranked(1), "keyword": ranked(2)}, {"vector": 1.0, "keyword": 2.0}
    )

    assert fused == {node_id(1): pytest.approx(1 / 61), node_id(2): pytest.approx(2 / 61)}


def test_no_legs_fuse_to_nothing() -> None:
    assert reciprocal_rank({}, {}) == {}
    assert weighted_sum({"keyword": ()}, EQUAL, normalised=frozenset({"keyword"})) == {}


def test_the_weighted_sum_takes_cosines_as_they_are_and_stretches_text_ranks() -> None:
    legs = {
        "vector": ranked(1, 2, scores=[0.8, 0.5]),
        "keyword": ranked(2, 3, 4, scores=[9.0, 6.0, 3.0]),
    }

    fused = weighted_sum(legs, {"vector": 0.7, "keyword": 0.3}, normalised=frozenset({"keyword"}))

    assert fused == {
        node_id(1): pytest.approx(0.56),
        node_id(2): pytest.approx(0.7 * 0.5 + 0.3),
        node_id(3): pytest.approx(0.15),
        node_id(4): pytest.approx(0.0),
    }


def test_what_is_lowered_counts_from_the_least_of_its_leg() -> None:
    legs = {"vector": ranked(1, 2, scores=[0.8, 0.5]), "keyword": ranked(3, 1, scores=[9.0, 3.0])}

    fused = weighted_sum(
        legs,
        {"vector": 1.0, "keyword": 0.2},
        normalised=frozenset({"keyword"}),
        lowered=frozenset({"vector"}),
    )

    assert fused == {
        node_id(1): pytest.approx(0.3),
        node_id(2): pytest.approx(0.0),
        node_id(3): pytest.approx(0.2),
    }


@pytest.mark.parametrize("scores", [[0.4], [2.0, 2.0], [0.0, 0.0]])
def test_equal_scores_all_become_one(scores: list[float]) -> None:
    assert min_max(scores) == [1.0] * len(scores)
