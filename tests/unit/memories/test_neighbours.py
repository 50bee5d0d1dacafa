"""The messages before a message, and those whose context changes with it."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from cairn.memories.identity import Conversation, Message


def message(sequence: int, number: int | None = None) -> Message:
    identity = UUID(int=sequence if number is None else number)
    return Message(id=identity, sequence=sequence, text=f"message {sequence}")


def sequences(messages: tuple[Message, ...]) -> list[int]:
    return [message.sequence for message in messages]


def test_context_is_the_two_messages_before_oldest_first() -> None:
    conversation = Conversation(message(n) for n in (4, 1, 3, 2))
    assert sequences(conversation.context(message(4))) == [2, 3]


def test_the_first_messages_have_less_context() -> None:
    conversation = Conversation([message(1), message(2)])
    assert conversation.context(message(1)) == ()
    assert sequences(conversation.context(message(2))) == [1]


def test_numbers_may_have_gaps() -> None:
    conversation = Conversation(message(n) for n in (10, 70, 300))
    assert sequences(conversation.context(message(300))) == [10, 70]


def test_a_late_message_changes_the_context_of_the_two_after_it() -> None:
    conversation = Conversation(message(n) for n in (1, 3, 4, 5))
    late = message(2)
    conversation.add(late)
    assert sequences(conversation.dependants(late)) == [3, 4]
    assert sequences(conversation.context(message(4))) == [2, 3]
    assert sequences(conversation.context(message(5))) == [3, 4]


def test_when_a_message_goes_its_dependants_reach_further_back() -> None:
    conversation = Conversation(message(n) for n in (1, 2, 3, 4))
    conversation.remove(message(3).id)
    assert sequences(conversation.context(message(4))) == [1, 2]


def test_dependants_of_a_message_not_there_are_those_that_had_it() -> None:
    conversation = Conversation(message(n) for n in (1, 2, 4, 5))
    assert sequences(conversation.dependants(message(3))) == [4, 5]


def test_two_messages_with_one_number_are_ordered_by_their_ids() -> None:
    first, second = message(1, 7), message(1, 8)
    conversation = Conversation([second, first])
    assert conversation.context(second) == (first,)
    assert conversation.context(first) == ()


@given(st.permutations(range(8)))
def test_the_order_of_arrival_does_not_matter(order: list[int]) -> None:
    conversation = Conversation()
    for sequence in order:
        conversation.add(message(sequence))
    for sequence in range(8):
        expected = list(range(max(0, sequence - 2), sequence))
        assert sequences(conversation.context(message(sequence))) == expected


@given(st.sets(st.integers(0, 30), min_size=1), st.integers(0, 30))
def test_dependants_are_exactly_those_whose_context_holds_the_message(
    numbers: set[int], asked: int
) -> None:
    conversation = Conversation(message(n) for n in numbers | {asked})
    holding = {n for n in numbers if message(asked) in conversation.context(message(n))}
    assert set(sequences(conversation.dependants(message(asked)))) == holding
