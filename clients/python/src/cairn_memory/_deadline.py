"""A bound on all that a call does, its retries included; None is the answer to every failure."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def awithin(seconds: float, call: Callable[[], Awaitable[T]]) -> T | None:
    """Return what `call` gives within the time, None when it fails or takes longer."""
    try:
        return await asyncio.wait_for(call(), seconds)
    except Exception:  # noqa: BLE001 - a host goes on without memory, whatever is wrong with it
        return None


def within(seconds: float, call: Callable[[], T]) -> T | None:
    """Return the same without `await`: the call runs beside, and is left alone when it is late."""
    answers: SimpleQueue[T | None] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(call())
        except Exception:  # noqa: BLE001 - as above
            answers.put(None)

    Thread(target=run, name="cairn-bridge", daemon=True).start()
    try:
        return answers.get(timeout=seconds)
    except Empty:
        return None
