"""The same thing said again: who is counted, and until when."""

from datetime import timedelta
from uuid import UUID

from tests.unit.memories.drafts import NOON

from cairn.writing.corroboration import (
    MAX_OBSERVED_BY,
    KnownMemory,
    observers_after,
    same_assertion,
)


def known(number: int = 1, *observers: str, active: bool = True, hours: int = 0) -> KnownMemory:
    return KnownMemory(
        id=UUID(int=number),
        position=number,
        observed_by=observers or ("one",),
        valid_from=NOON + timedelta(hours=hours),
        active=active,
    )


def test_another_agent_corroborates() -> None:
    assert observers_after(known(1, "one"), "two") == ("one", "two")


def test_the_same_agent_adds_nothing() -> None:
    assert observers_after(known(1, "one", "two"), "two") is None


def test_the_twentieth_observer_counts_and_the_next_does_not() -> None:
    nearly = known(1, *(f"agent-{n}" for n in range(MAX_OBSERVED_BY - 1)))
    full = known(1, *(f"agent-{n}" for n in range(MAX_OBSERVED_BY)))
    assert len(observers_after(nearly, "late") or ()) == 20
    assert observers_after(full, "late") is None


def test_what_was_replaced_gains_no_observers() -> None:
    assert observers_after(known(1, "one", active=False), "two") is None


def test_the_active_memory_is_the_same_whenever_it_is_said() -> None:
    old, now = known(1, active=False), known(2, hours=3)
    assert same_assertion([old, now], NOON + timedelta(days=9)) == now


def test_a_replaced_memory_told_again_with_its_own_moment_is_the_same() -> None:
    old = known(1, active=False)
    assert same_assertion([old], NOON) == old


def test_what_held_once_and_holds_again_is_a_new_assertion() -> None:
    assert same_assertion([known(1, active=False)], NOON + timedelta(days=2)) is None


def test_nothing_known_is_nothing_the_same() -> None:
    assert same_assertion([], NOON) is None


def test_retiring_changes_nothing_but_the_state() -> None:
    assert known(1, "one", "two").retired() == known(1, "one", "two", active=False)
