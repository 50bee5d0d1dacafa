"""What an edge is worth, by hand."""

import pytest
from tests.unit.graph.edges import edge, node

from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent
from cairn.graph.quality import (
    GraphEdge,
    edge_quality,
    step,
    strength_factor,
    strongest_edges,
    traverse_score,
)

WHY = INTENT_WEIGHTS[Intent.WHY]


@pytest.mark.parametrize(
    ("strength", "factor"), [(0, 0.0), (-1, 0.0), (1, 0.2), (4, 0.8), (5, 1.0), (50, 1.0)]
)
def test_strength_counts_to_five(strength: float, factor: float) -> None:
    assert strength_factor(strength) == pytest.approx(factor)


@pytest.mark.parametrize(
    ("of", "quality"),
    [
        (edge("a", "CAUSED_BY", "b", mechanism="direct"), 1.0),
        (edge("a", "CAUSED_BY", "b"), 1.0),
        (edge("a", "CAUSED_BY", "b", mechanism="inferred"), 0.6),
        (edge("a", "SIMILAR_TO", "b", score=0.9), 0.9),
        (edge("a", "SIMILAR_TO", "b", score=1.2), 1.0),
        (edge("a", "SIMILAR_TO", "b", weight=0.87), 0.87),
        (edge("a", "REFERENCES", "B", role="about"), 1.0),
        (edge("a", "REFERENCES", "B", role="subject"), 1.0),
        (edge("a", "REFERENCES", "B", role="object"), 0.9),
        (edge("a", "REFERENCES", "B", role="tool"), 0.8),
        (edge("a", "REFERENCES", "B", role="mentioned"), 0.7),
        (edge("a", "REFERENCES", "B", role="source"), 0.4),
        (edge("a", "REFERENCES", "B", role="bystander"), 0.7),
        (edge("a", "REFERENCES", "B"), 0.7),
        (edge("A", "CO_OCCURRENCE", "B", weight=2), 0.4),
        (edge("A", "USES", "B", weight=3), 0.6),
        (edge("A", "USES", "B", weight=9), 1.0),
        (edge("a", "USES", "b"), 1.0),
        (edge("a", "FOLLOWS", "b"), 1.0),
        (edge("a", "SUPERSEDES", "b", weight=0.5), 0.5),
        (edge("a", "SOLVES", "b", weight=-3), 0.0),
    ],
    ids=lambda value: f"{value.relation}-{value[5:]}" if isinstance(value, GraphEdge) else value,
)
def test_an_edge_is_believed_by_its_kind_and_its_evidence(of: GraphEdge, quality: float) -> None:
    assert edge_quality(of) == pytest.approx(quality)


def test_a_traverse_score_is_the_intents_weight_times_the_quality() -> None:
    assert traverse_score(edge("a", "CAUSED_BY", "b", mechanism="inferred"), WHY) == pytest.approx(
        5.0 * 0.6
    )
    assert traverse_score(edge("a", "SIMILAR_TO", "b", score=0.9), WHY) == pytest.approx(1.5 * 0.9)


def test_a_step_is_the_share_of_the_intents_greatest_weight() -> None:
    assert step(edge("a", "CAUSED_BY", "b"), WHY) == pytest.approx(1.0)
    assert step(edge("a", "FOLLOWS", "b"), WHY) == pytest.approx(0.2)


def test_a_hub_keeps_its_heaviest_edges_and_each_leaf_its_own() -> None:
    edges = [edge("H", "CO_OCCURRENCE", leaf, weight=strength) for leaf, strength in LEAVES]
    at = strongest_edges(edges, WHY, per_node=2)
    assert [each.weight for _, each in at[node("H")]] == [5, 4]
    assert [score for score, _ in at[node("H")]] == pytest.approx([1.0, 0.8])
    assert {leaf: len(at[node(leaf)]) for leaf, _ in LEAVES} == {"A": 1, "B": 1, "C": 1, "D": 1}


def test_a_self_loop_is_no_way_anywhere() -> None:
    assert strongest_edges([edge("a", "FOLLOWS", "a")], WHY, per_node=5) == {}


LEAVES = [("A", 1), ("B", 5), ("C", 3), ("D", 4)]
