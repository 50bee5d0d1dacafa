"""Personalised PageRank against graphs solved by hand."""

import pytest
from tests.unit.graph.edges import edge, node

from cairn.graph.activation import pagerank
from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent
from cairn.graph.quality import GraphEdge

GENERAL = INTENT_WEIGHTS[Intent.GENERAL]


def ranks(edges: list[GraphEdge], *seeds: str, **options: float) -> dict[str, float]:
    found = pagerank(edges, {node(seed): 1.0 for seed in seeds}, GENERAL, **options)  # type: ignore[arg-type]
    return {id_.bytes.rstrip(b"\0").decode(): rank for id_, rank in found.items()}


def test_two_nodes_share_as_solved_by_hand() -> None:
    # a = 0.15 + 0.85 b, b = 0.85 a: a = 0.15 / (1 - 0.7225), b = 0.85 a
    found = ranks([edge("a", "FOLLOWS", "b")], "a", iterations=200, tolerance=1e-12)
    assert found == {"a": pytest.approx(0.15 / 0.2775), "b": pytest.approx(0.1275 / 0.2775)}


def test_one_step_by_hand_with_edges_of_different_weight() -> None:
    # from a: CO_OCCURRENCE 1 x 0.4 and REFERENCES 2 x 1 share 0.85 as 1 to 5
    edges = [
        edge("A", "CO_OCCURRENCE", "B", weight=2),
        edge("m", "REFERENCES", "A", role="about"),
    ]
    found = ranks(edges, "A", iterations=1)
    assert found == {
        "A": pytest.approx(0.15),
        "B": pytest.approx(0.85 * 0.4 / 2.4),
        "m": pytest.approx(0.85 * 2.0 / 2.4),
    }


def test_a_star_by_hand() -> None:
    # s = 0.15 + 0.85 * 3 l, l = 0.85 s / 3
    star = [edge("s", "FOLLOWS", leaf) for leaf in ("x", "y", "z")]
    found = ranks(star, "s", iterations=300, tolerance=1e-13)
    centre = 0.15 / (1 - 0.85 * 0.85)
    assert found["s"] == pytest.approx(centre)
    assert found["x"] == pytest.approx(0.85 * centre / 3)


def test_ranks_sum_to_one_with_cycles_self_loops_and_islands() -> None:
    edges = [
        edge("a", "FOLLOWS", "b"),
        edge("b", "CAUSED_BY", "c"),
        edge("c", "FOLLOWS", "a"),
        edge("c", "FOLLOWS", "c"),
        edge("x", "FOLLOWS", "y"),
    ]
    found = ranks(edges, "a", "lonely")
    assert sum(found.values()) == pytest.approx(1.0)
    assert "x" not in found
    assert found["lonely"] > 0


def test_a_node_of_two_ways_outranks_one_of_a_single_way() -> None:
    edges = [edge("s", "FOLLOWS", via) for via in ("p", "q", "r")]
    edges += [edge("p", "FOLLOWS", "two"), edge("q", "FOLLOWS", "two"), edge("r", "FOLLOWS", "one")]
    found = ranks(edges, "s")
    assert found["two"] > found["one"]


def test_no_seeds_no_ranks() -> None:
    assert ranks([edge("a", "FOLLOWS", "b")]) == {}


def test_it_ends_when_the_ranks_stand_still() -> None:
    edges = [edge("a", "FOLLOWS", "b")]
    assert ranks(edges, "a", iterations=500) == pytest.approx(
        ranks(edges, "a", iterations=10_000, tolerance=0.0), abs=1e-5
    )


def test_seeds_are_home_in_proportion_to_their_scores() -> None:
    found = pagerank([], {node("a"): 3.0, node("b"): 1.0}, GENERAL)
    assert found == {node("a"): 0.75, node("b"): 0.25}


def test_a_hub_passes_its_rank_along_its_heaviest_edges_only() -> None:
    edges = [
        edge("H", "CO_OCCURRENCE", f"N{number}", id=node(f"{number}"), weight=number / 2000)
        for number in range(10_000)
    ]
    found = ranks(edges, "H", iterations=1)
    assert len(found) == 51
