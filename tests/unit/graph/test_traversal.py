"""The best-first walk against paths worked out by hand, and its bounds."""

from collections.abc import Callable
from itertools import count, pairwise

import pytest
from tests.unit.graph.edges import edge, node

from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent
from cairn.graph.quality import GraphEdge
from cairn.graph.traversal import Bounds, Walk, walk
from cairn.kernel.errors import ValidationFailed


def stopped() -> float:
    return 0.0


def ticking(seconds: float) -> Callable[[], float]:
    ticks = count()
    return lambda: next(ticks) * seconds


def walked(
    edges: list[GraphEdge],
    *seeds: str,
    intent: Intent = Intent.WHY,
    bounds: Bounds | None = None,
    stopwatch: Callable[[], float] = stopped,
    deadline: float = 1.0,
    per_node: int = 50,
) -> Walk:
    return walk(
        edges,
        {node(seed): 1.0 for seed in seeds},
        INTENT_WEIGHTS[intent],
        bounds or Bounds(),
        stopwatch=stopwatch,
        deadline=deadline,
        per_node=per_node,
    )


def scores(found: Walk) -> dict[str, float]:
    return {
        id_.bytes.rstrip(b"\0").decode(): round(one.score, 6) for id_, one in found.reached.items()
    }


CHAIN = [edge("d", "CAUSED_BY", "c"), edge("c", "CAUSED_BY", "b"), edge("b", "CAUSED_BY", "a")]


def test_a_path_scores_decay_times_the_share_of_the_greatest_weight_a_hop() -> None:
    edges = [
        edge("x", "CAUSED_BY", "y"),  # 0.8 x 5/5 x 1
        edge("x", "FOLLOWS", "z"),  # 0.8 x 1/5 x 1
        edge("y", "SIMILAR_TO", "w", score=0.9),  # 0.8 x 0.8 x 1.5/5 x 0.9
        edge("x", "CAUSED_BY", "v", mechanism="inferred"),  # 0.8 x 1 x 0.6
    ]
    assert scores(walked(edges, "x")) == {
        "x": 1.0,
        "y": 0.8,
        "v": 0.48,
        "w": 0.1728,
        "z": 0.16,
    }


def test_the_intent_decides_what_comes_first() -> None:
    edges = [edge("x", "CAUSED_BY", "cause"), edge("x", "FOLLOWS", "before")]
    assert list(scores(walked(edges, "x", intent=Intent.WHY))) == ["x", "cause", "before"]
    assert list(scores(walked(edges, "x", intent=Intent.WHEN))) == ["x", "before", "cause"]


def test_nodes_are_settled_by_falling_score_whatever_the_order_of_edges() -> None:
    edges = [edge("x", "CAUSED_BY", "y"), edge("y", "CAUSED_BY", "w"), edge("x", "FOLLOWS", "w")]
    for order in (edges, edges[::-1]):
        found = walked(order, "x")
        assert list(scores(found)) == ["x", "y", "w"]
        assert found.reached[node("w")].score == pytest.approx(0.64)  # not 0.16 straight
        assert found.reached[node("w")].depth == 2
        assert found.reached[node("w")].via == edges[1]


def test_three_hops_by_default() -> None:
    assert set(scores(walked([*CHAIN, edge("a", "CAUSED_BY", "root")], "d"))) == set("dcba")


def test_the_depth_asked_for_is_kept() -> None:
    assert scores(walked(CHAIN, "d", bounds=Bounds(max_depth=1))) == {"d": 1.0, "c": 0.8}


def test_a_shorter_worse_way_still_opens_what_lies_behind() -> None:
    edges = [
        edge("s", "CAUSED_BY", "m"),
        edge("m", "CAUSED_BY", "t"),  # t: 0.64 at two hops
        edge("s", "FOLLOWS", "t"),  # 0.16 at one
        edge("t", "CAUSED_BY", "u"),  # within two hops only by the straight way
    ]
    found = walked(edges, "s", bounds=Bounds(max_depth=2))
    assert scores(found) == {"s": 1.0, "m": 0.8, "t": 0.64, "u": 0.128}


def test_cycles_and_self_loops_end_and_change_nothing() -> None:
    edges = [
        edge("a", "CAUSED_BY", "b"),
        edge("b", "CAUSED_BY", "c"),
        edge("c", "CAUSED_BY", "a"),
        edge("a", "CAUSED_BY", "a"),
    ]
    found = walked(edges, "a", bounds=Bounds(max_depth=10))
    assert scores(found) == {"a": 1.0, "b": 0.8, "c": 0.8}
    assert not found.truncated


def test_as_many_nodes_as_allowed_and_it_says_that_there_were_more() -> None:
    edges = [edge("h", "CAUSED_BY", f"n{number}") for number in range(9)]
    found = walked(edges, "h", bounds=Bounds(max_nodes=4))
    assert len(found.reached) == 4
    assert found.truncated


def test_exactly_as_many_nodes_as_there_are_is_not_truncated() -> None:
    assert not walked(CHAIN, "d", bounds=Bounds(max_nodes=4)).truncated


def test_a_deadline_that_passes_ends_the_walk_with_what_it_has() -> None:
    found = walked(CHAIN, "d", stopwatch=ticking(1.0), deadline=2.0)
    assert set(scores(found)) == {"d", "c"}
    assert found.truncated


def test_a_deadline_already_passed_reaches_nothing() -> None:
    found = walked(CHAIN, "d", stopwatch=lambda: 5.0, deadline=5.0)
    assert found.reached == {}
    assert found.truncated


def test_no_seeds_reach_nothing() -> None:
    assert walked(CHAIN) == Walk(reached={}, truncated=False)


def test_a_seed_without_edges_is_reached_alone() -> None:
    assert scores(walked(CHAIN, "elsewhere")) == {"elsewhere": 1.0}


def test_a_seed_of_less_weight_counts_less() -> None:
    found = walk(
        CHAIN,
        {node("d"): 0.5},
        INTENT_WEIGHTS[Intent.WHY],
        Bounds(max_depth=1),
        stopwatch=stopped,
        deadline=1,
    )
    assert scores(found) == {"d": 0.5, "c": 0.4}


def test_a_hub_of_ten_thousand_edges_is_followed_along_its_heaviest() -> None:
    edges = [
        edge("H", "CO_OCCURRENCE", f"N{number}", id=node(f"{number}"), weight=number / 2000)
        for number in range(10_000)
    ]
    found = walked(edges, "H", per_node=50, bounds=Bounds(max_nodes=500))
    assert len(found.reached) == 51
    assert {f"N{number}" for number in range(9_950, 10_000)} <= set(scores(found))


def test_a_long_chain_is_followed_no_further_than_ten() -> None:
    names = [f"n{number:02}" for number in range(30)]
    chain = [edge(one, "CAUSED_BY", other) for one, other in pairwise(names)]
    assert len(walked(chain, "n00", bounds=Bounds(max_depth=10)).reached) == 11


def test_the_published_bounds_are_the_defaults() -> None:
    assert Bounds() == Bounds(max_depth=3, max_nodes=100, timeout_ms=5_000)
    assert Bounds(max_depth=10, max_nodes=500, timeout_ms=30_000)


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"max_depth": 11}, "max_depth must be from 1 to 10"),
        ({"max_depth": 0}, "max_depth must be from 1 to 10"),
        ({"max_nodes": 501}, "max_nodes must be from 1 to 500"),
        ({"max_nodes": 0}, "max_nodes must be from 1 to 500"),
        ({"timeout_ms": 30_001}, "timeout_ms must be from 1 to 30000"),
        ({"timeout_ms": 0}, "timeout_ms must be from 1 to 30000"),
    ],
)
def test_bounds_beyond_the_maximum_are_refused(bounds: dict[str, int], message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        Bounds(**bounds)
