"""What browsers are told of the chat widget's door: which pages of which origins may ask it.

Each widget has origins of its own, so that this is no list of the deployment's (`cors_origins`). It
stands before everything that refuses, so that a page can read why it was refused. A page of another
origin is told nothing; whoever is no browser is held to the limits of the door.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from cairn.api.middleware import REQUEST_ID
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from cairn.bootstrap.api import ApiServices
    from cairn.chat.widget import Widget

DOOR = re.compile(r"/v1/widget/([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:/.*)?")
METHODS = "GET, POST"
HEADERS = "authorization, content-type"
SECONDS = "600"


class WidgetOrigins:
    """Middleware: answers what browsers ask before they ask, and says who may read answers."""

    def __init__(self, app: ASGIApp, *, services: ApiServices) -> None:
        self.app = app
        self.services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        match = DOOR.fullmatch(scope["path"]) if scope["type"] == "http" else None
        if match is None:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        widget = await to_thread.run_sync(self._find, UUID(match[1])) if origin else None
        scope.setdefault("state", {})["widget"] = widget
        allowed = origin if widget is not None and widget.allows(origin) else None
        preflight = scope["method"] == "OPTIONS" and "access-control-request-method" in headers

        async def send_with_origin(message: Message) -> None:
            if message["type"] == "http.response.start":
                tell_origin(MutableHeaders(raw=message.setdefault("headers", [])), allowed)
            await send(message)

        if preflight:
            response = Response(status_code=204 if allowed else 403)
            if allowed:
                response.headers["access-control-allow-methods"] = METHODS
                response.headers["access-control-allow-headers"] = HEADERS
                response.headers["access-control-max-age"] = SECONDS
            await response(scope, receive, send_with_origin)
            return
        await self.app(scope, receive, send_with_origin)

    def _find(self, widget_id: UUID) -> Widget | None:
        try:
            return self.services.widgets.find(widget_id)
        except CairnError:
            return None


def tell_origin(headers: MutableHeaders, allowed: str | None) -> None:
    """Say which origin may read an answer; none but that one."""
    headers.add_vary_header("origin")
    for name in ("access-control-allow-credentials", "access-control-allow-origin"):
        if name in headers:
            del headers[name]
    if allowed is not None:
        headers["access-control-allow-origin"] = allowed
        headers["access-control-expose-headers"] = f"retry-after, {REQUEST_ID}"
