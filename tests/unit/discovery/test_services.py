"""What somebody does for others is an offer, said in the simple present; what they do is none."""

from __future__ import annotations

import pytest

from cairn.discovery.intents.statements import Act, Side, read

OFFERS = [
    "I make and repair masts.",
    "We rent out moulds.",
    "I tune harpsichords and clavichords.",
    "We also sharpen knives, scissors and plane irons.",
    "Our bakery supplies cafes.",
    "I translate contracts from Czech.",
    "In Leeds we plaster old walls.",
    "I photograph weddings.",
    "I service your boiler while you are away.",
    "We brew cider for restaurants.",
    "We thatch roofs, lay floors and plaster walls.",
    "I look after cats.",
]
TELLS = [
    "I make mistakes.",
    "I mend my own clothes.",
    "I make coffee every morning.",
    "We build a house.",
    "I cook dinners for my family.",
    "I paint landscapes for fun.",
    "I fix the roof.",
    "My brother repairs bicycles.",
    "They build boats.",
    "I repaired bicycles last year.",
    "I used to repair boats.",
    "We plant trees every spring weekend.",
    "I film birds when I walk.",
    "I write.",
]


@pytest.mark.parametrize("text", OFFERS)
def test_what_one_does_for_others_is_offered(text: str) -> None:
    (statement,) = read(text)
    assert (statement.side, statement.act) == (Side.OFFERING, Act.COMMISSIVE)


@pytest.mark.parametrize("text", TELLS)
def test_what_one_does_for_oneself_is_told(text: str) -> None:
    assert [each.side for each in read(text)] == [None]


def test_who_also_needs_something_offers_and_seeks() -> None:
    statements = read("We build greenhouses and need a glazier.")
    assert [each.side for each in statements] == [Side.OFFERING, Side.SEEKING]
