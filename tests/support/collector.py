"""A collector of spans: an HTTP server that decodes OTLP, and can hang or refuse."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as a collector has it; ids in hexadecimal digits."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    attributes: dict[str, Any]
    links: tuple[str, ...]
    failed: bool
    seconds: float

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-01"


@dataclass
class Collector:
    """What came. `status` is what is answered; while `hangs` is set, nothing is."""

    spans: list[ReceivedSpan] = field(default_factory=list[ReceivedSpan])
    bodies: list[bytes] = field(default_factory=list[bytes])
    headers: dict[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    status: int = 200
    requests: int = 0
    hangs: bool = False
    released: Event = field(default_factory=Event)
    changed: Condition = field(default_factory=Condition)

    def wait_for(self, *names: str, seconds: float = 20) -> dict[str, ReceivedSpan]:
        """Return the spans by name as soon as one of each of these names is there."""
        with self.changed:
            there = self.changed.wait_for(
                lambda: set(names) <= {each.name for each in self.spans}, seconds
            )
            by_name = {each.name: each for each in self.spans}
        assert there, f"no {set(names) - set(by_name)} among {sorted(by_name)}"
        return by_name

    def of_trace(self, trace_id: str) -> set[str]:
        """Return the names of the spans of a trace."""
        return {each.name for each in self.spans if each.trace_id == trace_id}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)


def _decoded(body: bytes) -> Iterator[ReceivedSpan]:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        about = {each.key: _value(each.value) for each in resource.resource.attributes}
        for each in (each for scope in resource.scope_spans for each in scope.spans):
            yield ReceivedSpan(
                service=about["service.name"],
                name=each.name,
                trace_id=each.trace_id.hex(),
                span_id=each.span_id.hex(),
                parent_id=each.parent_span_id.hex(),
                kind=each.kind,
                attributes={item.key: _value(item.value) for item in each.attributes},
                links=tuple(link.trace_id.hex() for link in each.links),
                failed=each.status.code == 2,
                seconds=(each.end_time_unix_nano - each.start_time_unix_nano) / 1e9,
            )


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector on a free port of this machine."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with collector.changed:
                collector.requests += 1
                collector.changed.notify_all()
            if collector.hangs:
                collector.released.wait(30)
                return
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            assert self.path == "/v1/traces"
            assert self.headers["content-type"] == "application/x-protobuf"
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(collector.status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            with collector.changed:
                collector.headers = dict(self.headers)
                collector.bodies.append(body)
                collector.spans += _decoded(body)
                collector.changed.notify_all()

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collector
    finally:
        collector.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
