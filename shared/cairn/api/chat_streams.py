"""A turn's events as a stream: from the thread that works on it, or from where they are kept."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from cairn.api.problems import from_error
from cairn.api.streams import HEARTBEAT, RETRY_MS, written
from cairn.investigations.tracing import TraceEvent
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from cairn.api.options import OpenStreams, Pace
    from cairn.chat.views import Told, TurnEvents

LOOK_SECONDS = 0.1
"""How often a reader looks that did not begin the turn: chunks of text come many a second."""


@dataclass(slots=True)
class Listening:
    """What a working thread tells a reader of its process. The thread goes on without one."""

    told: deque[Told] = field(default_factory=deque["Told"])
    over: bool = False
    changed: Condition = field(default_factory=Condition)

    def run(self, work: Callable[..., None]) -> None:
        """Work, and say when it is over, however it ended."""
        try:
            work(listen=self.hear)
        finally:
            with self.changed:
                self.over = True
                self.changed.notify_all()

    def hear(self, told: Sequence[Told]) -> None:
        """Take what was told."""
        with self.changed:
            self.told.extend(told)
            self.changed.notify_all()

    def wait(self, seconds: float) -> tuple[list[Told], bool]:
        """Return what was told since, and whether it is over; wait for something, not for long."""
        with self.changed:
            self.changed.wait_for(lambda: self.told or self.over, seconds)
            told = list(self.told)
            self.told.clear()
            return told, self.over


async def live(
    listening: Listening | None,
    look: Callable[..., TurnEvents],
    *,
    after: int,
    pace: Pace,
    open_streams: OpenStreams,
) -> AsyncIterator[bytes]:
    """Yield a turn's events after a number until it ends, its reader leaves or time is up."""
    open_streams.now += 1
    try:
        yield f"retry: {RETRY_MS}\n\n".encode()
        parts = _looked(look, after, pace) if listening is None else _heard(listening, look, pace)
        async for part in parts:
            yield part
    except CairnError as error:
        yield written(TraceEvent(name="problem", data=from_error(error).content(None)))
    finally:
        open_streams.now -= 1


async def _heard(
    listening: Listening, look: Callable[..., TurnEvents], pace: Pace
) -> AsyncIterator[bytes]:
    """Yield what the thread tells; a turn that was stopped meanwhile ends here at once."""
    last, told_at = 0, anyio.current_time()
    while True:
        wait = partial(listening.wait, pace.look)
        told, over = await to_thread.run_sync(wait, abandon_on_cancel=True)
        for event in told:
            last = event.seq
            yield _written(event)
        if over:
            return
        now = anyio.current_time()
        if told:
            told_at = now
            continue
        if (await to_thread.run_sync(partial(look, after=last))).ended:
            return
        if now - told_at >= pace.heartbeat:
            told_at = now
            yield HEARTBEAT


async def _looked(look: Callable[..., TurnEvents], after: int, pace: Pace) -> AsyncIterator[bytes]:
    """Yield what is kept, and what comes to it."""
    now = began = told_at = anyio.current_time()
    while now - began < pace.longest:
        found = await to_thread.run_sync(partial(look, after=after))
        for event in found.items:
            told_at = now
            yield _written(event)
        after = found.after
        if found.ended:
            return
        if now - told_at >= pace.heartbeat:
            told_at = now
            yield HEARTBEAT
        await anyio.sleep(min(LOOK_SECONDS, pace.look))
        now = anyio.current_time()


def _written(event: Told) -> bytes:
    data = {**event.data, "at": event.at}
    return written(TraceEvent(name=event.name, data=data, id=event.seq))
