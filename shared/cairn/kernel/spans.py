"""Spans: what a piece of work is called, how long it took, and whether it failed.

They go to the tracer that a deployment configures; without one nothing is measured and the trace
of `cairn.kernel.traces` is only carried on. Attributes are ids, codes, names of models and tools
and numbers: never a text of anybody. Not the export: `cairn.adapters.otlp`.
"""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from cairn.kernel.errors import CairnError
from cairn.kernel.traces import carried, current, within

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from contextlib import AbstractContextManager

Attributes: TypeAlias = "Mapping[str, str | bool | int | float | Sequence[str]]"


class Kind(StrEnum):
    """How a span stands to its parent, as OpenTelemetry names it."""

    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class Span(Protocol):
    """A piece of work under way. `traceparent` is what its parts carry, None without a trace."""

    @property
    def traceparent(self) -> str | None: ...

    def put(self, attributes: Attributes, /) -> None:
        """Add attributes."""
        ...

    def rename(self, name: str, /) -> None:
        """Give it a name that was not known when it began."""
        ...

    def fail(self, error_type: str, /) -> None:
        """Say that it failed, by a code or the name of a class."""
        ...

    def end(self) -> None:
        """Say that it is over."""
        ...


class Tracer(Protocol):
    """Where spans go. Never raises, never waits for a network."""

    def start(
        self,
        name: str,
        attributes: Attributes,
        *,
        kind: Kind,
        parent: str | None,
        links: Sequence[str] = (),
        ago: float = 0.0,
        own: str | None = None,
    ) -> Span:
        """Begin a span, `ago` seconds before now; without a `parent` it begins a trace.

        `own` is its traceparent where others have carried that before it was told of.
        """
        ...


class _Untold:
    """The span that nobody is told of: it carries the trace on."""

    def __init__(self, traceparent: str | None) -> None:
        self.traceparent = traceparent

    def put(self, attributes: Attributes, /) -> None: ...
    def rename(self, name: str, /) -> None: ...
    def fail(self, error_type: str, /) -> None: ...
    def end(self) -> None: ...


class _Exporting:
    """The process's tracer: one, set where the process is composed."""

    tracer: Tracer | None = None


def export_to(tracer: Tracer | None) -> None:
    """Let the spans of this process go to `tracer`; None for nowhere."""
    _Exporting.tracer = tracer


@contextmanager
def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Kind = Kind.INTERNAL,
    parent: str | None = None,
    links: Sequence[str] = (),
) -> Generator[Span]:
    """Measure what is done inside, a part of `parent` or else of the present trace.

    What leaves it as an exception is the failure's type; its message may quote data and stays out.
    """
    parent = parent or current()
    tracer = _Exporting.tracer
    if tracer is None:
        with within(parent):
            yield _Untold(parent)
        return
    begun = tracer.start(name, attributes or {}, kind=kind, parent=parent, links=links)
    try:
        with within(begun.traceparent):
            yield begun
    except BaseException as error:
        begun.fail(failure_of(error))
        raise
    finally:
        begun.end()


def passed(
    name: str,
    seconds: float,
    attributes: Attributes | None = None,
    *,
    failure: str | None = None,
    own: str | None = None,
) -> None:
    """Tell of work that ended now and took so long, as a part of the present trace.

    With `own`, a traceparent, it is that span itself, which others were parts of.
    """
    tracer = _Exporting.tracer
    if tracer is None:
        return
    parent = None if own else current()
    begun = tracer.start(
        name, attributes or {}, kind=Kind.INTERNAL, parent=parent, ago=seconds, own=own
    )
    if failure:
        begun.fail(failure)
    begun.end()


def received(record: Mapping[str, Any], what: str) -> AbstractContextManager[Span]:
    """Measure the work on a queue's record, a part of the trace that it carries."""
    attributes = {"messaging.system": "aws_sqs", "messaging.operation.type": "process"}
    return span(f"process {what}", attributes, kind=Kind.CONSUMER, parent=carried(record))


def failure_of(error: BaseException) -> str:
    """Return what a failure is called: the reason or code of one of ours, or its class."""
    return (error.reason or error.code) if isinstance(error, CairnError) else type(error).__name__
