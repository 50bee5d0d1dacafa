"""What arrives while somebody works is done together, by one of those who wait."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, current_thread

import pytest

from cairn.kernel.ids import new_id
from cairn.kernel.traces import within
from cairn.kernel.transaction.together import Together
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.sending import SendTogether

THREADS = 8


class Groups:
    """Keeps each group with the thread that did it; the first waits until it is let go."""

    def __init__(self) -> None:
        self.done: list[tuple[str, list[int]]] = []
        self.began, self.free = Event(), Event()

    def work(self, items: Sequence[int]) -> None:
        self.began.set()
        assert self.free.wait(30)
        self.done.append((current_thread().name, list(items)))


def test_who_comes_alone_is_served_at_once() -> None:
    groups = Groups()
    groups.free.set()
    together = Together(groups.work)
    for number in range(3):
        together("key", number)

    assert [items for _, items in groups.done] == [[0], [1], [2]]


def test_everybodys_item_is_done_once_in_groups_of_no_more_than_allowed() -> None:
    groups = Groups()
    together = Together(groups.work, most=3)
    with ThreadPoolExecutor(THREADS) as threads:
        futures = [threads.submit(together, "key", number) for number in range(THREADS)]
        assert groups.began.wait(30)
        groups.free.set()
        for future in futures:
            future.result(timeout=30)

    assert sorted(item for _, items in groups.done for item in items) == list(range(THREADS))
    assert max(len(items) for _, items in groups.done) <= 3


class Queue:
    """A dispatcher that keeps what it was given, or fails."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.calls: list[list[OutboxRow]] = []
        self.failure = failure

    def send(self, rows: Sequence[OutboxRow]) -> None:
        if self.failure:
            raise self.failure
        self.calls.append(list(rows))


def row() -> OutboxRow:
    return OutboxRow(workspace_id=new_id(), id=new_id(), topic=Topic.EMBED, position=1)


def test_nothing_is_sent_for_a_write_that_wakes_nobody() -> None:
    queue = Queue()
    SendTogether(queue).send([])
    assert queue.calls == []


def test_what_goes_wrong_while_sending_is_told_to_who_asked() -> None:
    with pytest.raises(ZeroDivisionError):
        SendTogether(Queue(ZeroDivisionError())).send([row()])


def test_rows_of_a_trace_are_sent_in_it() -> None:
    queue, first = Queue(), row()
    with within("00-" + "1" * 32 + "-" + "2" * 16 + "-01"):
        SendTogether(queue).send([first])
    assert queue.calls == [[first]]
