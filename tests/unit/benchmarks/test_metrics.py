"""The benchmark's formulas against values worked out by hand."""

import math

import pytest

from benchmarks.metrics import ndcg_at, percentile, quality, recall_at, reciprocal_rank

RANKED = [{"x"}, {"a"}, set[str](), {"b"}, {"y"}, {"c"}]


@pytest.mark.parametrize(
    ("k", "evidence", "expected"),
    [
        (1, {"a"}, 0.0),
        (2, {"a"}, 1.0),
        (4, {"a", "b"}, 1.0),
        (4, {"a", "c"}, 0.5),
        (6, {"a", "b", "c", "missing"}, 0.75),
        (100, {"missing"}, 0.0),
    ],
)
def test_recall_is_the_share_of_evidence_in_the_first_k(
    k: int, evidence: set[str], expected: float
) -> None:
    assert recall_at(k, RANKED, evidence) == expected


def test_a_result_that_stands_for_two_turns_finds_both() -> None:
    assert recall_at(1, [{"a", "b"}], {"a", "b"}) == 1.0


@pytest.mark.parametrize(
    ("evidence", "expected"), [({"x"}, 1.0), ({"a", "c"}, 1 / 2), ({"c"}, 1 / 6), ({"z"}, 0.0)]
)
def test_the_reciprocal_rank_is_that_of_the_first_evidence(
    evidence: set[str], expected: float
) -> None:
    assert reciprocal_rank(RANKED, evidence) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("ranked", "evidence", "expected"),
    [
        ([{"a"}, {"b"}], {"a", "b"}, 1.0),
        ([{"x"}, {"a"}], {"a"}, 1 / math.log2(3)),
        ([{"a"}, {"x"}, {"b"}], {"a", "b"}, (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        ([{"a"}, {"a"}], {"a"}, 1.0),
        ([{"x"}], {"a"}, 0.0),
        ([{"x"}] * 10 + [{"a"}], {"a"}, 0.0),
    ],
)
def test_ndcg_discounts_by_rank_and_is_one_for_the_ideal_order(
    ranked: list[set[str]], evidence: set[str], expected: float
) -> None:
    assert ndcg_at(10, ranked, evidence) == pytest.approx(expected)


def test_more_evidence_than_k_can_still_be_ideal() -> None:
    names = [f"t{number}" for number in range(12)]

    assert ndcg_at(10, [{name} for name in names], names) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (0.25, 1.0), (1.0, 4.0), (0.0, 1.0)]
)
def test_a_percentile_is_a_measured_value(share: float, expected: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], share) == expected


def test_quality_is_the_mean_over_questions() -> None:
    asked = [([{"a"}, {"x"}], {"a"}), ([{"x"}, {"b"}], {"b", "c"})]

    assert quality(asked) == {
        "questions": 2,
        "recall_at_5": 0.75,
        "recall_at_10": 0.75,
        "recall_at_20": 0.75,
        "mrr": 0.75,
        "ndcg_at_10": round((1 + (1 / math.log2(3)) / (1 + 1 / math.log2(3))) / 2, 4),
    }
