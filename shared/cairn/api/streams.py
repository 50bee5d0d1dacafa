"""Server-sent events: how they are written, and one reader's stream of an investigation.

https://html.spec.whatwg.org/multipage/server-sent-events.html
A stream holds no connection of the database between two looks, and ends with its reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from cairn.api.answers import encode
from cairn.api.problems import from_error
from cairn.investigations.tracing import Seen, TraceEvent, told
from cairn.kernel.errors import CairnError, FieldError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from cairn.api.options import OpenStreams, Pace
    from cairn.investigations.views import InvestigationView, StepsView

MEDIA_TYPE = "text/event-stream"
HEARTBEAT = b": still here\n\n"
RETRY_MS = 2_000
PAGE = 200
MOST_STEPS = 2**31 - 1

Look = Callable[[int], "tuple[InvestigationView, StepsView]"]
"""Returns an investigation and its steps after a number."""


def last_seen(header: str | None, after: int | None) -> int:
    """Return the number of the last step a reader has: of its header, else of its query.

    ValidationFailed for a Last-Event-ID that no step's event had.
    """
    if header is None or not header.strip():
        return after or 0
    text = header.strip()
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= MOST_STEPS):
        raise _no_such_event()
    return int(text)


def resumed(
    found: tuple[InvestigationView, StepsView], seen: int
) -> tuple[InvestigationView, StepsView]:
    """Return what comes after step `seen`, given what comes after the one before it.

    ValidationFailed when the investigation has no such step.
    """
    view, steps = found
    if not seen:
        return found
    if not steps.items or steps.items[0].seq != seen:
        raise _no_such_event()
    return view, replace(steps, items=steps.items[1:])


def written(event: TraceEvent) -> bytes:
    """Return an event as it goes over the wire; its JSON has no line breaks."""
    head = f"event: {event.name}\n"
    if event.id is not None:
        head += f"id: {event.id}\n"
    return head.encode() + b"data: " + encode(event.data) + b"\n\n"


async def stream(
    first: tuple[InvestigationView, StepsView],
    look: Look,
    admit: Callable[[], Any],
    *,
    after: int,
    pace: Pace,
    open_streams: OpenStreams,
) -> AsyncIterator[bytes]:
    """Yield the events of an investigation until it ends, its reader leaves or time is up.

    A database that does not answer is waited for; whatever else goes wrong is the last event.
    """
    open_streams.now += 1
    try:
        yield f"retry: {RETRY_MS}\n\n".encode()
        async for part in _Stream(look, admit, pace).parts(Seen(seq=after), first):
            yield part
    except CairnError as error:
        yield written(TraceEvent(name="problem", data=from_error(error).content(None)))
    finally:
        open_streams.now -= 1


@dataclass(frozen=True, slots=True)
class _Stream:
    """Looks again and again."""

    look: Look
    admit: Callable[[], Any]
    pace: Pace

    async def parts(
        self, seen: Seen, found: tuple[InvestigationView, StepsView] | None
    ) -> AsyncIterator[bytes]:
        """Yield events, and comments while there are none."""
        now = began = told_at = admitted_at = answered_at = anyio.current_time()
        while now - began < self.pace.longest:
            if found is not None:
                answered_at = now
                events, seen = told(seen, *found)
                for event in events:
                    told_at = now
                    yield written(event)
                if found[1].ended:
                    return
            if now - told_at >= self.pace.heartbeat:
                told_at = now
                yield HEARTBEAT
            await anyio.sleep(self.pace.look)
            now = anyio.current_time()
            due = now - admitted_at >= self.pace.admission
            found = await self._found(seen.seq, admit=due, waited=now - answered_at)
            if due and found is not None:
                admitted_at = now

    async def _found(
        self, after: int, *, admit: bool, waited: float
    ) -> tuple[InvestigationView, StepsView] | None:
        """Return what is there for a key that is still good; None while the database is away."""
        try:
            if admit:
                await to_thread.run_sync(self.admit)
            return await to_thread.run_sync(partial(self.look, after))
        except Unavailable:
            if waited > self.pace.patience:
                raise
            return None


def _no_such_event() -> ValidationFailed:
    detail = "The last event id is that of a step_end event of this investigation, or 0."
    return ValidationFailed(
        detail, reason="last-event-id", errors=[FieldError("header.last-event-id", detail)]
    )
