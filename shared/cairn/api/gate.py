"""The gate of a server: a request waits here for its workspace's turn, before its body is read.

Whose a key is becomes known with its first request; until then a key has a line of its own. What
carries no key is refused or public elsewhere and passes. Authentication is not here.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, cast

from starlette.datastructures import Headers

from cairn.api.fairness import MOST_TENANTS, WEIGHED_BYTES, Fairness
from cairn.api.problems import from_error, problem_response
from cairn.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import Hashable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

READING = ("/v1/search", "/v1/context", "/v1/query/", "/v1/conversations/search")
"""Paths under which a POST reads."""

STREAMS = "/events"
"""A GET under `/v1/investigations/` that ends so lasts as long as its reader."""


class Gate:
    """Middleware: one slot of the workspace's share for each request, and its allowances."""

    def __init__(self, app: ASGIApp, *, fairness: Fairness) -> None:
        self.app = app
        self.fairness = fairness
        self._workspaces: OrderedDict[bytes, Hashable] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        given = headers.get("authorization")
        if given is None or _streams(scope):
            await self.app(scope, receive, send)
            return
        key = hashlib.sha256(given.encode("utf-8", errors="surrogatepass")).digest()
        tenant = self._workspaces.get(key, key)
        size, reads = _size(headers), _reads(scope)
        lane = self.fairness.reads if reads else self.fairness.writes
        try:
            self.fairness.require(tenant, "queries" if reads else "items", "bytes")
            async with lane.slot(tenant, 1 + size // WEIGHED_BYTES):
                await self.app(scope, receive, send)
        except RateLimited as error:
            await _drained(receive)
            response = problem_response(from_error(error), scope["state"]["request_id"])
            await response(scope, receive, send)
            return
        self._learn(key, scope["state"], size, reads=reads)

    def _learn(self, key: bytes, state: dict[str, Any], size: int, *, reads: bool) -> None:
        """Remember whose the key is, and charge what the request turned out to hold."""
        principal = state.get("principal")
        if principal is None:
            self.fairness.charge(key, "bytes", size)
            return
        tenant = principal.workspace_id
        self._workspaces[key] = tenant
        self._workspaces.move_to_end(key)
        if len(self._workspaces) > MOST_TENANTS:
            self._workspaces.popitem(last=False)
        self.fairness.charge(tenant, "bytes", size)
        self.fairness.charge(tenant, "queries" if reads else "items", _items(state.get("json")))


def _reads(scope: Scope) -> bool:
    return scope["method"] in ("GET", "HEAD") or scope["path"].startswith(READING)


def _streams(scope: Scope) -> bool:
    path: str = scope.get("path", "")
    return scope["type"] != "http" or (
        path.startswith("/v1/investigations/")
        and path.endswith(STREAMS)
        and scope["method"] == "GET"
    )


def _size(headers: Headers) -> int:
    """Return the body's length as declared; one that is not counts as heavy."""
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdecimal():
        return int(declared[:12])
    return 2**20 if "transfer-encoding" in headers else 0


def _items(body: object) -> int:
    """Return how many items a body had."""
    items = cast("dict[str, object]", body).get("items") if isinstance(body, dict) else None
    return max(1, len(cast("list[object]", items))) if isinstance(items, list) else 1


async def _drained(receive: Receive) -> None:
    """Read what the client still sends, so that it reads the answer."""
    message: Message = await receive()
    while message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
