"""Keeping searches beside their answers: in a bounded time, together, once more by the queue."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from tests.unit.recall.fakes import NOW, node_id

from cairn.adapters.aws.search_runs import read_run, run_json
from cairn.kernel.errors import Unavailable
from cairn.recall.records import Candidate, Explored, ScoredNode, SearchRun
from cairn.recall.searches.recorder import AT_ONCE, MOST_WAITING, RunRecorder

HERE, THERE = UUID(int=1), UUID(int=2)
DOWN = Unavailable("The database does not answer.", reason="database-unavailable")


@dataclass
class Places:
    """A database that answers when `open` is set, and a queue."""

    open: Event = field(default_factory=Event)
    began: Event = field(default_factory=Event)
    inserted: list[list[UUID]] = field(default_factory=list)
    queued: list[UUID] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    failure: Exception | None = None
    queue_failure: Unavailable | None = None

    def insert(self, runs: Sequence[SearchRun]) -> None:
        self.began.set()
        assert self.open.wait(10)
        if self.failure:
            raise self.failure
        self.inserted.append([run.id for run in runs])

    def enqueue(self, run: SearchRun) -> None:
        if self.queue_failure:
            raise self.queue_failure
        self.queued.append(run.id)

    def report(self, event: str, fields: dict[str, Any], /) -> None:
        self.told.append(event)

    def recorder(self, *, outlives: bool = True, budget_s: float = 10.0) -> RunRecorder:
        return RunRecorder(
            self.insert,
            self.enqueue,
            outlives_answers=outlives,
            report=self.report,
            budget_s=budget_s,
        )


def run(number: int, workspace_id: UUID = HERE) -> SearchRun:
    return SearchRun(
        id=node_id(number),
        workspace_id=workspace_id,
        principal_id=UUID(int=9),
        recipe="default",
        started_at=NOW,
        returned=(node_id(900),),
        candidates={"vector": (Candidate(node_id(900), 0.5),)},
        degraded=(),
        duration_ms=1.5,
        counts_as_access=True,
        request_digest=b"\xff\x00digest",
        scored=(ScoredNode(node_id(900), 3, {"fused": 0.25}),),
        merged={node_id(900): (node_id(901),)},
        edges=(Explored(node_id(900), node_id(901), "causal", "CAUSED_BY", 0.5),),
    )


@pytest.fixture
def places() -> Places:
    return Places()


def test_a_run_is_in_the_database_when_its_answer_leaves_in_good_time(places: Places) -> None:
    places.open.set()
    places.recorder().record(run(1))()

    assert places.inserted == [[node_id(1)]]


def test_a_server_answers_after_its_budget_and_records_in_the_background(places: Places) -> None:
    recorder = places.recorder(budget_s=0.0)
    recorder.record(run(1))()

    assert not places.inserted
    coming = recorder.on_its_way(node_id(1))
    assert coming is not None
    assert coming.id == node_id(1)
    places.open.set()
    recorder.wait_for(node_id(1))
    assert places.inserted == [[node_id(1)]]
    assert recorder.on_its_way(node_id(1)) is None
    assert not places.queued


@pytest.mark.parametrize("begun", [True, False], ids=["while it is inserted", "before"])
def test_a_function_hands_over_to_the_queue_what_the_budget_does_not_cover(
    places: Places, begun: bool
) -> None:
    recorder = places.recorder(outlives=False, budget_s=0.0)
    first = recorder.record(run(1))
    assert places.began.wait(10)
    second = recorder.record(run(2))
    (first if begun else second)()

    assert places.queued == [node_id(1 if begun else 2)]
    places.open.set()
    assert recorder.drain(10)


def test_runs_of_a_workspace_that_wait_are_inserted_together_and_in_their_order(
    places: Places,
) -> None:
    recorder = places.recorder()
    recorder.record(run(1))
    assert places.began.wait(10)
    for number in (2, 3, 4):
        recorder.record(run(number, THERE if number == 3 else HERE))
    places.open.set()

    assert recorder.drain(10)
    assert places.inserted == [[node_id(1)], [node_id(2), node_id(4)], [node_id(3)]]


def test_what_the_database_refuses_goes_to_the_queue(places: Places) -> None:
    places.failure = DOWN
    places.open.set()
    places.recorder().record(run(1))()

    assert places.queued == [node_id(1)]
    assert places.told == ["search_run.not_inserted"]


def test_a_run_that_neither_takes_is_said_to_be_lost(places: Places) -> None:
    places.failure, places.queue_failure = DOWN, Unavailable("No.", reason="queue")
    places.open.set()
    recorder = places.recorder()

    with pytest.raises(Unavailable) as lost:
        recorder.record(run(1))()
    assert lost.value.reason == "queue"
    assert places.told == ["search_run.not_inserted", "search_run.lost"]


def test_a_bug_costs_its_run_a_detour_and_not_those_after_it(places: Places) -> None:
    places.failure = ValueError("a bug")
    places.open.set()
    recorder = places.recorder()
    recorder.record(run(1))()
    places.failure = None
    recorder.record(run(2))()

    assert (places.queued, places.inserted) == ([node_id(1)], [[node_id(2)]])


def test_no_more_than_so_many_wait_in_memory(places: Places) -> None:
    recorder = places.recorder()
    recorder.record(run(0))
    assert places.began.wait(10)
    for number in range(1, MOST_WAITING + 1):
        recorder.record(run(number))
    recorder.record(run(MOST_WAITING + 1))()

    assert places.queued == [node_id(MOST_WAITING + 1)]
    places.open.set()
    assert recorder.drain(10)
    assert max(map(len, places.inserted)) == AT_ONCE


def test_a_run_comes_out_of_the_queue_as_it_went_in() -> None:
    whole = replace(run(1), as_of_position=4, session_id="s", cached_from=node_id(7))

    assert read_run(run_json(whole)) == whole
