"""Spreading activation against values worked out by hand."""

import pytest
from tests.unit.graph.edges import edge, node

from cairn.graph.activation import activate_nodes, spread
from cairn.graph.quality import GraphEdge


def activations(edges: list[GraphEdge], *seeds: str, **options: float) -> dict[str, float]:
    found = spread(edges, [node(seed) for seed in seeds], **options)  # type: ignore[arg-type]
    return {id_.bytes.rstrip(b"\0").decode(): round(one[0], 6) for id_, one in found.items()}


@pytest.mark.parametrize(
    ("relation", "strength", "activation"),
    [
        ("CO_OCCURRENCE", 5, 0.8),  # 1.0 x 0.8 x 1 x 1
        ("CO_OCCURRENCE", 2, 0.32),  # 1.0 x 0.8 x 1 x 0.4
        ("USES", 5, 1.6),  # 1.0 x 0.8 x 2 x 1
        ("USES", 1, 0.32),  # 1.0 x 0.8 x 2 x 0.2
        ("WORKS_ON", 100, 1.6),
    ],
)
def test_one_hop_is_decay_times_boost_times_strength(
    relation: str, strength: float, activation: float
) -> None:
    edges = [edge("A", relation, "B", weight=strength)]
    assert activations(edges, "A") == {"A": 1.0, "B": activation}
    assert activations(edges, "B") == {"A": activation, "B": 1.0}


def test_two_hops_multiply_and_the_third_is_not_taken() -> None:
    chain = [edge(a, "CO_OCCURRENCE", b, weight=5) for a, b in ("AB", "BC", "CD")]
    assert activations(chain, "A") == {"A": 1.0, "B": 0.8, "C": 0.64}
    assert activations(chain, "A", depth=3) == {"A": 1.0, "B": 0.8, "C": 0.64, "D": 0.512}


def test_what_falls_below_a_tenth_is_not_stirred() -> None:
    # 0.8 x 0.2 = 0.16 stays; 0.16 x 0.16 = 0.0256 does not
    chain = [edge("A", "CO_OCCURRENCE", "B"), edge("B", "CO_OCCURRENCE", "C")]
    assert activations(chain, "A") == {"A": 1.0, "B": 0.16}


def test_exactly_a_tenth_is_stirred() -> None:
    assert activations([edge("A", "CO_OCCURRENCE", "B", weight=0.625)], "A") == {
        "A": 1.0,
        "B": 0.1,
    }


def test_of_several_ways_the_strongest_counts_and_a_seed_stays_a_seed() -> None:
    edges = [
        edge("A", "CO_OCCURRENCE", "B", weight=5),
        edge("A", "USES", "C", weight=5),
        edge("C", "USES", "B", weight=5),
    ]
    # B: 0.8 straight, 1.6 x 1.6 = 2.56 through C; A: through C it would be 2.56, and stays 1
    assert activations(edges, "A") == {"A": 1.0, "B": 2.56, "C": 1.6}


def test_cycles_and_self_loops_end() -> None:
    edges = [
        edge("A", "CO_OCCURRENCE", "A", weight=5),
        edge("A", "CO_OCCURRENCE", "B", weight=5),
        edge("B", "CO_OCCURRENCE", "A", weight=5),
    ]
    assert activations(edges, "A") == {"A": 1.0, "B": 0.8}


def test_no_seeds_stir_nothing() -> None:
    assert activations([edge("A", "USES", "B")]) == {}


def test_only_entities_stir_each_other() -> None:
    assert activations([edge("A", "USES", "b", weight=5)], "A") == {"A": 1.0}


def test_a_memory_sums_the_activations_of_the_entities_it_references() -> None:
    edges = [
        edge("A", "CO_OCCURRENCE", "B", weight=5),
        edge("both", "REFERENCES", "A", role="about"),
        edge("both", "REFERENCES", "B", role="mentioned"),
        edge("one", "REFERENCES", "B"),
        edge("none", "REFERENCES", "Z"),
    ]
    scores = activate_nodes(edges, spread(edges, [node("A")]))
    assert scores == {node("both"): pytest.approx(1.8), node("one"): pytest.approx(0.8)}


def test_an_entity_counts_once_for_a_memory() -> None:
    edges = [edge("m", "REFERENCES", "A", role=role, id=node(role)) for role in ("about", "source")]
    assert activate_nodes(edges, spread(edges, [node("A")])) == {node("m"): 1.0}
