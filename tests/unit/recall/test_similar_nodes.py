"""What matches a question, over the fakes of recall: the weights, the guards, the failures."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.unit.recall.fakes import node_id, principal, ranked
from tests.unit.recall.test_recall import DOWN, World

from cairn.kernel.errors import Unavailable
from cairn.recall.query import SearchRequest
from cairn.recall.records import Filters
from cairn.recall.similar_nodes import MatchedNodes


@pytest.fixture
def world() -> Iterator[World]:
    with ThreadPoolExecutor(2) as pool:
        yield World(pool)


def matched(world: World, **changes: Any) -> dict[Any, float]:
    recall = world.recall
    similar = MatchedNodes(
        legs=recall.legs,
        transactions=recall.transactions,
        clock=recall.clock,
        new_id=recall.new_id,
    )
    asked: dict[str, Any] = {"limit": 10, "timeout_ms": 1000, "filters": Filters()} | changes
    filters = asked.pop("filters")
    return dict(similar(principal(), "Where is the note?", filters, **asked))


def test_weights_are_shares_of_the_best_in_the_order_of_a_search(world: World) -> None:
    found = matched(world)
    results = world.recall(principal(), SearchRequest(query="Where is the note?")).results
    best = results[0].scores["relevance_score"]
    assert list(found) == [result.node.id for result in results if result.node.id in found]
    assert found == {
        result.node.id: pytest.approx(result.scores["relevance_score"] / best)
        for result in results
        if result.node.id in found
    }
    assert next(iter(found.values())) == 1.0


def test_no_more_than_the_limit_and_nothing_is_recorded(world: World) -> None:
    assert len(matched(world, limit=1)) == 1
    assert world.runs.runs == []


def test_the_legs_get_the_filters_and_no_more_time_than_there_is(world: World) -> None:
    filters = Filters(labels=("Event",), as_of_position=7)
    matched(world, filters=filters, timeout_ms=50)
    for leg in (world.vector, world.keyword):
        assert leg.asked[0]["filters"] == filters
        assert leg.asked[0]["timeout_ms"] == 50


def test_what_cannot_be_seen_does_not_match(world: World) -> None:
    world.keyword.answer = ranked(99, 2, scores=[0.9, 0.1])
    assert node_id(99) not in matched(world)


def test_nothing_found_is_nothing_matched(world: World) -> None:
    world.vector.answer = world.keyword.answer = ()
    assert matched(world) == {}


def test_one_leg_is_enough_and_none_is_an_error(world: World) -> None:
    world.vector.failure = DOWN
    assert matched(world)
    world.keyword.failure = DOWN
    with pytest.raises(Unavailable):
        matched(world)
