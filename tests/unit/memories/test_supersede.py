"""Where a new link belongs in its chain: by the world's clock, not by the order of arrival."""

from datetime import datetime, timedelta
from itertools import pairwise, permutations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.memories.drafts import NOON

from cairn.memories.identity import Link, place


def day(number: int) -> datetime:
    return NOON + timedelta(days=number)


def link(number: int, start: int, end: int | None = None) -> Link:
    valid_to = None if end is None else day(end)
    return Link(id=UUID(int=number), valid_from=day(start), valid_to=valid_to, position=number)


def test_the_first_link_has_no_neighbours_and_holds_until_further_notice() -> None:
    placement = place([], day(1), None)
    assert (placement.previous, placement.following, placement.valid_to) == (None, None, None)
    assert placement.is_end
    with pytest.raises(ValueError, match="nothing comes before"):
        placement.closed_previous()


def test_a_newer_link_closes_the_one_before_at_its_own_start() -> None:
    placement = place([link(1, 0)], day(5), None)
    assert placement.is_end
    assert placement.closed_previous() == link(1, 0, 5)


def test_a_late_link_takes_its_place_in_the_middle_and_replaces_nothing_newer() -> None:
    placement = place([link(1, 0, 10), link(2, 10)], day(4), None)
    assert not placement.is_end
    assert placement.following == link(2, 10)
    assert placement.valid_to == day(10)
    assert placement.closed_previous() == link(1, 0, 4)


def test_a_link_older_than_all_is_closed_by_the_first() -> None:
    placement = place([link(1, 3, 6), link(2, 6)], day(1), None)
    assert placement.previous is None
    assert placement.following == link(1, 3, 6)
    assert placement.valid_to == day(3)


def test_of_two_that_start_together_the_later_recorded_follows() -> None:
    placement = place([link(1, 2), link(2, 2)], day(2), None)
    assert placement.previous == link(2, 2)
    assert placement.is_end
    assert placement.previous_valid_to == day(2)


def test_an_end_that_was_given_is_kept_when_it_comes_before_the_next_start() -> None:
    placement = place([link(1, 10)], day(1), day(4))
    assert placement.valid_to == day(4)


def test_an_end_that_was_given_gives_way_to_an_earlier_next_start() -> None:
    placement = place([link(1, 3)], day(1), day(8))
    assert placement.valid_to == day(3)


def test_a_gap_stays_a_gap() -> None:
    placement = place([link(1, 0, 2)], day(5), None)
    assert placement.previous_valid_to == day(2)


def arrived(starts: tuple[int, ...]) -> list[Link]:
    """Return the chain after links starting on these days arrived in this order."""
    chain: list[Link] = []
    for number, start in enumerate(starts, 1):
        placement = place(chain, day(start), None)
        if placement.previous:
            chain = [link for link in chain if link != placement.previous]
            chain.append(placement.closed_previous())
        new = Link(
            id=UUID(int=number),
            valid_from=day(start),
            valid_to=placement.valid_to,
            position=number,
        )
        chain.append(new)
    return sorted(chain, key=lambda link: (link.valid_from, link.position))


def test_every_order_of_arrival_gives_the_same_periods() -> None:
    periods = {
        tuple((item.valid_from, item.valid_to) for item in arrived(order))
        for order in permutations((1, 4, 6, 9))
    }
    assert len(periods) == 1


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12))
def test_links_never_overlap_and_exactly_one_holds_now(starts: list[int]) -> None:
    chain = arrived(tuple(starts))
    assert [item.valid_to is None for item in chain] == [False] * (len(chain) - 1) + [True]
    assert all(
        one.valid_to is not None and one.valid_to <= after.valid_from
        for one, after in pairwise(chain)
    )
