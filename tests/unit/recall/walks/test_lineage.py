"""Lineages over the in-memory graph: both ways, bounded, and only what may be seen."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from tests.fakes.graph import InMemoryGraphTransactions
from tests.fakes.stores import InMemoryTransactions
from tests.support.graphs import NOON, Planted
from tests.support.remembering import admin_of

from cairn.graph.intent_weights import Intent
from cairn.graph.node import State
from cairn.kernel.access import Principal, Scope
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.recall.walks.lineage import (
    Direction,
    Lineage,
    LineageRequest,
    TraceLineage,
    lineage_json,
)
from cairn.workspace.documents import read

BOTH = Direction.BOTH


@dataclass
class Traced:
    """A planted workspace and the use case over it."""

    graph: Planted
    trace: TraceLineage

    def find(self, name: str, *, principal: Principal | None = None, **asked: Any) -> Lineage:
        request = LineageRequest(node_id=self.graph.id(name), **asked)
        return self.trace(principal or self.graph.principal, request)

    def depths(self, name: str, **asked: Any) -> dict[str, int]:
        found = self.find(name, **asked)
        return {self.graph.names([node.node.id]).pop(): node.depth for node in found.nodes}


@pytest.fixture
def traced() -> Traced:
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    return Traced(
        graph=Planted(transactions=transactions, principal=principal),
        trace=TraceLineage(
            transactions=InMemoryGraphTransactions(transactions),
            clock=lambda: NOON,
            stopwatch=lambda: 0.0,
        ),
    )


@pytest.mark.parametrize(
    ("relation", "origin_is_target"),
    [
        ("CAUSED_BY", True),
        ("SUMMARIZES", True),
        ("PART_OF", True),
        ("BUILDS_ON", True),
        ("PRODUCED", False),
        ("CAUSES", False),
        ("LEADS_TO", False),
    ],
)
def test_every_relation_is_followed_to_what_was_there_first(
    traced: Traced, relation: str, origin_is_target: bool
) -> None:
    traced.graph.grow(("source", relation, "target"))
    later, earlier = ("source", "target") if origin_is_target else ("target", "source")
    assert traced.depths(later) == {later: 0, earlier: 1}
    assert traced.depths(earlier) == {earlier: 0}
    assert traced.depths(earlier, direction=Direction.DESCENDANTS) == {earlier: 0, later: 1}


def test_each_step_of_a_lineage_has_its_score_and_the_edge_it_came_by(traced: Traced) -> None:
    traced.graph.grow(("a", "CAUSED_BY", "b"), ("b", "PART_OF", "c"))
    found = traced.find("a", intent=Intent.WHY)
    nodes = {traced.graph.names([node.node.id]).pop(): node for node in found.nodes}
    # 0.8 x 5/5 for the cause, then 0.8 x 1/5 for the part
    assert {name: one.score for name, one in nodes.items()} == pytest.approx(
        {"a": 1.0, "b": 0.8, "c": 0.8 * 0.8 / 5}
    )
    assert nodes["b"].via == traced.graph.id("a-CAUSED_BY-b")
    told = lineage_json(found)
    assert told["meta"]["seed_nodes"] == [str(traced.graph.id("a"))]
    weights = told["meta"]["scoring_weights"]
    assert (weights["hop_decay"], weights["relations"]["CAUSED_BY"]) == (0.8, 5.0)
    assert told["nodes"][1]["scores"] == {
        "relevance_score": 0.8,
        "decay_score": 1.0,
        "importance_score": 5,
    }


def test_a_workspaces_intent_weights_hold_for_lineages_too(traced: Traced) -> None:
    traced.graph.grow(("a", "CAUSED_BY", "b"), ("a", "PART_OF", "c"))
    weights = {"recall": {"intent_weights": {"why": {"PART_OF": 10}}}}
    trace = replace(traced.trace, settings=lambda _: read(weights))
    found = replace(traced, trace=trace).find("a", intent=Intent.WHY)
    assert [node.score for node in found.nodes] == pytest.approx([1.0, 0.8, 0.8 * 5 / 10])


def test_what_its_nodes_refer_to_and_are_like_comes_beside_a_lineage_when_asked(
    traced: Traced,
) -> None:
    traced.graph.grow(
        ("a", "CAUSED_BY", "b"),
        ("b", "REFERENCES", "E"),
        ("twin", "SIMILAR_TO", "a"),
        ("other", "REFERENCES", "E"),
    )
    assert traced.find("a").beside == ()
    found = traced.find("a", beside=True)
    assert traced.graph.names(node.node.id for node in found.nodes) == {"a", "b"}
    assert traced.graph.names(item.id for item in found.beside) == {"E", "twin"}
    assert {edge.relation for edge in found.beside_edges} == {"REFERENCES", "SIMILAR_TO"}


def test_what_is_only_near_or_alike_is_no_lineage(traced: Traced) -> None:
    traced.graph.grow(
        ("a", "FOLLOWS", "b"),
        ("a", "SIMILAR_TO", "c"),
        ("a", "REFERENCES", "E"),
        ("a", "RELATED_TO", "d"),
    )
    assert traced.depths("a", direction=BOTH) == {"a": 0}


def test_a_supersede_chain_is_followed_both_ways(traced: Traced) -> None:
    graph = traced.graph
    graph.plant(
        [
            graph.node("v1", state=State.SUPERSEDED, superseded_by=graph.id("v2")),
            graph.node(
                "v2",
                state=State.SUPERSEDED,
                supersedes=graph.id("v1"),
                superseded_by=graph.id("v3"),
            ),
            graph.node("v3", supersedes=graph.id("v2")),
        ]
    )
    assert traced.depths("v3") == {"v3": 0, "v2": 1, "v1": 2}
    assert traced.depths("v1", direction=Direction.DESCENDANTS) == {"v1": 0, "v2": 1, "v3": 2}
    edges = traced.find("v2", direction=BOTH).edges
    assert {edge.relation for edge in edges} == {"SUPERSEDES"}
    assert len(edges) == 2


def test_cycles_and_self_loops_are_walked_once(traced: Traced) -> None:
    traced.graph.grow(
        ("a", "CAUSED_BY", "b"),
        ("b", "CAUSED_BY", "c"),
        ("c", "CAUSED_BY", "a"),
        ("a", "CAUSED_BY", "a"),
    )
    found = traced.find("a", max_depth=10)
    assert len(found.nodes) == 3
    assert len(found.edges) == 3
    assert not found.truncated


def test_a_chain_longer_than_asked_for_is_cut_and_says_so(traced: Traced) -> None:
    names = [f"n{number:02}" for number in range(12)]
    traced.graph.grow(*((a, "CAUSED_BY", b) for a, b in pairwise(names)))
    found = traced.find("n00", max_depth=3)
    assert [traced.graph.names([node.node.id]).pop() for node in found.nodes] == names[:4]
    assert found.truncated
    assert len(traced.find("n00", max_depth=10).nodes) == 11
    assert not traced.find("n08", max_depth=3).truncated


def test_a_node_reached_two_ways_has_the_shorter_depth_and_both_edges(traced: Traced) -> None:
    traced.graph.grow(("a", "CAUSED_BY", "b"), ("b", "CAUSED_BY", "c"), ("a", "CAUSED_BY", "c"))
    assert traced.depths("a") == {"a": 0, "b": 1, "c": 1}
    assert len(traced.find("a").edges) == 3


def test_an_intent_orders_what_is_followed(traced: Traced) -> None:
    traced.graph.grow(("a", "SUMMARIZES", "part"), ("a", "CAUSED_BY", "cause"))
    assert list(traced.depths("a", intent=Intent.WHY)) == ["a", "cause", "part"]


def test_more_causes_than_may_be_shown_are_cut(traced: Traced) -> None:
    traced.graph.grow(*((f"n{number}", "CAUSED_BY", "root") for number in range(60)))
    found = traced.find("root", direction=Direction.DESCENDANTS)
    assert len(found.nodes) == 51
    assert found.truncated


def test_the_past_is_traced_as_it_stood(traced: Traced) -> None:
    first = traced.graph.grow(("a", "CAUSED_BY", "b"))
    traced.graph.grow(("b", "CAUSED_BY", "c"))
    assert traced.depths("a", as_of=first) == {"a": 0, "b": 1}
    assert traced.depths("a", as_of=2**53) == {"a": 0, "b": 1, "c": 2}
    with pytest.raises(NotFound):
        traced.find("a", as_of=0)


def test_an_agent_traces_its_own_over_untagged_nodes(traced: Traced) -> None:
    graph = traced.graph
    graph.plant(
        [
            graph.node("mine", agents=("bot",)),
            graph.node("open"),
            graph.node("theirs", agents=("other",)),
        ],
        [graph.edge("mine", "CAUSED_BY", "open"), graph.edge("mine", "CAUSED_BY", "theirs")],
    )
    bot = graph.as_other(agent_slug="bot")
    assert traced.depths("mine", principal=bot) == {"mine": 0, "open": 1}
    for hidden in ("open", "theirs"):
        with pytest.raises(NotFound):
            traced.find(hidden, principal=bot)


def test_another_scope_is_not_traced_into(traced: Traced) -> None:
    graph = traced.graph
    graph.plant(
        [graph.node("p", scope="public"), graph.node("secret")],
        [graph.edge("p", "CAUSED_BY", "secret")],
    )
    reader = graph.as_other(allowed_scopes=frozenset({Scope.PUBLIC}))
    found = traced.find("p", principal=reader)
    assert (len(found.nodes), len(found.edges)) == (1, 0)


def test_an_older_version_nobody_may_see_is_not_told(traced: Traced) -> None:
    graph = traced.graph
    graph.plant([graph.node("v2", scope="public", supersedes=graph.id("v1")), graph.node("v1")])
    reader = graph.as_other(allowed_scopes=frozenset({Scope.PUBLIC}))
    found = traced.find("v2", principal=reader)
    assert (len(found.nodes), found.edges) == (1, ())


@pytest.mark.parametrize("depth", [0, 11, -1])
def test_a_depth_out_of_bounds_is_refused(traced: Traced, depth: int) -> None:
    with pytest.raises(ValidationFailed, match="max_depth must be from 1 to 10"):
        traced.find("a", max_depth=depth)
