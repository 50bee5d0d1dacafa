"""The gate of a server: a request waits here for its workspace's turn, before its body is read.

Who has used up an allowance is told so again here, without asking the database.
Whose a key is becomes known with its first request; until then a key has a line of its own. What
carries no key is refused or public elsewhere and passes. Authentication is not here.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers

from cairn.api.fairness import MOST_TENANTS, WEIGHED_BYTES, Fairness
from cairn.api.load import declared_bytes, reads
from cairn.api.problems import from_error, problem_response
from cairn.kernel.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import Hashable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAMS = "/events"
"""A GET under one of `FOLLOWED` that ends so lasts as long as its reader."""

FOLLOWED = ("/v1/investigations/", "/v1/chat/", "/v1/widget/")
CHAT = "/v1/chat"
"""A POST there lasts as long as a model takes; what it does meanwhile is short."""

WIDGET, SAID = "/v1/widget/", "/messages"
"""What a widget is told, and said: as long as a POST to `CHAT`."""


class Gate:
    """Middleware: one slot of the workspace's share for each request."""

    def __init__(self, app: ASGIApp, *, fairness: Fairness) -> None:
        self.app = app
        self.fairness = fairness
        self._workspaces: OrderedDict[bytes, Hashable] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        widget = _widget_of(scope)
        header = widget or headers.get("authorization")
        if header is None or _streams(scope):
            await self.app(scope, receive, send)
            return
        key = hashlib.sha256(header.encode("utf-8", errors="surrogatepass")).digest()
        tenant = self._workspaces.get(key, key)
        reading = reads(scope)
        lane = self.fairness.reads if reading else self.fairness.writes
        try:
            self.fairness.require(tenant, reads=reading)
            async with lane.slot(tenant, 1 + _size(headers) // WEIGHED_BYTES):
                await self.app(scope, receive, send)
        except RateLimited as error:
            await _drained(receive)
            response = problem_response(from_error(error), scope["state"]["request_id"])
            await response(scope, receive, send)
            return
        if widget is None:
            self._learn(key, scope["state"], reading=reading)

    def _learn(self, key: bytes, state: dict[str, Any], *, reading: bool) -> None:
        """Remember whose the key is, and what the workspace was refused."""
        principal = state.get("principal")
        if principal is None:
            return
        tenant = principal.workspace_id
        self._workspaces[key] = tenant
        self._workspaces.move_to_end(key)
        if len(self._workspaces) > MOST_TENANTS:
            self._workspaces.popitem(last=False)
        if (refused := state.get("refused")) is not None:
            self.fairness.refuse(tenant, refused, reads=reading)


def _streams(scope: Scope) -> bool:
    path: str = scope.get("path", "")
    if scope["type"] != "http":
        return True
    follows = path.startswith(FOLLOWED) and path.endswith(STREAMS) and scope["method"] == "GET"
    speaks = path == CHAT or (path.startswith(WIDGET) and path.endswith(SAID))
    return follows or (speaks and scope["method"] == "POST")


def _widget_of(scope: Scope) -> str | None:
    """Return the widget that is asked: strangers' requests wait in a line of their own.

    However many sessions they open, none of them takes a place of the workspace's keys.
    """
    path: str = scope.get("path", "") if scope["type"] == "http" else ""
    return path[: len(WIDGET) + 36] if path.startswith(WIDGET) else None


def _size(headers: Headers) -> int:
    """Return the body's length; one that is not declared counts as heavy."""
    declared = declared_bytes(headers)
    return 2**20 if declared is None else declared


async def _drained(receive: Receive) -> None:
    """Read what the client still sends, so that it reads the answer."""
    message: Message = await receive()
    while message["type"] == "http.request" and message.get("more_body"):
        message = await receive()
