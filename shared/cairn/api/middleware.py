"""What wraps every request: its id, its log line, its headers, the body limit, and the last catch.

Plain ASGI, so that streaming answers stay streams. Authentication is not here (dependencies.py).
"""

import re
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cairn.api.load import RECEIVED
from cairn.api.problems import Refused, from_http, problem_response, unexpected
from cairn.kernel.clock import Stopwatch
from cairn.kernel.ids import IdSource
from cairn.kernel.spans import Kind, Span, span
from cairn.kernel.traces import TRACEPARENT, trace_id_of, within

if TYPE_CHECKING:
    from cairn.reading.views import RateDecision


class Log(Protocol):
    """Writes one structured line: an event's name and its fields, as the powertools logger does.

    It is never given a body, a query, a name or a key.
    """

    def info(self, msg: object, /, *, extra: Mapping[str, object]) -> None: ...
    def error(self, msg: object, /, *, extra: Mapping[str, object]) -> None: ...


REQUEST_ID = "x-request-id"
METHODS = frozenset(
    {"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
)
"""What a span says of a request's method; anything else is a text of the caller's."""

_WELL_FORMED_ID = re.compile(r"[A-Za-z0-9._\-]{8,128}")
SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "strict-transport-security": "max-age=31536000",
    "cache-control": "no-store",
}


class RequestContext:
    """Gives a request its id, times it, logs one line and answers what nobody else caught.

    A caller's `X-Request-Id` is kept when it is 8 to 128 letters, digits, dots, dashes or
    underscores; otherwise a new one is made.
    """

    def __init__(self, app: ASGIApp, *, log: Log, new_id: IdSource, stopwatch: Stopwatch) -> None:
        self.app = app
        self.log = log
        self.new_id = new_id
        self.stopwatch = stopwatch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = self.stopwatch()
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = self._request_id(scope)
        status: list[int] = []

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])
                _add_headers(MutableHeaders(raw=message.setdefault("headers", [])), state)
            await send(message)

        trace_id: str | None = None
        try:
            with within(Headers(scope=scope).get(TRACEPARENT)), _served(scope, status) as measured:
                trace_id = trace_id_of(measured.traceparent)
                await self.app(scope, receive, send_with_headers)
        except Exception as exc:  # noqa: BLE001 - the last catch: a bug becomes a 500, and is logged
            fields = {"request_id": state["request_id"], **where(exc)}
            self.log.error("unexpected", extra=fields)
            if not status:
                response = problem_response(unexpected(), state["request_id"])
                await response(scope, receive, send_with_headers)
        line = _line(scope, state, status, self.stopwatch() - started, trace_id)
        self.log.info("request", extra=line)

    def _request_id(self, scope: Scope) -> str:
        header = Headers(scope=scope).get(REQUEST_ID, "")
        return header if _WELL_FORMED_ID.fullmatch(header) else str(self.new_id())


CONSOLE = "/console/"
MOST_PASSED_OVER = 64 * 1024 * 1024
"""Bytes of a refused form that are read and dropped, so that its browser reads the answer."""


class BodyLimit:
    """Refuses bodies above `max_bytes`: by Content-Length at once, otherwise while they stream.

    Who sent a form of the console is told by a page, once the form has come: a browser that is
    still sending does not listen.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self.max_bytes:
            await (await self._answer(scope, receive))(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            scope["state"][RECEIVED] = received
            if received > self.max_bytes:
                raise self._refusal()
            return message

        await self.app(scope, counted, send)

    async def _answer(self, scope: Scope, receive: Receive) -> ASGIApp:
        """Return the refusal as a page for a person, as a problem for a program."""
        refusal = self._refusal()
        if not scope["path"].startswith(CONSOLE):
            return problem_response(from_http(refusal), scope["state"]["request_id"])
        passed, more = 0, True
        while more and passed < MOST_PASSED_OVER:
            message = await receive()
            passed += len(message.get("body", b""))
            more = message["type"] == "http.request" and message.get("more_body", False)
        from cairn.api.console.pages import too_large

        return too_large(refusal.kind.title, self.max_bytes)

    def _refusal(self) -> Refused:
        detail = f"A request body may have {self.max_bytes} bytes; send large documents by upload."
        return Refused("too-large", detail, reason="body")


def _add_headers(headers: MutableHeaders, state: Mapping[str, Any]) -> None:
    headers[REQUEST_ID] = state["request_id"]
    for name, value in SECURITY_HEADERS.items():
        headers.setdefault(name, value)
    rate: RateDecision | None = state.get("rate")
    if rate is not None:
        headers["ratelimit-limit"] = str(rate.limit)
        headers["ratelimit-remaining"] = str(max(0, rate.remaining))
        headers["ratelimit-reset"] = str(rate.window)


def _line(
    scope: Scope,
    state: Mapping[str, Any],
    status: list[int],
    seconds: float,
    trace_id: str | None,
) -> dict[str, object]:
    route = scope.get("route")
    principal = state.get("principal")
    return {
        "method": scope["method"],
        "route": getattr(route, "path", None),
        "status": status[0] if status else 500,
        "ms": round(seconds * 1000, 2),
        "request_id": state["request_id"],
        "workspace_id": str(principal.workspace_id) if principal else None,
        **({"trace_id": trace_id} if trace_id else {}),
    }


@contextmanager
def _served(scope: Scope, status: list[int]) -> Generator[Span]:
    """Measure a request by its route: its path may hold names of people."""
    method = scope["method"] if scope["method"] in METHODS else "_OTHER"
    with span(method, {"http.request.method": method}, kind=Kind.SERVER) as measured:
        try:
            yield measured
        finally:
            _describe(measured, method, scope, status[0] if status else 500)


def _describe(measured: Span, method: str, scope: Scope, status: int) -> None:
    state = scope["state"]
    attributes: dict[str, str | int] = {
        "http.response.status_code": status,
        "cairn.request_id": state["request_id"],
    }
    if route := getattr(scope.get("route"), "path", None):
        measured.rename(f"{method} {route}")
        attributes["http.route"] = route
    if principal := state.get("principal"):
        attributes["cairn.workspace_id"] = str(principal.workspace_id)
    measured.put(attributes)
    if status >= 500:
        measured.fail(str(status))


def where(exc: Exception) -> dict[str, object]:
    """Return the error's class and stack; its message may quote data, so it stays out."""
    frames = traceback.extract_tb(exc.__traceback__)
    stack = [f"{each.filename}:{each.lineno} {each.name}" for each in frames[-12:]]
    return {"error": type(exc).__name__, "stack": stack}
