"""FOLLOWS edges: straight to the final order, whatever order events come in."""

from datetime import timedelta
from uuid import UUID

import pytest
from tests.support.remembering import NOON

from cairn.events.rows import Timeline, TimelineEvent


def at(
    seconds: float, number: int, *, sequence: int = -1, edge: int | None = None
) -> TimelineEvent:
    return TimelineEvent(
        id=UUID(int=number),
        occurred_at=NOON + timedelta(seconds=seconds),
        sequence=sequence,
        follows_edge=UUID(int=edge) if edge else None,
    )


def inserted(
    stored: list[TimelineEvent], new: list[TimelineEvent]
) -> tuple[set[tuple[int, int, int]], set[int]]:
    timeline = Timeline(stored, new)
    done = [timeline.insert(event) for event in new]
    added = {(f.source_id.int, f.target_id.int, f.delta_ms) for item in done for f in item.added}
    return added, {edge.int for item in done for edge in item.closed}


def test_the_first_event_follows_nothing() -> None:
    assert inserted([], [at(0, 1)]) == (set(), set())


def test_a_later_event_follows_the_last_one_with_milliseconds_between() -> None:
    assert inserted([at(1, 1)], [at(2.5, 2)]) == ({(2, 1, 1500)}, set())


def test_a_late_event_ends_the_bridge_over_its_place_and_makes_two_edges() -> None:
    stored = [at(0, 1), at(10, 2, edge=77)]
    assert inserted(stored, [at(4, 3)]) == ({(3, 1, 4000), (2, 3, 6000)}, {77})


def test_an_event_before_all_others_is_followed_and_ends_nothing() -> None:
    assert inserted([at(10, 2)], [at(4, 3)]) == ({(2, 3, 6000)}, set())


def test_a_late_batch_ends_one_bridge_and_makes_no_edge_twice() -> None:
    stored = [at(0, 1), at(10, 2, edge=77)]
    new = [at(3, 4), at(6, 5), at(1, 3)]
    expected = {(3, 1, 1000), (4, 3, 2000), (5, 4, 3000), (2, 5, 4000)}
    assert inserted(stored, new) == (expected, {77})


@pytest.mark.parametrize("order", [(3, 4, 5), (5, 4, 3), (4, 5, 3)])
def test_events_of_one_moment_stand_by_number_then_by_arrival(order: tuple[int, ...]) -> None:
    places = {3: at(5, 3, sequence=1), 4: at(5, 4, sequence=2), 5: at(5, 5)}
    expected = {(3, 5, 0), (4, 3, 0)}
    assert inserted([], [places[number] for number in order]) == (expected, set())
