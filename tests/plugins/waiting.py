"""Waiting for what another process does, by asking again; never a fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
POLL_SECONDS = 0.05


def eventually(ask: Callable[[], Found], *, seconds: float = 20.0, what: str = "it") -> Found:
    """The first truthy answer of `ask`; AssertionError with the last one when time is up."""
    deadline = time.monotonic() + seconds
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what} did not happen in {seconds} s: {answer!r}"
        time.sleep(POLL_SECONDS)
