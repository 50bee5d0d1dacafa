"""Statements reworded are the same; statements turned around, denied or asked are not."""

import pytest

from cairn.consolidation.wording import opposed, same_text, says_all, wording


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The hut opens at 6.", "the hut opens at 6"),
        ("Sofia's cat is called Pickle.", "Sofia\u2019s cat is called \u201cPickle\u201d."),
        ("On Sundays the hut is shut.", "The hut is shut on Sundays."),
        ("Rosa booked the boat.", "The boat was booked by Rosa."),
        ("The tide begins to rise at 9.", "The tide starts to rise at 9."),
        ("The letters were sent on Friday.", "We sent the letters on Friday."),
    ],
)
def test_another_wording_says_the_same(one: str, other: str) -> None:
    a, b = wording(one), wording(other)
    assert says_all(a, b)
    assert says_all(b, a)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tomas moved from Riga to Oslo.", "Tomas moved from Oslo to Riga."),
        ("The dog bit the cat.", "The cat bit the dog."),
        ("The dog bit the cat.", "The dog was bitten by the cat."),
        ("Ben paid Ann.", "Ben was paid by Ann."),
        ("Anna is the manager of Bob.", "Bob is the manager of Anna."),
        ("Anna is taller than Bob.", "Bob is taller than Anna."),
        ("5 cats and 3 dogs live here.", "3 cats and 5 dogs live here."),
        (
            "The copy takes 40 minutes and the restore takes 90 minutes.",
            "The restore takes 40 minutes and the copy 90 minutes.",
        ),
        ("Paul does not eat fish but eats meat.", "Paul eats fish but does not eat meat."),
        ("Only managers see salaries.", "Managers see only salaries."),
        ("Is the hut open?", "The hut is open."),
        ("Emil leads the team.", "Emil led the team."),
        ("The office is in Bonn.", "The office was in Bonn."),
        ("The shop will be open.", "The shop is open."),
        ("Staff may park here.", "Staff must park here."),
        ("We use C++ here.", "We use C# here."),
        ("It is 5 degrees.", "It is -5 degrees."),
        ("The design is finished.", "The design review is finished."),
    ],
)
def test_the_same_words_turned_otherwise_say_something_else(one: str, other: str) -> None:
    a, b = wording(one), wording(other)
    assert not same_text(a, b)
    assert not (says_all(a, b) and says_all(b, a))


def test_a_text_with_a_sentence_more_says_all_of_the_shorter() -> None:
    short = wording("The pool is heated.")
    long = wording("The pool is heated. It belongs to the school.")
    assert says_all(short, long)
    assert not says_all(long, short)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Login is enabled for admins.", "Login is disabled for admins."),
        ("The gate is locked at night.", "The gate is unlocked at night."),
        ("The alarm is armed at night.", "The alarm is disarmed at night."),
        ("The flag is on in production.", "The flag is off in production."),
    ],
)
def test_words_that_exclude_each_other_are_seen(one: str, other: str) -> None:
    assert opposed(wording(one), wording(other))


def test_opposites_about_other_things_are_not() -> None:
    assert (
        opposed(wording("The left shoe hurts Ann."), wording("Turn right at the old mill.")) is None
    )
