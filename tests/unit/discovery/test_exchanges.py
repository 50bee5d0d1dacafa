"""Two exchanges fit when each has what the other wants."""

from __future__ import annotations

import pytest

from cairn.discovery.matching.exchanges import exchange_of, is_one_sided

TEACHES_GUITAR = "I teach you guitar, you teach me Greek"
ALSO_GUITAR = "Greek from you, guitar from me, on Sundays"
TEACHES_GREEK = "I want to learn guitar; I can give Greek in return"


@pytest.mark.parametrize(
    ("text", "gives", "wants"),
    [
        (TEACHES_GUITAR, {"guitar"}, {"greek"}),
        (TEACHES_GREEK, {"greek"}, {"guitar"}),
        ("You show me how to weld, I'll cook for you", {"cook"}, {"weld"}),
        ("I mend bicycles in exchange for firewood", {"mend", "bicycl"}, {"firewood"}),
    ],
)
def test_both_halves_of_an_exchange_are_read(text: str, gives: set[str], wants: set[str]) -> None:
    exchange = exchange_of(text)
    assert exchange is not None
    assert gives <= exchange.gives
    assert wants <= exchange.wants


@pytest.mark.parametrize(
    "text", ["Looking for somebody to play chess with", "We swap reviews: you test ours, we yours"]
)
def test_a_joint_thing_has_no_halves(text: str) -> None:
    exchange = exchange_of(text)
    assert exchange is None or not exchange.gives & exchange.wants


def test_who_gives_and_wants_the_same_has_nothing_for_the_other() -> None:
    assert is_one_sided(TEACHES_GUITAR, ALSO_GUITAR)
    assert is_one_sided(ALSO_GUITAR, TEACHES_GUITAR)
    assert not is_one_sided(TEACHES_GUITAR, TEACHES_GREEK)
    assert not is_one_sided(TEACHES_GUITAR, "Looking for somebody to play chess with")
    assert not is_one_sided(TEACHES_GUITAR, "I cook for you, you drive me")
