"""Tokens no merge may lose: what counts as one, what counts as another, what is a name."""

from time import process_time

import pytest

from cairn.consolidation.tokens import (
    NOT,
    TokenKind,
    agree,
    difference,
    invented,
    lost,
    tokens,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It costs 5,000 euros.", "It costs €5000."),
        ("It costs 18,500 dollars.", "It costs $18,500."),
        ("Take 20mg.", "Take 20 mg."),
        ("It takes two weeks.", "It takes 2 weeks."),
        ("It weighs 5,5 kg.", "It weighs 5.50 kg."),
        ("We meet at 3 pm.", "We meet at 15:00."),
        ("Due 2026-05-12.", "Due 12 May 2026."),
        ("Due on the 5th.", "Due on the fifth."),
        ("Paul doesn't eat meat.", "Paul does not eat meat."),
        ("Ben can't come.", "Ben cannot come."),
        ("Closed on Mondays.", "Closed each Monday."),
        ("It is -5 degrees.", "It is \u22125 degrees."),
    ],
)
def test_two_ways_to_write_one_thing_are_one(one: str, other: str) -> None:
    assert agree(one, other)


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Take 20 mg.", "Take 20 g.", TokenKind.NUMBER),
        ("Take 20 mg.", "Take 200 mg.", TokenKind.NUMBER),
        ("It is -5 degrees.", "It is 5 degrees.", TokenKind.NUMBER),
        ("Use version 2.9.1.", "Use version 2.9.2.", TokenKind.NUMBER),
        ("Values > 5 fail.", "Values < 5 fail.", TokenKind.NUMBER),
        ("Reboot web-01.", "Reboot web-02.", TokenKind.NUMBER),
        ("We meet on Monday.", "We meet on Tuesday.", TokenKind.DATE),
        ("Due 12 May.", "Due 13 May.", TokenKind.DATE),
        ("Due in 2025.", "Due in 2026.", TokenKind.DATE),
        ("Paul eats meat.", "Paul does not eat meat.", TokenKind.NEGATION),
        ("It is never open.", "It is open.", TokenKind.NEGATION),
        ("The contact is Priya.", "The contact is Oliver.", TokenKind.NAME),
        ("Andrea owns it.", "Jonas owns it.", TokenKind.NAME),
    ],
)
def test_texts_that_each_hold_what_the_other_lacks_differ(
    one: str, other: str, kind: TokenKind
) -> None:
    assert difference(tokens(one), tokens(other)) is kind
    assert difference(tokens(other), tokens(one)) is kind


def test_what_only_adds_does_not_differ_and_loses_when_it_is_left_out() -> None:
    short, long = tokens("Acme uses Next.js."), tokens("Acme uses Next.js since March 2023.")
    assert difference(short, long) is None
    assert lost(long, short) == ("date 2023", "date month 3")
    assert lost(short, long) == ()


def test_a_token_that_occurs_twice_is_kept_twice() -> None:
    assert lost(tokens("5 cats and 5 dogs"), tokens("5 cats and dogs")) == ("number 5",)
    two = tokens("Do not salt it, do not boil it.")
    assert two.counted[NOT] == 2
    assert lost(two, tokens("Do not salt it, boil it.")) == ("negation not",)


def test_a_merge_may_not_say_what_no_source_does() -> None:
    sources = [tokens("Marcus eats meat."), tokens("Marcus eats meat on Sunday.")]
    assert invented(sources, tokens("Marcus does not eat meat on Sunday.")) == ("negation not",)
    assert invented(sources, tokens("Marcus eats 3 meats on Sunday.")) == ("number 3",)
    assert invented(sources, tokens("On Sunday, says Rosa, Marcus eats meat.")) == ("name rosa",)
    assert invented(sources, tokens("Marcus eats meat on Sunday.")) == ()


def test_an_alias_is_the_name_it_stands_for() -> None:
    names = {"acme": "Acme Corporation"}
    one, other = tokens("We like Acme.", names), tokens("We like Acme Corporation.", names)
    assert not lost(one, other)
    assert not lost(other, one)
    assert lost(tokens("We like Acme Corporation."), tokens("We like Acme.")) == ("name corpor",)


@pytest.mark.parametrize(
    ("text", "months"),
    [("Staff may park.", 0), ("Delivery in May.", 1), ("12 may", 1), ("They march on.", 0)],
)
def test_a_month_is_told_from_a_word(text: str, months: int) -> None:
    found = tokens(text).counted
    assert sum(value.startswith("month") for _, value in found) == months


def test_one_is_a_number_where_it_counts() -> None:
    assert (TokenKind.NUMBER, "1") in tokens("Deploys need one approval.").counted
    assert (TokenKind.NUMBER, "1") not in tokens("Take this one.").counted


@pytest.mark.parametrize("text", ["", "   ", "\u2026", "????", "\ud83d\ude80" * 3])
def test_texts_without_words_have_no_tokens(text: str) -> None:
    assert not tokens(text).names


@pytest.mark.parametrize(
    "text",
    ["a_" * 15_000, "a-" * 15_000, "1.2." * 8_000, "1,000 " * 5_000, "'" * 30_000, "a'" * 9_000],
)
def test_no_text_takes_long_to_read(text: str) -> None:
    began = process_time()
    tokens(text)
    assert process_time() - began < 3
