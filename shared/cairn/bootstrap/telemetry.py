"""Where the spans of a process go. Without a collector nothing of OpenTelemetry is imported."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.clock import monotonic
from cairn.kernel.spans import export_to, span
from cairn.kernel.traces import TRACEPARENT
from cairn.settings import collector_by_standard

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.adapters.otlp.spans import OtlpTracer

    Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


IDS = ("workspace_id", "ingestion_id", "run_id", "client_id", "rebuild_id")
"""What a span says of a machine's state: which machine's, and of what."""


class TelemetrySettings(Protocol):
    """Where the collector is, None where it is not said by a setting of ours."""

    @property
    def stage(self) -> str: ...
    @property
    def otlp_endpoint(self) -> str | None: ...


class _Process:
    """The tracer of this process, once there is one."""

    tracer: OtlpTracer | None = None


def tell_spans(service: str, settings: TelemetrySettings) -> None:
    """Let this process's spans go to the collector that is configured, if any."""
    if settings.otlp_endpoint is None and not collector_by_standard():
        return
    from cairn.adapters.otlp.spans import OtlpTracer

    _Process.tracer = OtlpTracer(
        f"cairn-{service}",
        stage=settings.stage,
        endpoint=settings.otlp_endpoint,
        stopwatch=monotonic,
    )
    export_to(_Process.tracer)


def flush_at_exit() -> None:
    """Send the last spans of a server when it ends."""
    if _Process.tracer is not None:
        import atexit

        from cairn.adapters.otlp.spans import EXPORT_SECONDS

        atexit.register(_Process.tracer.flush, EXPORT_SECONDS)


def invocation(handler: Handler) -> Handler:
    """Measure the states of machines that carry a trace, and send the spans of each invocation.

    They are sent before the function is frozen, in a bounded time.
    """

    @wraps(handler)
    def flushed(event: dict[str, Any], context: Any) -> dict[str, Any]:
        try:
            if TRACEPARENT not in event:
                return handler(event, context)
            ids = {f"cairn.{name}": str(event[name]) for name in IDS if event.get(name)}
            with span(f"step {event.get('step')}", ids, parent=event[TRACEPARENT]):
                return handler(event, context)
        finally:
            if _Process.tracer is not None:
                _Process.tracer.flush()

    return flushed
