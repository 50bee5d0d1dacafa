"""What events make of how a connector is; clocks that jump included."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.remembering import NOON

from cairn.connectors import lifecycle
from cairn.connectors.lifecycle import LONGEST_BACKOFF, MAX_RESTARTS, Health
from cairn.connectors.port import ConnectorState


def after(failures: int, *, apart: float = 1.0) -> Health:
    health = Health()
    for number in range(failures):
        now = NOON + timedelta(seconds=number * apart)
        health = lifecycle.failed(health, now, "connector-crashed")
    return health


def test_five_failures_in_five_minutes_are_restarted_and_the_sixth_degrades() -> None:
    assert after(MAX_RESTARTS).state is ConnectorState.RESTARTING
    assert after(MAX_RESTARTS + 1).state is ConnectorState.DEGRADED


def test_failures_that_lie_apart_never_degrade() -> None:
    assert after(50, apart=61).state is ConnectorState.RESTARTING


def test_answering_forgives_nothing_until_five_minutes_are_over() -> None:
    health = lifecycle.ready(after(3), NOON + timedelta(seconds=10))
    assert (health.state, len(health.failures)) == (ConnectorState.READY, 3)

    later = lifecycle.ready(health, NOON + timedelta(minutes=6))
    assert later.failures == ()


def test_a_degraded_one_stays_so_whatever_happens_but_mending() -> None:
    health, now = after(MAX_RESTARTS + 1), NOON + timedelta(hours=1)

    assert lifecycle.ready(health, now).is_degraded
    assert lifecycle.timed_out(health, now).is_degraded
    assert lifecycle.failed(health, now, "x").is_degraded
    assert lifecycle.unauthorised(health, now, runs=True).is_degraded
    assert lifecycle.mended(now) == Health(state=ConnectorState.READY, checked_at=now)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (1, 0.5), (2, 1), (3, 2), (4, 4), (5, 8)]
)
def test_the_wait_doubles(failures: int, seconds: float) -> None:
    last = NOON + timedelta(seconds=max(failures - 1, 0))

    assert lifecycle.wait(after(failures), last) == seconds


def test_time_that_went_by_counts() -> None:
    assert lifecycle.wait(after(2), NOON + timedelta(seconds=1.75)) == 0.25
    assert lifecycle.wait(after(2), NOON + timedelta(seconds=60)) == 0


def test_a_clock_set_back_waits_no_longer_than_the_wait() -> None:
    health = after(3)

    assert lifecycle.wait(health, NOON - timedelta(days=1)) == 2
    failed = lifecycle.failed(health, NOON - timedelta(days=1), "x")
    assert failed.state is ConnectorState.RESTARTING
    assert set(failed.failures) == {NOON - timedelta(days=1)}


def test_a_clock_set_forward_forgives() -> None:
    assert lifecycle.wait(after(5), NOON + timedelta(days=365)) == 0


def test_a_refused_sign_in_is_no_failure() -> None:
    health = lifecycle.unauthorised(Health(), NOON, runs=False)
    assert (health.state, health.failures) == (ConnectorState.CRASHED, ())
    assert lifecycle.unauthorised(Health(), NOON, runs=True).state is ConnectorState.READY


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["ready", "timed_out", "failed", "held", "mended"]),
        st.floats(-1_000, 1_000),
    ),
    max_size=40,
)


@given(EVENTS)
def test_no_order_of_events_and_no_clock_makes_it_wait_long_or_remember_much(
    events: list[tuple[str, float]],
) -> None:
    health, now = Health(), NOON
    for event, seconds in events:
        now += timedelta(seconds=seconds)
        if event == "mended":
            health = lifecycle.mended(now)
        elif event in ("failed", "held"):
            health = getattr(lifecycle, event)(health, now, "x")
        else:
            health = getattr(lifecycle, event)(health, now)
        assert 0 <= lifecycle.wait(health, now) <= LONGEST_BACKOFF.total_seconds()
        assert len(health.failures) <= MAX_RESTARTS + 1
