"""Server-sent events: how they are written and watched for, and an investigation's.

https://html.spec.whatwg.org/multipage/server-sent-events.html
A stream holds no connection of the database between two looks, and ends with its reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from starlette.responses import StreamingResponse

from cairn.api.answers import encode
from cairn.api.dependencies import require_working
from cairn.api.problems import Refused, from_error
from cairn.investigations.tracing import ReaderPosition, TraceEvent, events_after
from cairn.kernel.errors import CairnError, FieldError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from fastapi import Request, Response
    from starlette.types import Receive, Scope, Send

    from cairn.api.documentation import Responses
    from cairn.api.options import OpenStreams, Pace
    from cairn.bootstrap.api import ApiServices
    from cairn.investigations.views import InvestigationView, StepsView

MEDIA_TYPE = "text/event-stream"
HEARTBEAT = b": still here\n\n"
RETRY_MS = 2_000
PAGE = 200
MOST_STEPS = 2**31 - 1

Look = Callable[[], "tuple[Sequence[TraceEvent], bool]"]
"""Returns the events since its last call, and whether they were the last."""

Found = tuple["InvestigationView", "StepsView"]
"""An investigation and its steps after a number."""


def documented(what: str, example: str) -> Responses:
    """Document the events of a route that streams nothing else."""
    schema = {"type": "string", "description": "Server-sent events; data is JSON."}
    content = {MEDIA_TYPE: {"schema": schema, "example": example}}
    return {200: {"description": what, "content": content}}


def wanted(request: Request) -> bool:
    """Return whether a request asks for events rather than one answer."""
    return MEDIA_TYPE in request.headers.get("accept", "")


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


def resumed(view_and_steps: Found, seen: int) -> Found:
    """Return what comes after step `seen`, given what comes after the one before it.

    ValidationFailed when the investigation has no such step.
    """
    view, steps = view_and_steps
    if not seen:
        return view_and_steps
    if not steps.items or steps.items[0].seq != seen:
        raise _no_such_event()
    return view, replace(steps, items=steps.items[1:])


def written(event: TraceEvent) -> bytes:
    """Return an event as it goes over the wire; its JSON has no line breaks."""
    head = f"event: {event.name}\n"
    if event.id is not None:
        head += f"id: {event.id}\n"
    return head.encode() + b"data: " + encode(event.data) + b"\n\n"


def require_stream(request: Request, instead: str, *, reason: str) -> None:
    """Raise Refused where answers come whole; `instead` says what to do there."""
    if "aws.event" in request.scope:
        detail = f"Nothing can be streamed through this front door; {instead} instead."
        raise Refused("not-streamable", detail, reason=reason)


def readmission(services: ApiServices, request: Request) -> Callable[[], Any]:
    """Return what raises when a request's key is good no more."""
    key = request.headers["authorization"].split(" ", 1)[1].strip()

    def admit() -> None:
        require_working(services.admit(key).principal)

    return admit


def streaming(parts: AsyncIterator[bytes], open_streams: OpenStreams) -> Response:
    """Return the answer that takes a place among the open streams while it has a reader."""
    return HeldResponse(parts, open_streams.hold())


class HeldResponse(StreamingResponse):
    """A stream whose place is given back when its reader is gone, also before the first word."""

    def __init__(self, parts: AsyncIterator[bytes], leave: Callable[[], None]) -> None:
        super().__init__(
            _with_problem(parts), media_type=MEDIA_TYPE, headers={"x-accel-buffering": "no"}
        )
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream, and give the place back."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


async def _with_problem(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield parts; what goes wrong is the last event."""
    try:
        yield f"retry: {RETRY_MS}\n\n".encode()
        async for part in parts:
            yield part
    except CairnError as error:
        yield written(TraceEvent(name="problem", data=from_error(error).content(None)))


@dataclass(frozen=True, slots=True)
class Watch:
    """Looks again and again. A database that does not answer is waited for."""

    look: Look
    admit: Callable[[], Any]
    pace: Pace

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield events until the last, or time is up; comments while there are none."""
        now = began = told_at = admitted_at = answered_at = anyio.current_time()
        due = False
        while now - began < self.pace.longest:
            batch = await self._read_events(admit=due, waited=now - answered_at)
            if batch is not None:
                answered_at = now
                admitted_at = now if due else admitted_at
                events, ended = batch
                for event in events:
                    told_at = now
                    yield written(event)
                if ended:
                    return
            if now - told_at >= self.pace.heartbeat:
                told_at = now
                yield HEARTBEAT
            await anyio.sleep(self.pace.look)
            now = anyio.current_time()
            due = now - admitted_at >= self.pace.admission

    async def _read_events(
        self, *, admit: bool, waited: float
    ) -> tuple[Sequence[TraceEvent], bool] | None:
        """Return what is there for a key that is still good; None while the database is away."""
        try:
            if admit:
                await to_thread.run_sync(self.admit)
            return await to_thread.run_sync(self.look)
        except Unavailable:
            if waited > self.pace.patience:
                raise
            return None


@dataclass(slots=True)
class Steps:
    """Looks at an investigation: `found` first, then what is new after what was `seen`."""

    find: Callable[[int], Found]
    seen: ReaderPosition
    found: Found | None

    def __call__(self) -> tuple[Sequence[TraceEvent], bool]:
        """Return the events since the last call, and whether they were the last."""
        batch = self.found or self.find(self.seen.seq)
        self.found = None
        events, self.seen = events_after(self.seen, *batch)
        return events, batch[1].ended


def _no_such_event() -> ValidationFailed:
    detail = "The last event id is that of a step_end event of this investigation, or 0."
    return ValidationFailed(
        detail, reason="last-event-id", errors=[FieldError("header.last-event-id", detail)]
    )
