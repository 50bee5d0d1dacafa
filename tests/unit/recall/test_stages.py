"""Each stage of the walk, switched on over fakes: what it changes, and what its failure costs."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.unit.recall.fakes import NOW, FakeLeg, node_id, principal, ranked
from tests.unit.recall.test_recall import DOWN, World

from cairn.graph.intent_weights import Intent
from cairn.kernel.access import Role, Scope
from cairn.llm.port import Role as Speaker
from cairn.recall.answer import answer
from cairn.recall.query import SearchRequest
from cairn.recall.questions import intents
from cairn.recall.questions.gate import Complexity, GateVerdict, Turn
from cairn.recall.questions.read import Asking
from cairn.recall.recall import Recall
from cairn.recall.result_cache import ResultCache
from cairn.recall.results import OUTGOING, RecallResult, Related, RelatedNode
from cairn.recall.walks.graph_ports import GraphEdge, GraphFound, GraphSeeds, Seed
from cairn.workspace.documents import read

PUBLIC = principal(role=Role.PUBLIC, allowed_scopes=frozenset({Scope.PUBLIC}), agent_slug="bot")


@pytest.fixture
def world() -> Iterator[World]:
    with ThreadPoolExecutor(8) as pool:
        yield World(pool)


def ask(recall: Recall, who: Any = None, **asked: Any) -> RecallResult:
    return recall(who or principal(), SearchRequest(**({"query": "Where is the note?"} | asked)))


def with_legs(world: World, **parts: Any) -> Recall:
    return replace(world.recall, legs=replace(world.recall.legs, **parts))


def ids(found: RecallResult) -> list[int]:
    return [each.node.id.int for each in found.results]


def verdict(**changes: Any) -> GateVerdict:
    values: dict[str, Any] = {
        "search": True,
        "query": None,
        "reason": "asked",
        "topic_change": None,
        "topic_change_confidence": None,
        "language": "en",
        "complexity": Complexity.SIMPLE,
    }
    return GateVerdict(**(values | changes))


def gated(world: World, given: GateVerdict, seen: list[Any] | None = None) -> Recall:
    def gate(message: str, history: Sequence[Turn], **_: Any) -> GateVerdict:
        (seen if seen is not None else []).append((message, history))
        return given

    return replace(world.recall, asking=Asking(gate=gate, intents=intents.by_rules))


def test_a_gate_that_says_no_runs_no_leg_and_records_nothing(world: World) -> None:
    found = ask(gated(world, verdict(search=False, reason="greeting")), gate=True)
    assert found.results == ()
    assert world.vector.asked == world.keyword.asked == []
    assert world.runs.runs == []
    meta = answer(found, found.meta.search.request).meta
    assert meta["gate"]["reason"] == "greeting"
    assert (meta["nodes_returned"], meta["truncated"]) == (0, False)


def test_the_gate_is_off_unless_it_is_asked_for(world: World) -> None:
    found = ask(gated(world, verdict(search=False)))
    assert len(found.results) == 3
    assert answer(found, found.meta.search.request).meta["gate"] is None


def test_a_rewritten_question_is_searched_for(world: World) -> None:
    seen: list[Any] = []
    history = (Turn(role=Speaker.USER, text="I lost a note."),)
    found = ask(
        gated(world, verdict(query="lost note"), seen), query="Where?", history=history, gate=True
    )
    assert seen == [("Where?", history)]
    assert world.embedder.texts == ["lost note"]
    assert world.keyword.asked[0]["what"] == ("lost", "note")
    assert found.meta.search.asked.message == "Where?"


def test_paraphrases_go_through_both_legs_and_are_united_before_fusion(world: World) -> None:
    class Leg(FakeLeg):
        def search(self, principal: Any, what: Any, filters: Any, **options: Any) -> Any:
            super().search(principal, what, filters, **options)
            return ranked(3, 1, scores=[0.9, 0.1]) if "memo" in what else ranked(2, 3)

    keyword = Leg()
    recall = replace(
        with_legs(world, keyword=keyword),
        expander=lambda *_, **__: ["Which memo?", "Where is the note?"],
    )
    found = ask(recall, stages={"expansion": True})
    assert [each["what"] for each in keyword.asked] == [("note",), ("memo",)]
    assert sorted(world.embedder.texts) == ["Where is the note?", "Which memo?"]
    outcome = found.meta.legs["keyword"]
    assert outcome.candidates == ranked(2, 3, 1, scores=[1.0, 0.9, 0.1])
    assert found.meta.counts["expansions"] == 1


def test_expansion_is_off_by_default(world: World) -> None:
    def expander(*_: Any, **__: Any) -> list[str]:
        raise AssertionError("nobody asked for it")

    ask(replace(world.recall, expander=expander))


class Graph:
    def __init__(self) -> None:
        self.asked: list[tuple[GraphSeeds, Mapping[Intent, float]]] = []

    def search(
        self, principal: Any, seeds: GraphSeeds, intents: Mapping[Intent, float], *_: Any, **__: Any
    ) -> GraphFound:
        self.asked.append((seeds, intents))
        edge = GraphEdge(
            id=node_id(70),
            view="entity",
            relation="REFERENCES",
            source_id=node_id(3),
            target_id=node_id(60),
            source_label="Memory",
            target_label="Entity",
        )
        seed = Seed(node_id=node_id(60), name="ana", canonical_name="Ana", type="person")
        return GraphFound(
            candidates=ranked(3, scores=[5.0]),
            seed_ids=(node_id(60),),
            edges=(edge,),
            seeds=(seed,),
        )


def test_the_graph_leg_joins_the_fusion_and_its_walk_is_kept(world: World) -> None:
    graph = Graph()
    found = ask(with_legs(world, graph=graph), query="Why did Ana lose it?", recipe="seed-001")
    [(seeds, asked)] = graph.asked
    assert "ana" in seeds.names
    assert asked[Intent.WHY] > 0.3
    assert ids(found) == [3, 2, 1]  # 3 and 2 have two legs, and ties go to the younger
    [run] = world.runs.runs
    assert (run.seeds, run.edges[0].relation) == ((node_id(60),), "REFERENCES")
    assert answer(found, found.meta.search.request).meta["seed_nodes"] == ["Ana"]


def test_a_named_intent_goes_before_what_would_be_inferred(world: World) -> None:
    graph = Graph()
    found = ask(with_legs(world, graph=graph), intent="when", stages={"graph": True})
    assert graph.asked[0][1] == {Intent.WHEN: 1.0}
    meta = answer(found, found.meta.search.request).meta
    assert (meta["intent_override"], meta["inferred_intents"]) == ("when", {})


def subscribing(world: World, leg: FakeLeg) -> Recall:
    return with_legs(world, subscriptions=leg, subscribed=lambda *_, **__: ("note",))


def test_a_subscription_finds_what_no_other_leg_does(world: World) -> None:
    world.vector.answer = ()
    leg = FakeLeg(ranked(1))
    found = ask(subscribing(world, leg), stages={"subscriptions": True})
    assert 1 in ids(found)
    assert leg.asked[0]["what"] == ("note",)


def test_public_keys_have_no_subscriptions_unless_their_workspace_says_so(world: World) -> None:
    leg = FakeLeg(ranked(1))
    recall = subscribing(world, leg)
    assert "subscriptions" not in ask(recall, PUBLIC, stages={"subscriptions": True}).meta.legs
    allowed = replace(recall, settings=lambda _: read({"recall": {"public_subscriptions": True}}))
    assert "subscriptions" in ask(allowed, PUBLIC, stages={"subscriptions": True}).meta.legs
    assert len(leg.asked) == 1


def test_a_reranker_that_fails_costs_its_order_only(world: World) -> None:
    class Broken:
        name = "broken"

        def __call__(self, *_: Any, **__: Any) -> list[float]:
            raise DOWN

    found = ask(replace(world.recall, reranker=Broken()), stages={"rerank": True})
    assert ids(found) == [2, 1, 3]
    assert found.meta.degraded == ("rerank: database",)


def test_words_without_vectors_are_said(world: World) -> None:
    world.vector.answer = ()
    told: list[str] = []
    found = ask(replace(world.recall, report=lambda event, _: told.append(event)))
    assert found.meta.degraded == ("vector: empty",)
    assert told == ["recall.vector_leg_empty"]


def test_related_nodes_are_read_for_what_is_shown(world: World) -> None:
    class Reader:
        asked: list[list[UUID]] = []  # noqa: RUF012

        def related(self, node_ids: Sequence[UUID], *_: Any, **__: Any) -> dict[UUID, Related]:
            self.asked.append(list(node_ids))
            node = RelatedNode(
                of_id=node_id(2),
                node_id=node_id(9),
                label="Entity",
                kind="person",
                relation="REFERENCES",
                view="entity",
                direction=OUTGOING,
                text="Ana",
                title=None,
                canonical_name="Ana",
                importance=5,
                occurred_at=NOW,
            )
            return {node_id(2): Related(nodes=(node,), dropped=4)}

    reader = Reader()
    world.recall.transactions.graph = reader  # type: ignore[attr-defined]
    found = ask(world.recall, expand_hops=1, limit=2)
    assert reader.asked == [[node_id(2), node_id(1)]]
    shown = answer(found, found.meta.search.request)
    assert shown.results[0]["related"][0]["canonical_name"] == "Ana"
    assert shown.meta["dropped"]["related"] == 4
    assert "related" not in shown.results[1]


def test_only_whole_answers_are_given_again(world: World) -> None:
    recall = replace(world.recall, cache=ResultCache(lambda: 0.0))
    world.keyword.failure = DOWN
    assert [ask(recall).meta.cached for _ in range(3)] == [None] * 3
    world.keyword.failure = None
    assert [ask(recall).meta.cached is None for _ in range(3)] == [True, False, False]
    assert ask(recall, stages={"cache": False}).meta.cached is None


def test_an_answer_is_forgotten_after_ten_minutes_and_when_something_to_be_found_changes(
    world: World,
) -> None:
    now = [0.0]
    recall = replace(world.recall, cache=ResultCache(lambda: now[0]))
    assert [ask(recall).meta.cached is None for _ in range(3)] == [True, True, False]
    now[0] = 601.0
    assert ask(recall).meta.cached is None
    assert ask(recall).meta.cached is not None
    world.nodes.head += 1
    assert ask(recall).meta.cached is not None
    world.nodes.changed = world.nodes.head
    assert ask(recall).meta.cached is None


def test_a_log_line_has_no_words(world: World) -> None:
    lines: list[tuple[str, Mapping[str, Any]]] = []
    recall = replace(world.recall, note=lambda *line: lines.append(line))
    ask(recall, query="Where is the secret note of Ana?")
    [(event, fields)] = lines
    assert event == "recall.search"
    assert fields["counts"]["final"] == 3
    assert "secret" not in repr(fields).lower()
    assert "ana" not in repr(fields["intents"]).lower()
