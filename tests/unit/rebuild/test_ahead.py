"""The next page of a ledger is made ready while this one is replayed."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from tests.fakes.keys import InMemoryKeyStore

from cairn.kernel.errors import Conflict
from cairn.ledger.chain import empty_head, seal
from cairn.ledger.entry import Actor, ActorKind, Entry, NewEntry
from cairn.ledger.keys import BodyCipher
from cairn.rebuild.replay import Prefetcher

WORKSPACE = UUID(int=1)
START = empty_head(WORKSPACE)
NOW = datetime(2026, 3, 20, tzinfo=UTC)


def chain(length: int) -> list[Entry]:
    new = [
        NewEntry(
            id=UUID(int=100 + number),
            workspace_id=WORKSPACE,
            type="task.started",
            actor=Actor(kind=ActorKind.SYSTEM, id="cairn"),
            occurred_at=NOW,
            meta={"number": number},
        )
        for number in range(length)
    ]
    return seal(START, new, NOW)


class Book:
    """Reads pages of two and keeps after which positions it was asked."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self.asked: list[int] = []

    def __call__(self, after: int) -> list[Entry]:
        self.asked.append(after)
        return self.entries[after : after + 2]


def test_pages_follow_one_another_and_each_is_read_once() -> None:
    book = Book(chain(5))
    positions: list[list[int]] = []
    head = START
    with Prefetcher(InMemoryKeyStore(), BodyCipher()) as ahead:
        while (page := ahead.page(head, book)) is not None:
            positions.append([entry.entry.position for entry in page.entries])
            head = page.reached
    assert positions == [[1, 2], [3, 4], [5]]
    assert book.asked[:4] == [0, 2, 4, 5]


def test_a_replay_that_begins_again_gets_the_first_page_again() -> None:
    book = Book(chain(5))
    with Prefetcher(InMemoryKeyStore(), BodyCipher()) as ahead:
        first = ahead.page(START, book)
        again = ahead.page(START, book)
    assert first is not None
    assert first == again


def test_a_broken_page_is_told_of_in_its_turn() -> None:
    entries = chain(4)
    book = Book([*entries[:2], entries[3], entries[2]])
    with Prefetcher(InMemoryKeyStore(), BodyCipher()) as ahead:
        first = ahead.page(START, book)
        assert first is not None
        with pytest.raises(Conflict) as caught:
            ahead.page(first.reached, book)
    assert caught.value.fields["first_bad_position"] == 3
