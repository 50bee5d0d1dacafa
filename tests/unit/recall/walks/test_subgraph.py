"""Subgraphs over the in-memory graph: bounds, decay, what is shown, and what is said of it."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
from tests.fakes.graph import InMemoryGraphTransactions
from tests.fakes.stores import InMemoryTransactions
from tests.support.graphs import NOON, Planted
from tests.support.remembering import admin_of

from cairn.graph.edge import Relation
from cairn.graph.intent_weights import Intent, intent_weights
from cairn.graph.node import State
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.recall.records import Filters
from cairn.recall.walks.graph_ports import Method
from cairn.recall.walks.subgraph import QuerySubgraph, Subgraph, SubgraphRequest, subgraph_json
from cairn.workspace.documents import read


@dataclass
class Asking:
    """A planted workspace and the use case over it, asked a month after everything happened."""

    graph: Planted
    query: QuerySubgraph

    def ask(self, *names: str, principal: Principal | None = None, **asked: Any) -> Subgraph:
        ids = tuple(self.graph.id(name) for name in names)
        request = SubgraphRequest(**({"node_ids": ids} | asked))
        return self.query(principal or self.graph.principal, request)

    def names(self, found: Subgraph) -> list[str]:
        return [self.graph.names([node.node.id]).pop() for node in found.nodes]


@pytest.fixture
def asking() -> Asking:
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    return Asking(
        graph=Planted(transactions=transactions, principal=principal),
        query=QuerySubgraph(
            transactions=InMemoryGraphTransactions(transactions),
            classify=lambda _, query: {Intent.WHY: 0.7, Intent.WHEN: 0.2},
            clock=lambda: NOON + timedelta(days=30),
            stopwatch=lambda: 0.0,
        ),
    )


def test_facts_fade_and_events_do_not(asking: Asking) -> None:
    graph = asking.graph
    graph.plant(
        [graph.node("s"), graph.node("fact"), graph.node("event", kind="event")],
        [graph.edge("s", "CAUSED_BY", "fact"), graph.edge("s", "CAUSED_BY", "event")],
    )
    found = asking.ask("s", intent=Intent.WHY)
    scores = {name: one.scores for name, one in zip(asking.names(found), found.nodes, strict=True)}
    assert scores["event"]["relevance_score"] == pytest.approx(0.8)
    assert scores["fact"]["decay_score"] == pytest.approx(0.98**30)
    assert scores["fact"]["relevance_score"] == pytest.approx(0.8 * 0.98**30)
    assert asking.names(found)[0] == "event"


def test_seeds_are_shown_and_no_more_nodes_than_asked_for(asking: Asking) -> None:
    asking.graph.grow(*((f"n{number}", "CAUSED_BY", "s") for number in range(20)))
    found = asking.ask("s", max_nodes=5)
    assert len(found.nodes) == 5
    assert "s" in asking.names(found)
    assert found.truncated
    ids = {node.node.id for node in found.nodes}
    assert all({edge.source_id, edge.target_id} <= ids for edge in found.edges)


def test_labels_say_what_is_shown_not_what_is_walked(asking: Asking) -> None:
    asking.graph.grow(("s", "REFERENCES", "E"), ("far", "REFERENCES", "E"))
    found = asking.ask("s", labels=("Entity",))
    assert asking.names(found) == ["E"]
    assert asking.names(asking.ask("E", labels=("Event",))) == []
    warned = asking.ask("s", labels=("Nonsense",))
    assert warned.warnings == ("No node seen here has the label Nonsense.",)


def test_relations_say_what_is_walked(asking: Asking) -> None:
    asking.graph.grow(("s", "FOLLOWS", "before"), ("s", "CAUSED_BY", "cause"))
    found = asking.ask("s", relations=("FOLLOWS",))
    assert set(asking.names(found)) == {"s", "before"}


def test_a_question_without_a_name_starts_at_what_is_like_it(asking: Asking) -> None:
    graph = asking.graph
    graph.grow(("s", "CAUSED_BY", "cause"))
    query = replace(asking.query, similar=lambda *_, **__: {graph.id("s"): 1.0})
    found = replace(asking, query=query).ask(query="Why is it so?")
    assert set(asking.names(found)) == {"s", "cause"}
    assert asking.ask(query="Why is it so?").nodes == ()


def test_the_answer_says_how_it_came_to_be(asking: Asking) -> None:
    asking.graph.grow(("s", "REFERENCES", "STRIPE"))
    asked = SubgraphRequest(query="Why Stripe?", node_ids=(asking.graph.id("s"), new_id()))
    meta = subgraph_json(asking.query(asking.graph.principal, asked))["meta"]
    assert meta["inferred_intents"] == {"why": 0.7, "when": 0.2}
    assert meta["seed_nodes"] == ["entity:STRIPE", str(asking.graph.id("s"))]
    assert meta["capacity"]["used_nodes"] == meta["nodes_returned"] == 2
    assert meta["warnings"] == ["1 of node_ids are unknown or not to be seen."]
    assert meta["retrieval_method"] == "intent_weighted"


def test_what_is_not_asked_for_is_marked(asking: Asking) -> None:
    graph = asking.graph
    earlier = NOON - timedelta(days=9)
    graph.plant(
        [
            graph.node("now", session_id="s2"),
            graph.node("then", session_id="s1", occurred_at=earlier),
            graph.node("fix", session_id="s1", occurred_at=earlier, text="It was mended."),
        ],
        [
            graph.edge("now", "SIMILAR_TO", "then", properties={"score": 0.95}),
            graph.edge("fix", "SOLVES", "then"),
        ],
    )
    found = asking.ask("now", max_depth=1)
    shown = subgraph_json(found)
    (extra,) = [node for node in shown["nodes"] if node["retrieval_reason"] == "proactive"]
    assert extra["text"] == "It was mended."
    assert extra["proactive_signal"] == "recurring_pattern"
    assert shown["meta"]["proactive_nodes_count"] == 1
    assert (
        subgraph_json(asking.ask("now", max_depth=1, labels=("Memory",)))["meta"][
            "proactive_nodes_count"
        ]
        == 0
    )


def test_the_past_is_asked_by_position_or_moment(asking: Asking) -> None:
    first = asking.graph.grow(("s", "CAUSED_BY", "cause"))
    asking.graph.grow(("s", "FOLLOWS", "later"))
    assert set(asking.names(asking.ask("s", as_of=first))) == {"s", "cause"}
    assert asking.ask("s", as_of=0).nodes == ()
    assert asking.ask("s", as_of=NOON - timedelta(days=1)).nodes == ()
    assert len(asking.ask("s", as_of=2**53 - 1).nodes) == 3


def test_superseded_nodes_are_shown_as_such_and_deleted_ones_are_not(asking: Asking) -> None:
    asking.graph.grow(("s", "CAUSED_BY", "old"), ("s", "CAUSED_BY", "gone"))
    asking.graph.change("old", state=State.SUPERSEDED)
    asking.graph.change("gone", state=State.DELETED)
    shown = subgraph_json(asking.ask("s"))["nodes"]
    assert [item["attributes"]["state"] for item in shown] == ["active", "superseded"]


@pytest.mark.parametrize("method", list(Method))
def test_every_method_keeps_to_what_may_be_seen(asking: Asking, method: Method) -> None:
    graph = asking.graph
    graph.plant(
        [graph.node("s", scope="public"), graph.node("E", scope="public"), graph.node("secret")],
        [graph.edge("s", "REFERENCES", "E"), graph.edge("secret", "REFERENCES", "E")],
    )
    reader = graph.as_other(allowed_scopes=frozenset({Scope.PUBLIC}))
    found = asking.ask("s", "secret", method=method, principal=reader)
    assert set(asking.names(found)) == {"s", "E"}
    assert len(found.edges) == 1


def test_a_workspaces_own_weights_decide(asking: Asking) -> None:
    asking.graph.grow(("s", "CAUSED_BY", "cause"), ("s", "FOLLOWS", "before"))
    closed = intent_weights({"why": {Relation.CAUSED_BY: 0}})
    own = replace(asking, query=replace(asking.query, weights=closed))
    assert set(own.names(own.ask("s", intent=Intent.WHY))) == {"s", "before"}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"node_ids": ()}, "query or node_ids must say where to start"),
        ({"max_depth": 11}, "max_depth must be from 1 to 10"),
        ({"max_nodes": 501}, "max_nodes must be from 1 to 500"),
        ({"timeout_ms": 0}, "timeout_ms must be from 1 to 30000"),
        ({"query": "x" * 4001}, "4000"),
        ({"as_of": -1}, "as_of is not a ledger position"),
        ({"as_of": NOON.replace(tzinfo=None)}, "as_of must say its time zone"),
        ({"labels": ("memory",)}, r"labels\.0 is not a name of one"),
        ({"relations": ("DROP TABLE",)}, r"relations\.0 is not a name of one"),
        ({"labels": tuple(f"L{number}" for number in range(21))}, "labels must be at most 20"),
    ],
)
def test_a_bad_request_is_refused(asking: Asking, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationFailed, match=message):
        asking.ask("s", **asked)


@dataclass
class Matching:
    """Stands for `SimilarNodes`: finds what it was given, and keeps what it was asked."""

    found: dict[Any, float]
    asked: list[tuple[Filters, int, int]] = field(default_factory=list[tuple[Filters, int, int]])

    def __call__(
        self, principal: Principal, question: str, filters: Filters, *, limit: int, timeout_ms: int
    ) -> dict[Any, float]:
        self.asked.append((filters, limit, timeout_ms))
        return self.found


def test_matches_are_ranked_among_all_and_say_their_own_score(asking: Asking) -> None:
    graph = asking.graph
    graph.plant(
        [graph.node(name, kind="event") for name in ("s", "weak", "cause")],
        [graph.edge("s", "CAUSED_BY", "cause")],
    )
    matching = Matching({graph.id("s"): 1.0, graph.id("weak"): 0.5})
    asking = replace(asking, query=replace(asking.query, similar=matching))
    found = asking.ask(query="Why?", intent=Intent.WHY, max_nodes=2)
    assert asking.names(found) == ["s", "cause"]
    scores = {name: one.scores for name, one in zip(asking.names(found), found.nodes, strict=True)}
    assert scores["s"]["match_score"] == 1.0
    assert "match_score" not in scores["cause"]


def test_matching_takes_the_labels_that_are_shown_and_half_of_the_time(asking: Asking) -> None:
    matching = Matching({})
    asking = replace(asking, query=replace(asking.query, similar=matching))
    asking.ask(query="Why?", labels=("Event", "Entity"), timeout_ms=1000)
    ((filters, _, timeout_ms),) = matching.asked
    assert (filters.labels, timeout_ms) == (("Event",), 500)


def test_matching_that_cannot_answer_is_told_and_names_still_lead_on(asking: Asking) -> None:
    def fails(*_: Any, **__: Any) -> dict[Any, float]:
        raise Unavailable("Down.", reason="all-legs-failed")

    asking.graph.grow(("s", "REFERENCES", "STRIPE"))
    asking = replace(asking, query=replace(asking.query, similar=fails))
    found = asking.ask(query="Why Stripe?")
    assert set(asking.names(found)) == {"s", "STRIPE"}
    assert found.warnings == ("Nothing was matched by words or meaning: all-legs-failed.",)


def test_a_match_of_another_agent_is_no_start(asking: Asking) -> None:
    graph = asking.graph
    graph.plant([graph.node("theirs", agents=("other",)), graph.node("mine", agents=("bot",))])
    matching = Matching({graph.id("theirs"): 1.0, graph.id("mine"): 0.5})
    asking = replace(asking, query=replace(asking.query, similar=matching))
    bot = replace(graph.principal, role=Role.AGENT, agent_slug="bot")
    assert asking.names(asking.ask(query="Why?", principal=bot)) == ["mine"]


def test_a_workspaces_own_intent_weights_hold_for_its_subgraphs(asking: Asking) -> None:
    asking.graph.grow(("s", "CAUSED_BY", "cause"), ("s", "FOLLOWS", "before"))
    settings = {"recall": {"intent_weights": {"why": {"CAUSED_BY": 0}}}}
    asking = replace(asking, query=replace(asking.query, settings=lambda _: read(settings)))
    assert set(asking.names(asking.ask("s", intent=Intent.WHY))) == {"s", "before"}
