"""The published decay curve: what a fact's confidence is after so many days without access."""

from datetime import UTC, datetime, timedelta

import pytest

from cairn.recall.scoring import decayed

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("days", "effective"),
    [(0, 1.000), (7, 0.869), (14, 0.755), (30, 0.545), (60, 0.297), (90, 0.162)],
)
def test_confidence_follows_the_curve_to_two_thousandths(days: int, effective: float) -> None:
    assert decayed(1.0, NOON, NOON + timedelta(days=days)) == pytest.approx(effective, abs=0.002)


def test_a_stored_confidence_below_one_decays_from_where_it_is() -> None:
    assert decayed(0.8, NOON, NOON + timedelta(days=30)) == pytest.approx(0.8 * 0.98**30)


def test_a_clock_behind_the_last_access_takes_and_gives_nothing() -> None:
    assert decayed(0.9, NOON, NOON - timedelta(days=400)) == 0.9
