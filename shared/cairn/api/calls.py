"""Keeps the record of what agents call: every MCP tool, and every request of an agent's key.

Outside of the call itself: the answer has been made, and over HTTP sent, when its record is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl

from anyio import to_thread

from cairn.api.problems import KINDS
from cairn.kernel.access import Role
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from cairn.api.middleware import Log
    from cairn.bootstrap.api import ApiServices
    from cairn.investigations.tool_calls import ApiCall
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch

TOO_MANY = 429
_PREFIX = "/v1/"
_READS = frozenset({"GET", "HEAD"})
_READING_ROUTES = frozenset({"/v1/search", "/v1/context", "/v1/conversations/search", "/v1/query"})


def keep_call(services: ApiServices, principal: Principal, call: ApiCall, log: Log) -> None:
    """Keep the record of a call that has ended; what cannot be kept is said in the log."""
    try:
        services.log_call(principal, call)
    except CairnError as error:
        fields = {"tool": call.tool, "error": error.code, "reason": error.reason}
        log.error("audit.call_not_kept", extra=fields)


class LogCalls:
    """Keeps a record of each request that an agent's or a public key makes under `/v1/`."""

    def __init__(
        self, app: ASGIApp, *, services: ApiServices, log: Log, stopwatch: Stopwatch
    ) -> None:
        self.app = app
        self.services = services
        self.log = log
        self.stopwatch = stopwatch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http" or not scope["path"].startswith(_PREFIX):
            await self.app(scope, receive, send)
            return
        started, status = self.stopwatch(), [500]

        async def seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            await send(message)

        await self.app(scope, receive, seen)
        principal: Principal | None = scope["state"].get("principal")
        if status[0] == TOO_MANY:  # it was not let in, and must not cost a write
            return
        if principal is not None and principal.role is not Role.ADMIN:
            call = _call(scope, status[0], self.stopwatch() - started)
            await to_thread.run_sync(keep_call, self.services, principal, call, self.log)


def _call(scope: Scope, status: int, seconds: float) -> ApiCall:
    from cairn.investigations.tool_calls import ApiCall

    route = getattr(scope.get("route"), "path", scope["path"].split("/")[2][:64])
    return ApiCall(
        tool=f"{scope['method']} {route}",
        reads=scope["method"] in _READS or route in _READING_ROUTES,
        given=_request_fields(scope),
        came={"status": status},
        error=_code(status) if status >= 400 else None,
        seconds=seconds,
    )


def _request_fields(scope: Scope) -> dict[str, Any]:
    query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    body: object = scope["state"].get("json")
    body_fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    return {**body_fields, **query, **scope.get("path_params", {})}


def _code(status: int) -> str:
    return next((kind.code for kind in KINDS.values() if kind.status == status), "internal")
