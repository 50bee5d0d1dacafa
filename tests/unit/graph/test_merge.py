"""The multi-intent merge against values worked out by hand."""

import pytest
from tests.unit.graph.edges import node

from cairn.graph.intent_weights import Intent
from cairn.graph.merge import best, decayed, merge, walked_intents

WHY, WHEN, WHAT = Intent.WHY, Intent.WHEN, Intent.WHAT


@pytest.mark.parametrize(
    ("confidences", "walked"),
    [
        ({WHY: 0.7, WHEN: 0.4, WHAT: 0.5}, {WHY: 0.7, WHEN: 0.4, WHAT: 0.5}),
        ({WHY: 0.7, WHEN: 0.3}, {WHY: 0.7}),  # above 0.3, not from it
        ({WHY: 0.31, WHEN: 0.2}, {WHY: 0.31}),
        ({WHY: 0.2}, {Intent.GENERAL: 1.0}),
        ({}, {Intent.GENERAL: 1.0}),
        ({WHY: 3.0}, {WHY: 1.0}),
    ],
)
def test_intents_above_three_tenths_are_walked(
    confidences: dict[Intent, float], walked: dict[Intent, float]
) -> None:
    assert walked_intents(confidences) == walked


def test_scores_are_blended_by_confidence_and_merged_as_maximum_plus_a_fifth() -> None:
    a, b, c = node("a"), node("b"), node("c")
    merged = merge(
        {WHY: {a: 1.0, b: 0.5}, WHEN: {a: 0.5, c: 0.9}, WHAT: {a: 0.8}},
        {WHY: 0.7, WHEN: 0.4, WHAT: 0.5},
    )
    assert merged[a] == pytest.approx(0.7 + 0.2 * (0.2 + 0.4))
    assert merged[b] == pytest.approx(0.35)
    assert merged[c] == pytest.approx(0.36)


def test_a_node_of_two_walks_stands_above_an_equal_node_of_one() -> None:
    one, two = node("one"), node("two")
    merged = merge({WHY: {one: 0.6, two: 0.6}, WHEN: {two: 0.1}}, {WHY: 1.0, WHEN: 1.0})
    assert best(merged, 2) == [(two, pytest.approx(0.62)), (one, pytest.approx(0.6))]


def test_one_walk_merges_to_itself() -> None:
    assert merge({WHY: {node("a"): 0.4}}, {WHY: 1.0}) == {node("a"): 0.4}


def test_no_walks_merge_to_nothing() -> None:
    assert merge({}, {}) == {}


def test_decay_applies_to_the_merged_score() -> None:
    old, new = node("old"), node("new")
    assert decayed({old: 0.8, new: 0.5}, {old: 0.5}) == {old: 0.4, new: 0.5}


def test_equal_scores_are_ordered_by_id() -> None:
    scores = {node("b"): 1.0, node("a"): 1.0, node("c"): 2.0}
    assert [id_ for id_, _ in best(scores, 2)] == [node("c"), node("a")]
