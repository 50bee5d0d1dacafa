"""A stand-in is made once, when it is first used, however many ask for it at once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import pytest

from cairn.bootstrap.lazy import lazy


@dataclass
class Adder:
    number: int

    def __call__(self, more: int) -> int:
        return self.number + more


def test_nothing_is_made_before_it_is_used() -> None:
    made: list[int] = []

    def make() -> Adder:
        made.append(1)
        return Adder(3)

    adder = lazy(make)
    assert made == []
    assert adder(4) == 7
    assert adder.number == 3
    assert made == [1]


def test_what_many_ask_for_at_once_is_made_once() -> None:
    made: list[int] = []
    start = Barrier(8)

    def make() -> Adder:
        made.append(1)
        return Adder(len(made))

    adder = lazy(make)

    def ask(more: int) -> int:
        start.wait(timeout=10)
        return adder(more)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(8))) == [1 + more for more in range(8)]
    assert made == [1]


def test_one_may_be_made_of_another() -> None:
    inner = lazy(lambda: Adder(1))
    outer = lazy(lambda: Adder(inner(1)))
    assert outer(1) == 3


def test_a_failure_to_make_it_is_not_kept() -> None:
    tries: list[int] = []

    def make() -> Adder:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("not yet")
        return Adder(1)

    adder = lazy(make)
    with pytest.raises(OSError, match="not yet"):
        adder(1)
    assert adder(1) == 2
