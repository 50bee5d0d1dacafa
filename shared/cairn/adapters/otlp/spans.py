"""The OpenTelemetry SDK as the tracer of this process, and a flush that waits no longer than said.

The provider is our own and never the global one: libraries that instrument themselves would put
prompts into spans. Spans wait in a queue of bounded length, which drops what it has no room for.
"""

from __future__ import annotations

import time
from queue import SimpleQueue
from threading import Event, Thread, local
from types import MappingProxyType
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

from cairn.kernel.spans import Kind
from cairn.kernel.traces import parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.spans import Attributes

MOST_WAITING = 4096
"""Spans that wait for the collector, at the most: some 4 MB."""

EXPORT_SECONDS = 2.0
"""How long one request to the collector may take, trying again included."""

FLUSH_SECONDS = 0.5
"""How long the end of an invocation waits for the collector."""

PAUSE_SECONDS = 30.0
"""How long invocations do not wait at all after the collector kept one waiting."""

_KINDS = MappingProxyType({kind: trace.SpanKind[kind.name] for kind in Kind})


class _Ids(RandomIdGenerator):
    """Random ids, but for the span whose ids were carried before it was told of."""

    def __init__(self) -> None:
        self._own = local()

    def take(self, context: trace.SpanContext | None) -> None:
        """Let the next span of this thread have these ids; None for random ones."""
        self._own.context = context

    def generate_span_id(self) -> int:
        context: trace.SpanContext | None = getattr(self._own, "context", None)
        return context.span_id if context else super().generate_span_id()

    def generate_trace_id(self) -> int:
        context: trace.SpanContext | None = getattr(self._own, "context", None)
        return context.trace_id if context else super().generate_trace_id()


class OtlpSpan:
    """A span of the SDK, as `Span`."""

    def __init__(self, begun: trace.Span) -> None:
        context = begun.get_span_context()
        self._span = begun
        self.traceparent: str | None = (
            f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"
        )

    def put(self, attributes: Attributes, /) -> None:
        """As `Span`."""
        self._span.set_attributes(dict(attributes))

    def rename(self, name: str, /) -> None:
        """As `Span`."""
        self._span.update_name(name)

    def fail(self, error_type: str, /) -> None:
        """As `Span`."""
        self._span.set_attribute("error.type", error_type)
        self._span.set_status(trace.StatusCode.ERROR)

    def end(self) -> None:
        """As `Span`."""
        self._span.end()


class OtlpTracer:
    """Spans of one process, sent by a thread of its own. Safe between threads."""

    def __init__(
        self, service: str, *, stage: str, endpoint: str | None, stopwatch: Stopwatch
    ) -> None:
        """`endpoint` is the base address of a collector, None where the SDK's variables say it."""
        self._ids = _Ids()
        self._batches = BatchSpanProcessor(
            OTLPSpanExporter(
                endpoint=f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None,
                timeout=EXPORT_SECONDS,
            ),
            max_queue_size=MOST_WAITING,
        )
        self._provider = TracerProvider(
            resource=Resource.create(
                {"service.name": service, "deployment.environment.name": stage}
            ),
            id_generator=self._ids,
            shutdown_on_exit=False,  # it waits for half a minute
        )
        self._provider.add_span_processor(self._batches)
        self._tracer = self._provider.get_tracer("cairn")
        self._stopwatch = stopwatch
        self._paused_until = 0.0
        self._flushes: SimpleQueue[Event] = SimpleQueue()
        Thread(target=self._flush_when_asked, name="spans", daemon=True).start()

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
    ) -> OtlpSpan:
        """As `Tracer`."""
        above = _context_of(parent)
        linked = [trace.Link(context) for link in links if (context := _context_of(link))]
        self._ids.take(_context_of(own))
        try:
            begun = self._tracer.start_span(
                name,
                context=trace.set_span_in_context(
                    trace.NonRecordingSpan(above) if above else trace.INVALID_SPAN
                ),
                kind=_KINDS[kind],
                attributes=dict(attributes),
                links=linked,
                start_time=time.time_ns() - round(ago * 1e9),
            )
        finally:
            self._ids.take(None)
        return OtlpSpan(begun)

    def flush(self, seconds: float = FLUSH_SECONDS) -> bool:
        """Send what waits, and return whether it was taken off the queue within `seconds`.

        Before a function is frozen. A collector that keeps one flush waiting is not waited for
        again for a while; the sending goes on whenever the process runs.
        """
        if self._stopwatch() < self._paused_until:
            return False
        done = Event()
        self._flushes.put(done)
        in_time = done.wait(seconds)
        if not in_time:
            self._paused_until = self._stopwatch() + PAUSE_SECONDS
        return in_time

    def _flush_when_asked(self) -> None:
        while True:
            done = self._flushes.get()
            self._batches.force_flush()  # takes no time limit of its own
            done.set()


def _context_of(traceparent: str | None) -> trace.SpanContext | None:
    good = parsed(traceparent)
    if good is None:
        return None
    return trace.SpanContext(
        trace_id=int(good[3:35], 16),
        span_id=int(good[36:52], 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(int(good[53:55], 16)),
    )
