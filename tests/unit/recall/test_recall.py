"""The use case, over fakes: from a question to results that say where they come from."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from tests.unit.recall.fakes import (
    NOW,
    FakeEmbedder,
    FakeLeg,
    FakeNodes,
    FakeRuns,
    FakeTransactions,
    found,
    node_id,
    principal,
    ranked,
)

from cairn.kernel.clock import monotonic
from cairn.kernel.errors import Unavailable, ValidationFailed
from cairn.recall.answer import answer
from cairn.recall.legs import Legs
from cairn.recall.query import SearchRequest
from cairn.recall.recall import Recall
from cairn.recall.recipes import DEFAULT, MIN_COSINE
from cairn.recall.records import Neighbours, NeighbourText

DOWN = Unavailable("The database does not answer.", reason="database")


class World:
    """A recall with three nodes: the vector leg finds 1 and 2, the keyword leg 2 and 3."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.embedder = FakeEmbedder()
        self.vector = FakeLeg(ranked(1, 2, scores=[0.8, 0.7]))
        self.keyword = FakeLeg(ranked(2, 3, scores=[0.6, 0.2]))
        rows = [found(number, f"Note number {number}.") for number in (1, 2, 3)]
        self.nodes = FakeNodes({row.id: row for row in rows})
        self.runs = FakeRuns()
        numbers = count(500)
        self.recall = Recall(
            legs=Legs(
                embedder=self.embedder,
                vector=self.vector,
                keyword=self.keyword,
                pool=pool,
                stopwatch=monotonic,
            ),
            transactions=FakeTransactions(self.nodes),
            search_runs=self.runs,
            clock=lambda: NOW,
            stopwatch=monotonic,
            new_id=lambda: node_id(next(numbers)),
        )


@pytest.fixture
def world() -> Iterator[World]:
    with ThreadPoolExecutor(2) as pool:
        yield World(pool)


def test_what_both_legs_found_comes_first(world: World) -> None:
    result = world.recall(principal(), SearchRequest(query="Where is the note?"))

    assert [each.node.id for each in result.results] == [node_id(2), node_id(1), node_id(3)]
    best = result.results[0].scores
    assert (best["vector"], best["keyword"]) == (0.7, 0.6)
    assert best["fused"] == pytest.approx(1.6 * (0.7 - 0.7) + 0.3 * 1.0)
    assert best["relevance_score"] >= best["fused"]
    assert "keyword" not in result.results[1].scores
    assert [each.retrieval_reason for each in result.results] == ["direct"] * 3


def test_the_legs_get_the_terms_the_vector_and_the_same_filters(world: World) -> None:
    request = SearchRequest(query="Where is the blue key?", kinds=("event",), client_id="acme")

    world.recall(principal(), request)

    [keyword], [vector] = world.keyword.asked, world.vector.asked
    assert keyword["what"] == ("blue", "key")
    assert vector["what"].shape == (3,)
    assert vector["minimum"] == MIN_COSINE
    assert vector["model_id"] == FakeEmbedder.model.id
    assert keyword["filters"] == vector["filters"]
    assert (keyword["filters"].kinds, keyword["filters"].client_id) == (("event",), "acme")
    assert world.embedder.texts == ["Where is the blue key?"]


def test_the_limit_cuts_after_ranking_and_says_so(world: World) -> None:
    request = SearchRequest(query="note", limit=1)
    result = world.recall(principal(), request)

    assert [each.node.id for each in result.results] == [node_id(2)]
    meta = answer(result, request).meta
    assert (meta["nodes_returned"], meta["truncated"]) == (1, True)


def test_what_is_no_result_does_not_make_an_answer_truncated(world: World) -> None:
    hidden = found(1, "Note of a ticket.", label="Ticket")
    world.nodes.rows = {**world.nodes.rows, hidden.id: hidden}
    request = SearchRequest(query="note")
    result = world.recall(principal(), request)

    assert [each.node.id for each in result.results] == [node_id(2), node_id(3)]
    assert answer(result, request).meta["truncated"] is False


def test_candidates_are_sketched_and_only_what_is_shown_is_read(world: World) -> None:
    world.recall(principal(), SearchRequest(query="note", limit=1))

    assert world.nodes.asked_sketches == [[node_id(2), node_id(1), node_id(3)]]
    assert world.nodes.asked_nodes == [[node_id(2)]]


def test_no_more_is_sketched_than_the_recipe_says(world: World) -> None:
    many = tuple(range(1, 401))
    world.vector.answer = ranked(*many, scores=[1 - number / 1000 for number in many])
    world.keyword.answer = ()

    world.recall(principal(), SearchRequest(query="note"))

    assert world.nodes.asked_sketches == [[node_id(number) for number in many[: DEFAULT.scored]]]


def test_what_the_principal_cannot_see_is_left_out(world: World) -> None:
    del world.nodes.rows[node_id(2)]  # type: ignore[attr-defined]

    result = world.recall(principal(), SearchRequest(query="note"))

    assert node_id(2) not in [each.node.id for each in result.results]
    assert len(result.results) == 2


def test_nothing_found_is_an_empty_answer(world: World) -> None:
    world.vector.answer = world.keyword.answer = ()

    result = world.recall(principal(), SearchRequest(query="note"))

    assert result.results == ()
    assert result.meta.degraded == ()


def test_an_embedder_that_fails_costs_the_vector_leg_only(world: World) -> None:
    world.embedder.failure = Unavailable("no model", reason="embedder")

    result = world.recall(principal(), SearchRequest(query="note"))

    assert [each.node.id for each in result.results] == [node_id(2), node_id(3)]
    assert result.meta.degraded == ("vector: embedder",)


def test_a_keyword_leg_that_fails_is_named(world: World) -> None:
    world.keyword.failure = DOWN

    result = world.recall(principal(), SearchRequest(query="note"))

    assert [each.node.id for each in result.results] == [node_id(1), node_id(2)]
    assert result.meta.degraded == ("keyword: database",)


def test_no_leg_at_all_is_unavailable(world: World) -> None:
    world.keyword.failure = world.vector.failure = DOWN

    with pytest.raises(Unavailable):
        world.recall(principal(), SearchRequest(query="note"))
    assert world.runs.runs == []


def test_a_bad_request_reaches_no_leg(world: World) -> None:
    with pytest.raises(ValidationFailed):
        world.recall(principal(), SearchRequest(query="note", limit=1000))

    assert world.vector.asked == world.keyword.asked == []


def test_a_search_is_recorded_with_its_signals_and_without_its_words(world: World) -> None:
    result = world.recall(principal(), SearchRequest(query="a secret question"))

    [run] = world.runs.runs
    assert run.id == result.meta.search.id
    assert run.returned == (node_id(2), node_id(1), node_id(3))
    assert run.candidates["vector"] == ((node_id(1), 0.8), (node_id(2), 0.7))
    assert [each.node_id for each in run.scored] == [node_id(2), node_id(1), node_id(3)]
    assert run.scored[0].signals["fused"] == pytest.approx(1.6 * (0.7 - 0.7) + 0.3 * 1.0)
    assert run.counts_as_access
    assert "secret" not in repr(run)


def test_a_search_that_cannot_be_recorded_answers_all_the_same(world: World) -> None:
    world.runs.failure = DOWN

    result = world.recall(principal(), SearchRequest(query="note"))

    assert len(result.results) == 3
    assert result.meta.degraded == ("search_run: database",)


def test_a_moment_in_the_past_becomes_a_ledger_position(world: World) -> None:
    then = NOW - timedelta(days=30)
    world.nodes.positions = {then: 41}

    result = world.recall(principal(), SearchRequest(query="note", as_of=then))

    assert result.meta.search.filters.as_of_position == 41
    assert world.vector.asked[0]["filters"].as_of_position == 41
    assert not world.runs.runs[0].counts_as_access


def test_a_ledger_position_is_taken_as_it_is(world: World) -> None:
    world.nodes.moments = {7: NOW - timedelta(days=3)}

    result = world.recall(principal(), SearchRequest(query="note", as_of=7))

    assert result.meta.search.filters.as_of_position == 7
    assert result.meta.search.at == NOW - timedelta(days=3)


@pytest.mark.parametrize("as_of", [51, NOW + timedelta(minutes=1)], ids=["position", "moment"])
def test_the_future_cannot_be_asked(world: World, as_of: Any) -> None:
    with pytest.raises(ValidationFailed) as refused:
        world.recall(principal(), SearchRequest(query="note", as_of=as_of))

    assert refused.value.reason == "as-of-future"
    assert world.vector.asked == []


def test_a_clock_a_little_ahead_is_not_the_future(world: World) -> None:
    soon = NOW + timedelta(seconds=2)
    world.nodes.positions = {soon: 50}

    world.recall(principal(), SearchRequest(query="note", as_of=soon))


def test_neighbours_come_with_the_results_that_are_returned(world: World) -> None:
    before = NeighbourText(node_id=node_id(8), text="Earlier.", occurred_at=NOW)
    world.nodes.beside = {node_id(2): Neighbours(before=(before,))}

    result = world.recall(principal(), SearchRequest(query="note", limit=2, neighbours=2))

    assert world.nodes.asked_neighbours == [([node_id(2), node_id(1)], 2)]
    assert result.results[0].neighbours.before == (before,)
    assert result.results[1].neighbours == Neighbours()


def test_neighbours_that_are_not_wanted_are_not_read(world: World) -> None:
    world.recall(principal(), SearchRequest(query="note", neighbours=0))

    assert world.nodes.asked_neighbours == []


def test_the_recipe_decides_candidates_fusion_and_threshold(world: World) -> None:
    result = world.recall(principal(), SearchRequest(query="note", recipe="seed-000"))

    assert world.vector.asked[0]["minimum"] == 0.0
    assert result.meta.search.recipe.name == "seed-000"
    by_id = {each.node.id: each.scores["relevance_score"] for each in result.results}
    assert by_id[node_id(1)] == pytest.approx(0.7 * 0.8)
    assert by_id[node_id(2)] == pytest.approx(0.7 * 0.7 + 0.3)
    assert by_id[node_id(3)] == pytest.approx(0.0)


def test_every_stage_is_timed(world: World) -> None:
    result = world.recall(principal(), SearchRequest(query="note"))

    stages = ["understand", "expand", "legs", "fuse", "rank", "read", "record"]
    assert list(result.meta.stages_ms) == stages
    assert result.meta.query_ms == pytest.approx(sum(result.meta.stages_ms.values()))
