"""Edges at a node, and whether a hop brought all of them."""

import pytest
from tests.unit.graph.edges import edge, node

from cairn.graph.quality import crowded


def test_an_edge_knows_its_other_end() -> None:
    one = edge("a", "FOLLOWS", "b")
    assert (one.other(node("a")), one.other(node("b"))) == (node("b"), node("a"))
    assert edge("a", "FOLLOWS", "a").other(node("a")) == node("a")


@pytest.mark.parametrize(
    ("per_node", "nodes", "is_crowded"),
    [(3, ["H"], True), (4, ["H"], False), (3, ["a"], False), (3, [], False)],
)
def test_a_node_with_as_many_edges_as_a_hop_brings_may_have_more(
    per_node: int, nodes: list[str], is_crowded: bool
) -> None:
    edges = [edge(leaf, "REFERENCES", "H") for leaf in "abc"]
    assert crowded(edges, {node(name) for name in nodes}, per_node) is is_crowded


def test_directions_and_co_occurrence_are_counted_apart() -> None:
    edges = [
        edge("a", "REFERENCES", "H"),
        edge("H", "USES", "B"),
        edge("H", "CO_OCCURRENCE", "C"),
        edge("C", "CO_OCCURRENCE", "H"),
    ]
    assert not crowded(edges, {node("H")}, 2)
