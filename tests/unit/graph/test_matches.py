"""What others bring a matching node, by hand."""

from itertools import count
from uuid import UUID

import pytest

from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent
from cairn.graph.merge import arrivals, with_matches
from cairn.graph.quality import GraphEdge
from cairn.graph.traversal import Bounds, Walk, walk

A, B, C = (UUID(int=number) for number in (1, 2, 3))
WHY = INTENT_WEIGHTS[Intent.WHY]
NUMBERS = count(100)


def edge(source: UUID, relation: str, target: UUID) -> GraphEdge:
    return GraphEdge(
        id=UUID(int=next(NUMBERS)),
        view="causal",
        relation=relation,
        source_id=source,
        target_id=target,
        source_label="Event",
        target_label="Event",
        weight=1.0,
        score=None,
        mechanism=None,
        role=None,
    )


def walked(edges: list[GraphEdge], seeds: dict[UUID, float], depth: int = 3) -> Walk:
    bounds = Bounds(max_depth=depth)
    return walk(edges, seeds, WHY, bounds, stopwatch=lambda: 0.0, deadline=1.0)


def test_a_neighbour_brings_one_more_step_of_the_walk() -> None:
    edges = [edge(A, "CAUSED_BY", B)]
    reached = walked(edges, {A: 1.0, B: 0.3}).reached
    found = arrivals({A: 1.0, B: 0.3}, reached, edges, WHY, max_depth=3)
    # A has from B what B started with, not what B has from A
    assert found == {B: pytest.approx(0.8), A: pytest.approx(0.8 * 0.3)}


def test_the_best_way_counts_and_follows_less_than_a_cause() -> None:
    edges = [edge(A, "FOLLOWS", C), edge(B, "CAUSED_BY", C)]
    reached = walked(edges, {A: 1.0, B: 0.5, C: 0.9}).reached
    found = arrivals({B: 0.5, C: 0.9}, reached, edges, WHY, max_depth=3)
    assert found[C] == pytest.approx(max(1.0 * 0.8 / 5, 0.5 * 0.8))


def test_nothing_comes_from_where_the_walk_ends() -> None:
    edges = [edge(A, "CAUSED_BY", B), edge(B, "CAUSED_BY", C)]
    reached = walked(edges, {A: 1.0}, depth=1).reached
    assert arrivals({C: 0.1}, reached, edges, WHY, max_depth=1) == {}


def test_a_node_is_no_neighbour_of_its_own() -> None:
    edges = [edge(A, "CAUSED_BY", A)]
    assert arrivals({A: 1.0}, walked(edges, {A: 1.0}).reached, edges, WHY, max_depth=3) == {}


def test_own_and_brought_are_added_and_what_is_brought_is_merged_first() -> None:
    arrived = {Intent.WHY: {A: 0.5}, Intent.WHEN: {A: 0.2}}
    scores = with_matches({A: 0.4, B: 0.1}, arrived, {Intent.WHY: 0.8, Intent.WHEN: 0.5})
    assert scores == {A: pytest.approx(0.4 + 0.4 + 0.2 * 0.1), B: 0.1}
