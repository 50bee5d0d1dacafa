"""The graph leg over the in-memory graph: seeds, methods, bounds and what it lets out."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest
from tests.fakes.graph import InMemoryGraphTransactions
from tests.fakes.stores import InMemoryTransactions
from tests.support.graphs import Planted
from tests.support.remembering import admin_of

from cairn.graph.intent_weights import Intent
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.recall.records import Filters
from cairn.recall.walks.graph_ports import GraphFound, GraphSeeds, Method
from cairn.recall.walks.graph_walks import WalkingGraphLeg, method_for


@dataclass
class Leg:
    """A planted workspace and the leg over it."""

    graph: Planted
    leg: WalkingGraphLeg

    def find(self, *names: str, principal: Principal | None = None, **options: Any) -> GraphFound:
        asked: dict[str, Any] = {
            "intents": {Intent.WHY: 0.9},
            "filters": Filters(),
            "method": None,
            "limit": 10,
            "timeout_ms": 2000,
        }
        seeds = options.pop("seeds", GraphSeeds(names=names))
        return self.leg.search(principal or self.graph.principal, seeds, **(asked | options))

    def found(self, *names: str, **options: Any) -> list[str]:
        by_id = {id_: name for name, id_ in self.graph.ids.items()}
        return [by_id[candidate.node_id] for candidate in self.find(*names, **options).candidates]


@pytest.fixture
def leg() -> Leg:
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    return Leg(
        graph=Planted(transactions=transactions, principal=principal),
        leg=WalkingGraphLeg(
            transactions=InMemoryGraphTransactions(transactions), stopwatch=lambda: 0.0
        ),
    )


def failures(leg: Leg) -> None:
    """Plant a failure with its cause, what came before it, and a tool both used."""
    leg.graph.grow(
        ("failed", "REFERENCES", "STRIPE"),
        ("failed", "CAUSED_BY", "cause"),
        ("failed", "FOLLOWS", "before"),
        ("other", "REFERENCES", "STRIPE"),
    )


def test_a_named_entity_leads_to_what_references_it_and_on(leg: Leg) -> None:
    failures(leg)
    found = leg.find("stripe")
    assert leg.graph.names(candidate.node_id for candidate in found.candidates) == {
        "failed",
        "other",
        "cause",
        "before",
    }
    assert found.seed_ids == (leg.graph.id("STRIPE"),)
    assert [seed.canonical_name for seed in found.seeds] == ["STRIPE"]
    assert found.depths[leg.graph.id("cause")] == 2
    assert found.explored == 5
    assert not found.truncated


def test_the_intent_ranks_causes_before_order_or_the_other_way_round(leg: Leg) -> None:
    failures(leg)
    seeds = GraphSeeds(node_ids=(leg.graph.id("failed"),))
    why = leg.found(seeds=seeds, intents={Intent.WHY: 1.0})
    when = leg.found(seeds=seeds, intents={Intent.WHEN: 1.0})
    assert why == ["cause", "before", "other"]
    assert when[:2] == ["before", "cause"]


def test_scores_of_two_intents_are_merged_by_the_formula(leg: Leg) -> None:
    failures(leg)
    seeds = GraphSeeds(node_ids=(leg.graph.id("failed"),))
    found = leg.find(seeds=seeds, intents={Intent.WHY: 0.7, Intent.WHEN: 0.4, Intent.WHAT: 0.2})
    scores = {
        leg.graph.names([candidate.node_id]).pop(): candidate.score
        for candidate in found.candidates
    }
    # cause: why 0.8 x 0.7 = 0.56, when 0.8 x 1/5 x 0.4 = 0.064
    assert scores["cause"] == pytest.approx(0.56 + 0.2 * 0.064)
    # before: why 0.8 x 1/5 x 0.7 = 0.112, when 0.8 x 0.4 = 0.32
    assert scores["before"] == pytest.approx(0.32 + 0.2 * 0.112)
    assert set(found.by_intent) == {Intent.WHY, Intent.WHEN}


def test_only_edges_that_lead_to_a_candidate_are_told(leg: Leg) -> None:
    failures(leg)
    leg.graph.grow(("STRIPE", "CO_OCCURRENCE", "ELSEWHERE"))
    found = leg.find("stripe", limit=1)
    assert len(found.candidates) == 1
    assert [edge.relation for edge in found.edges] == ["REFERENCES"]


@pytest.mark.parametrize("seeds", [GraphSeeds(), GraphSeeds(names=("nobody",), agent="nobody")])
def test_without_a_seed_nothing_is_found(leg: Leg, seeds: GraphSeeds) -> None:
    failures(leg)
    found = leg.find(seeds=seeds)
    assert (found.candidates, found.edges, found.seed_ids) == ((), (), ())


def matching(leg: Leg, *names: str, **weights: float) -> GraphSeeds:
    """Return seeds of which those with weights are there because they match."""
    return GraphSeeds(
        names=names, matched={leg.graph.id(name): weight for name, weight in weights.items()}
    )


def test_what_matches_the_question_is_a_start_and_a_result(leg: Leg) -> None:
    failures(leg)
    assert "cause" in leg.found(seeds=matching(leg, "nobody", failed=1.0, hidden=0.9))
    assert leg.found(seeds=matching(leg, failed=1.0))[0] == "failed"
    assert "failed" not in leg.found(seeds=GraphSeeds(node_ids=(leg.graph.id("failed"),)))


def test_a_matched_node_scores_its_own_weight_and_what_others_bring_it(leg: Leg) -> None:
    failures(leg)
    found = leg.find(seeds=matching(leg, failed=1.0, cause=0.5), intents={Intent.WHY: 0.7})
    scores = {
        leg.graph.names([candidate.node_id]).pop(): candidate.score
        for candidate in found.candidates
    }
    # cause: 0.5 squared of its own, and 0.8 x 5/5 of what failed has, x 0.7 for the intent
    assert scores["cause"] == pytest.approx(0.25 + 0.7 * 0.8)
    # failed: 1 of its own, and a step from what cause started with, not from what failed gave it
    assert scores["failed"] == pytest.approx(1.0 + 0.7 * 0.8 * 0.25)
    assert scores["before"] == pytest.approx(0.7 * 0.8 / 5)


def test_pagerank_goes_home_to_the_best_match_most_often(leg: Leg) -> None:
    leg.graph.grow(("a", "CAUSED_BY", "x"), ("b", "CAUSED_BY", "y"))
    found = leg.find(seeds=matching(leg, a=1.0, b=0.5), method=Method.PPR)
    scores = {
        leg.graph.names([candidate.node_id]).pop(): candidate.score
        for candidate in found.candidates
    }
    assert scores["a"] == pytest.approx(0.8)
    assert scores["b"] == pytest.approx(0.8 / 4)  # the weight is squared
    assert scores["x"] == pytest.approx(4 * scores["y"])


def test_a_node_that_is_named_and_matches_starts_as_named(leg: Leg) -> None:
    failures(leg)
    found = leg.find(seeds=matching(leg, "stripe", STRIPE=0.1, failed=0.5))
    assert found.scores[leg.graph.id("STRIPE")] == pytest.approx(0.9)  # 1 x the confidence


def test_activation_keeps_what_a_match_has_of_its_own(leg: Leg) -> None:
    failures(leg)
    found = leg.find(seeds=matching(leg, "stripe", before=0.5), method=Method.ACTIVATION)
    scores = {
        leg.graph.names([candidate.node_id]).pop(): candidate.score
        for candidate in found.candidates
    }
    assert scores["before"] == pytest.approx(0.25)
    assert scores["failed"] == pytest.approx(1.0)


def test_questions_without_a_direction_are_walked_too_where_something_matched() -> None:
    assert method_for({Intent.RELATED}) is Method.PPR
    assert method_for({Intent.RELATED}, matched=True) is Method.INTENT_WEIGHTED


def test_the_agents_own_entity_is_the_last_resort(leg: Leg) -> None:
    leg.graph.grow(("said", "REFERENCES", "BOT"), ("named", "REFERENCES", "STRIPE"))
    assert leg.found(seeds=GraphSeeds(agent="bot")) == ["said"]
    assert leg.found(seeds=GraphSeeds(names=("stripe",), agent="bot")) == ["named"]


def test_entities_are_candidates_only_when_their_label_is_asked_for(leg: Leg) -> None:
    leg.graph.grow(("STRIPE", "USES", "KAFKA"), ("m", "REFERENCES", "KAFKA"))
    assert leg.found("stripe") == ["m"]
    assert leg.found("stripe", filters=Filters(labels=("Entity",))) == ["KAFKA"]


def test_candidates_pass_the_filters_and_the_way_to_them_need_not(leg: Leg) -> None:
    graph = leg.graph
    graph.plant(
        [graph.node("E"), graph.node("a", client_id="x"), graph.node("b", client_id="y")],
        [graph.edge("a", "REFERENCES", "E"), graph.edge("a", "CAUSED_BY", "b")],
    )
    assert leg.found("e", filters=Filters(client_id="y")) == ["b"]


def test_general_questions_are_ranked_by_topology_and_directed_ones_walk() -> None:
    assert method_for([Intent.GENERAL]) is Method.PPR
    assert method_for([Intent.RELATED, Intent.GENERAL]) is Method.PPR
    assert method_for([Intent.WHY]) is Method.INTENT_WEIGHTED
    assert method_for([Intent.WHY, Intent.GENERAL]) is Method.INTENT_WEIGHTED


def test_pagerank_prefers_what_is_reached_twice(leg: Leg) -> None:
    leg.graph.grow(
        ("twice", "REFERENCES", "A"), ("twice", "REFERENCES", "B"), ("once", "REFERENCES", "B")
    )
    found = leg.find("a", "b", intents={}, method=None)
    assert found.method is Method.PPR
    assert leg.found("a", "b", intents={}) == ["twice", "once"]
    assert found.candidates[0].score == pytest.approx(0.8)


def test_activation_sums_what_entities_stir(leg: Leg) -> None:
    graph = leg.graph
    graph.grow(("both", "REFERENCES", "A"), ("both", "REFERENCES", "B"), ("one", "REFERENCES", "B"))
    graph.plant((), [graph.edge("A", "CO_OCCURRENCE", "B", weight=5)])
    found = leg.find("a", method=Method.ACTIVATION)
    assert [
        (graph.names([candidate.node_id]).pop(), candidate.score) for candidate in found.candidates
    ] == [
        ("both", pytest.approx(1.8)),
        ("one", pytest.approx(0.8)),
    ]


def test_what_names_an_entity_two_hops_away_is_activated_and_told_how(leg: Leg) -> None:
    graph = leg.graph
    graph.grow(("near", "REFERENCES", "A"), ("far", "REFERENCES", "C"), ("off", "REFERENCES", "D"))
    graph.plant(
        [graph.node("B")],
        [
            graph.edge("A", "USES", "B", weight=5),
            graph.edge("B", "CO_OCCURRENCE", "C", weight=5),
            graph.edge("C", "USES", "D", weight=5),
        ],
    )
    found = leg.find("a", method=Method.ACTIVATION)
    assert [
        (graph.names([candidate.node_id]).pop(), candidate.score) for candidate in found.candidates
    ] == [
        ("far", pytest.approx(1.6 * 0.8)),
        ("near", pytest.approx(1.0)),
    ]
    assert found.depths[graph.id("far")] == 3
    assert {edge.relation for edge in found.edges} == {"USES", "CO_OCCURRENCE", "REFERENCES"}
    given = leg.find(seeds=GraphSeeds(node_ids=(graph.id("near"),)), method=Method.ACTIVATION)
    assert graph.names(candidate.node_id for candidate in given.candidates) == {"far"}


def test_an_agent_finds_what_is_tagged_for_it_and_walks_over_what_is_not(leg: Leg) -> None:
    graph = leg.graph
    tagged: dict[str, Any] = {"scope": "public", "agents": ("bot",)}
    graph.plant(
        [
            graph.node("E", **tagged),
            graph.node("mine", **tagged),
            graph.node("open", scope="public"),
            graph.node("far", **tagged),
            graph.node("theirs", scope="public", agents=("other",)),
            graph.node("admins", agents=("bot",)),
        ],
        [
            graph.edge("mine", "REFERENCES", "E"),
            graph.edge("open", "REFERENCES", "E"),
            graph.edge("theirs", "REFERENCES", "E"),
            graph.edge("admins", "REFERENCES", "E"),
            graph.edge("open", "CAUSED_BY", "far"),
        ],
    )
    bot = graph.as_other(
        role=Role.PUBLIC, allowed_scopes=frozenset({Scope.PUBLIC}), agent_slug="bot"
    )
    assert set(leg.found("e", principal=bot)) == {"mine", "far"}
    seeds = GraphSeeds(node_ids=(graph.id("open"), graph.id("theirs"), graph.id("admins")))
    assert leg.found(seeds=seeds, principal=bot) == []


def test_another_workspace_finds_nothing_by_its_names_or_ids(leg: Leg) -> None:
    failures(leg)
    transactions: Any = leg.graph.transactions
    stranger = admin_of(new_id())
    transactions.create_workspace(stranger.workspace_id)
    seeds = GraphSeeds(names=("stripe",), node_ids=tuple(leg.graph.ids.values()))
    found = leg.find(seeds=seeds, principal=stranger)
    assert (found.candidates, found.seeds, found.edges, found.explored) == ((), (), (), 0)


def test_the_past_is_walked_as_it_stood(leg: Leg) -> None:
    before = leg.graph.grow(("old", "REFERENCES", "E"))
    leg.graph.grow(("new", "REFERENCES", "E"))
    assert leg.found("e", filters=Filters(as_of_position=before)) == ["old"]
    assert leg.found("e", filters=Filters(as_of_position=0)) == []
    assert set(leg.found("e", filters=Filters(as_of_position=2**53))) == {"old", "new"}


def test_cycles_and_self_loops_are_walked_once(leg: Leg) -> None:
    leg.graph.grow(
        ("a", "REFERENCES", "E"),
        ("a", "CAUSED_BY", "b"),
        ("b", "CAUSED_BY", "a"),
        ("a", "CAUSED_BY", "a"),
    )
    assert leg.found("e") == ["a", "b"]


def test_a_hub_is_read_in_part_and_no_more_candidates_come_than_wanted(leg: Leg) -> None:
    leg.graph.grow(*((f"m{number}", "REFERENCES", "HUB") for number in range(300)))
    found = leg.find("hub", limit=20)
    assert len(found.candidates) == 20
    assert found.explored <= 101
    assert found.truncated


def test_a_deadline_that_passes_truncates(leg: Leg) -> None:
    failures(leg)
    ticks = count()
    slow = replace(leg.leg, stopwatch=lambda: next(ticks) * 0.4)
    found = replace(leg, leg=slow).find("stripe", timeout_ms=1000)
    assert found.truncated


class Broken:
    """A graph that cannot be read."""

    @contextmanager
    def reading(self, principal: Principal, *, timeout_ms: int | None = None) -> Generator[Any]:
        raise Unavailable("The database did not answer.")
        yield


def test_a_graph_that_cannot_be_read_is_unavailable(leg: Leg) -> None:
    broken: Any = Broken()
    with pytest.raises(Unavailable):
        replace(leg, leg=replace(leg.leg, transactions=broken)).find("stripe")


def test_a_name_is_found_however_its_letters_are_composed(leg: Leg) -> None:
    leg.graph.grow(("said", "REFERENCES", "CAFÉ"))
    assert leg.found("cafe\N{COMBINING ACUTE ACCENT}") == ["said"]
