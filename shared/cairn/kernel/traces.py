"""The trace that a piece of work belongs to: W3C trace context, from an edge to what it writes.

Edges (the API, queues, machines) enter a trace; entries, messages and calls made meanwhile carry it
on. Not a tracer: nothing is timed here, and no span of our own comes between.
https://www.w3.org/TR/trace-context/
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from uuid import UUID

TRACEPARENT = "traceparent"
"""The name of the header, the message attribute and the field of an execution's input."""

_WELL_FORMED = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-[ -~]{0,200})?"
)
SESSION = "cairn-session-id"
"""A header: what a run on behalf of a conversation writes comes of that conversation."""

_PRESENT: ContextVar[str | None] = ContextVar("cairn_traceparent", default=None)


def parsed(header: str | None) -> str | None:
    """Return a traceparent as version 00 writes it; None for what is none, as W3C asks for.

    Of a later version, the part that version 00 knows is kept.
    """
    text = (header or "").strip()
    if not _WELL_FORMED.fullmatch(text) or (text.startswith("00") and len(text) != 55):
        return None
    return f"00{text[2:55]}"


def trace_id_of(traceparent: str | None) -> str | None:
    """Return the trace id, 32 hexadecimal digits; None without a good traceparent."""
    good = parsed(traceparent)
    return good[3:35] if good else None


def begun(new_id: UUID) -> str:
    """Return the traceparent of a trace that begins here, made of a fresh id; it is sampled."""
    return f"00-{new_id.hex}-{new_id.hex[16:]}-01"


def joined(trace_id: str | None, new_id: UUID) -> str:
    """Return the traceparent of a part of work in a trace; of a trace of its own without one."""
    own = begun(new_id)
    return parsed(f"00-{trace_id}{own[35:]}") or own


def carried(record: Mapping[str, Any]) -> str | None:
    """Return the traceparent that a queue's record carries as an attribute."""
    attribute = record.get("messageAttributes", {}).get(TRACEPARENT, {})
    return parsed(attribute.get("stringValue"))


def current() -> str | None:
    """Return the traceparent of the present work, None when it belongs to no trace."""
    return _PRESENT.get()


def current_trace_id() -> str | None:
    """Return the trace id of the present work."""
    return trace_id_of(current())


@contextmanager
def within(traceparent: str | None) -> Generator[None]:
    """Let what is done inside belong to this trace; a bad or missing one is no trace."""
    token = _PRESENT.set(parsed(traceparent))
    try:
        yield
    finally:
        _PRESENT.reset(token)
