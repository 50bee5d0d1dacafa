"""Two statements clash where one place of one sentence differs, and not over another subject."""

import pytest

from cairn.consolidation.contradictions import contradiction
from cairn.consolidation.plan import Clash


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("The ferry takes 40 minutes.", "The ferry takes 55 minutes.", Clash.NUMBER),
        ("The lease ends on 3 May 2027.", "The lease ends on 9 June 2027.", Clash.DATE),
        ("The gate is locked.", "The gate is not locked.", Clash.NEGATION),
        ("The offer was accepted.", "The offer was declined.", Clash.OPPOSITE),
        ("The owner of the hut is Ida.", "The owner of the hut is Olaf.", Clash.VALUE),
        ("Ida is the owner of the hut.", "Olaf is the owner of the hut.", Clash.VALUE),
    ],
)
def test_one_place_that_differs_is_a_contradiction(one: str, other: str, clash: Clash) -> None:
    found = contradiction(one, other, {})
    assert found is not None
    assert found[0] is clash
    assert found[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ticket 4512 was closed.", "Ticket 4513 was closed."),
        ("The Oslo hut has 24 beds.", "The Bergen hut has 24 beds."),
        ("Ida rowed on 3 May.", "Ida rowed on 9 May for 20 minutes."),
        ("The pool is heated.", "The moon is full."),
        ("The pool is heated.", "The pool is heated."),
        ("Ida likes tea.", "Ida likes trains."),
        ("", "Ida likes tea."),
    ],
)
def test_another_subject_or_another_occasion_is_none(one: str, other: str) -> None:
    assert contradiction(one, other, {}) is None


def test_a_clash_within_longer_texts_is_found() -> None:
    one = "We met at noon. The ferry takes 40 minutes. It was cold."
    other = "The ferry takes 55 minutes. Bring a coat."
    assert contradiction(one, other, {}) is not None
