"""What statements change in open intents, by rules alone."""

from uuid import UUID

import pytest

from cairn.discovery.intents.reconcile import Change, OpenIntent, reconcile
from cairn.discovery.intents.statements import Side, read
from cairn.discovery.intents.verify import verify

KILN = OpenIntent(id=UUID(int=1), text="Looking for a kiln to rent in Ghent", side=Side.SEEKING)
BARN = OpenIntent(id=UUID(int=2), text="I lend my barn for rehearsals", side=Side.OFFERING)
FUND = OpenIntent(
    id=UUID(int=3), text="Raising two million to bring a hearing aid to market", side=Side.SEEKING
)


def _changes(text: str, *intents: OpenIntent) -> set[tuple[Change, UUID | None]]:
    statements = [verify(each, None) for each in read(text)]
    return {(action.change, action.id) for action in reconcile(statements, intents)}


@pytest.mark.parametrize(
    "text",
    [
        "The kiln has to reach 1280 degrees.",
        "Antwerp would be fine for the kiln too.",
        "At most 200 euros a month for the kiln.",
    ],
)
def test_what_is_said_of_the_same_thing_changes_the_intent(text: str) -> None:
    assert _changes(text, KILN, BARN) == {(Change.UPDATE, KILN.id)}


@pytest.mark.parametrize(
    "text",
    ["The kiln museum in Ghent was closed.", "My daughter likes the kiln.", "Two kilns burned."],
)
def test_what_only_names_the_thing_changes_nothing(text: str) -> None:
    assert _changes(text, KILN) == set()


@pytest.mark.parametrize("text", ["Please remove both of my posts.", "Drop them both, please."])
def test_both_ends_every_intent(text: str) -> None:
    assert _changes(text, KILN, BARN) == {(Change.EXPIRE, KILN.id), (Change.EXPIRE, BARN.id)}


def test_an_intent_is_ended_by_the_name_of_its_kind() -> None:
    assert _changes("The round is closed.", KILN, FUND) == {(Change.EXPIRE, FUND.id)}
    assert _changes("I withdraw my request.", KILN, BARN) == {(Change.EXPIRE, KILN.id)}


def test_it_is_what_was_ended_in_the_same_breath() -> None:
    text = "The barn is let until autumn, so it is no longer available."

    assert _changes(text, KILN, BARN) == {(Change.EXPIRE, BARN.id)}


def test_one_of_two_is_ended_where_the_other_is_still_missing() -> None:
    text = "We hired a caretaker last week, but the kiln is still missing."
    caretaker = OpenIntent(id=UUID(int=4), text="Hiring a caretaker", side=Side.SEEKING)

    assert (Change.EXPIRE, caretaker.id) in _changes(text, KILN, caretaker)
    assert (Change.EXPIRE, KILN.id) not in _changes(text, KILN, caretaker)


def test_another_thing_in_the_same_place_is_a_new_intent() -> None:
    changes = _changes("I'm looking for a farrier to rent a forge in Ghent.", KILN)

    assert changes == {(Change.CREATE, None)}


def test_another_number_changes_the_intent() -> None:
    changes = _changes("We are now looking for three million for the hearing aid.", FUND)

    assert changes == {(Change.UPDATE, FUND.id)}
