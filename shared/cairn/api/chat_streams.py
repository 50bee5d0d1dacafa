"""A turn's events as a stream: from the thread that works on it, or from where they are kept.

Waiting for a thread takes none of those that serve requests.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from cairn.api.streams import HEARTBEAT, Watch, written
from cairn.investigations.tracing import TraceEvent
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from cairn.api.options import Pace
    from cairn.chat.views import Told, TurnEvents

    Behind = Callable[[bool], None] | None

KEEP_SECONDS = 10.0
"""How often it is said that a turn is worked on (`Turns.keep`)."""

LOOK_SECONDS = 0.1
"""How often a reader looks that did not begin the turn: chunks of text come many a second."""


@dataclass(slots=True)
class Working:
    """A turn that is worked on in a thread of its own, which goes on without a reader.

    `problem` is what was no error of Cairn's. What is done behind the turn is waited for only where
    the process stops with its answer (`stops`), and is quick there.
    """

    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    told: deque[Told] = field(default_factory=deque["Told"])
    over: bool = False
    problem: Exception | None = None
    stops: bool = False
    answered: Event = field(default_factory=Event)

    def begin(
        self, work: Callable[..., Behind], leave: Callable[[], None], keep: Callable[[], None]
    ) -> None:
        """Begin to work; call `leave` when it is over, however it ended, and `keep` meanwhile."""
        context = copy_context()  # it goes on in the trace of the request
        Thread(target=context.run, args=(self._run, work, leave), daemon=True).start()
        Thread(target=self._keep, args=(keep,), daemon=True).start()

    async def wait(self, seconds: float | None = None) -> tuple[list[Told], bool]:
        """Return what was told since, and whether it is over; wait for something, or so long."""
        with anyio.move_on_after(seconds):
            await self.changed.wait()
        self.changed.clear()
        over = self.over  # before the events are taken: those it told last are among them
        return [self.told.popleft() for _ in range(len(self.told))], over

    async def end(self) -> None:
        """Wait until it is over; raise what was no error of Cairn's."""
        while not (await self.wait())[1]:
            pass
        if self.problem is not None:
            raise self.problem

    def _run(self, work: Callable[..., Behind], leave: Callable[[], None]) -> None:
        behind = None
        try:
            behind = work(listen=self._hear)
            if behind is not None and self.stops:
                behind(True)
                behind = None
        except Exception as problem:  # noqa: BLE001 - whoever waits raises it
            self.problem = problem
        finally:
            self.answered.set()
            if behind is None:
                leave()
            self.over = True
            self._wake()
        if behind is not None:
            try:
                behind(False)
            finally:
                leave()

    def _keep(self, keep: Callable[[], None]) -> None:
        while not self.answered.wait(KEEP_SECONDS):
            with suppress(CairnError):  # said again in a moment
                keep()

    def _hear(self, chunks: Sequence[Told]) -> None:
        self.told.extend(chunks)
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the server has ended
            self.loop.call_soon_threadsafe(self.changed.set)


@dataclass(slots=True)
class TurnEventReader:
    """Looks at what is kept of a turn after a number. `shown` says what of an event is told."""

    find: Callable[..., TurnEvents]
    after: int
    shown: Callable[[Told], TraceEvent | None] = field(default=lambda event: _traced(event))

    def __call__(self) -> tuple[Sequence[TraceEvent], bool]:
        """Return the events since the last call, and whether they were the last."""
        events = self.find(after=self.after)
        self.after = events.after
        return [each for event in events.items if (each := self.shown(event))], events.ended


def followed(stored: TurnEventReader, admit: Callable[[], Any], pace: Pace) -> AsyncIterator[bytes]:
    """Yield a turn's events until it ends, or time is up."""
    return Watch(stored, admit, replace(pace, look=min(LOOK_SECONDS, pace.look))).parts()


async def heard(working: Working, stored: TurnEventReader, pace: Pace) -> AsyncIterator[bytes]:
    """Yield what the thread tells; a turn that was stopped meanwhile ends here at once."""
    told_at = anyio.current_time()
    while True:
        chunks, over = await working.wait(pace.look)
        for event in chunks:
            stored.after = event.seq
            if (shown := stored.shown(event)) is not None:
                yield written(shown)
        if over:
            if working.problem is not None:
                raise working.problem
            return
        now = anyio.current_time()
        if chunks:
            told_at = now
        elif (await to_thread.run_sync(partial(stored.find, after=stored.after))).ended:
            return
        elif now - told_at >= pace.heartbeat:
            told_at = now
            yield HEARTBEAT


def _traced(event: Told) -> TraceEvent:
    return TraceEvent(name=event.name, data={**event.data, "at": event.at}, id=event.seq)
