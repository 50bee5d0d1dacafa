"""Legs side by side: one that fails or is late costs itself only."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from tests.unit.recall.fakes import ranked

from cairn.kernel.clock import monotonic
from cairn.kernel.errors import Unavailable
from cairn.recall.legs import LATE, Leg, LegOutcome, run_legs
from cairn.recall.records import Candidate


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def run(
    legs: dict[str, Leg], pool: ThreadPoolExecutor, seconds: float = 5
) -> dict[str, LegOutcome]:
    return run_legs(legs, pool=pool, deadline_s=seconds, stopwatch=monotonic)


def test_each_leg_keeps_its_name_and_its_order(pool: ThreadPoolExecutor) -> None:
    outcomes = run({"keyword": lambda: ranked(2, 1), "vector": lambda: ranked(3)}, pool)

    assert list(outcomes) == ["keyword", "vector"]
    assert outcomes["keyword"].candidates == ranked(2, 1)
    assert outcomes["vector"].candidates == ranked(3)
    assert all(outcome.failure is None and outcome.ms >= 0 for outcome in outcomes.values())


def test_legs_run_at_the_same_time(pool: ThreadPoolExecutor) -> None:
    both_there = Barrier(2, timeout=5)

    def leg() -> Sequence[Candidate]:
        both_there.wait()
        return ranked(1)

    outcomes = run({"keyword": leg, "vector": leg}, pool)

    assert [outcome.candidates for outcome in outcomes.values()] == [ranked(1)] * 2


def test_a_failing_leg_is_named_and_the_other_stands(pool: ThreadPoolExecutor) -> None:
    def broken() -> Sequence[Candidate]:
        raise Unavailable("gone", reason="database")

    outcomes = run({"keyword": lambda: ranked(1), "vector": broken}, pool)

    assert outcomes["vector"].failure == "database"
    assert outcomes["vector"].candidates == ()
    assert outcomes["keyword"].candidates == ranked(1)


def test_a_late_leg_is_named_and_not_waited_for(pool: ThreadPoolExecutor) -> None:
    release = Event()

    def slow() -> Sequence[Candidate]:
        release.wait(timeout=30)
        return ranked(1)

    try:
        outcomes = run({"keyword": lambda: ranked(1), "vector": slow}, pool, seconds=0.05)
    finally:
        release.set()

    assert outcomes["vector"].failure == LATE
    assert outcomes["keyword"].candidates == ranked(1)


def test_a_programming_error_is_not_hidden_as_a_degraded_leg(pool: ThreadPoolExecutor) -> None:
    def broken() -> Sequence[Candidate]:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        run({"vector": broken}, pool)
