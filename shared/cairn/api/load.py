"""What a request asks of its workspace's allowances. Not how much is allowed, nor the counting."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from starlette.datastructures import Headers

from cairn.kernel.access.allowances import Load

if TYPE_CHECKING:
    from starlette.types import Scope

RECEIVED = "received_bytes"
"""Where a request's state holds how much of its body has come."""

READING = ("/v1/search", "/v1/context", "/v1/query/", "/v1/conversations/search")
"""Paths under which a POST reads."""

WRITING = "/v1/context/compact"
"""The one under them that writes."""


def reads(scope: Scope) -> bool:
    """Return whether a request reads."""
    path = scope["path"]
    asks = path.startswith(READING) and not path.startswith(WRITING)
    return scope["method"] in ("GET", "HEAD") or asks


def load_of(scope: Scope) -> Load:
    """Return what a request asks for; its body has been read where it is parsed before this."""
    state = scope["state"]
    size = max(declared_bytes(Headers(scope=scope)) or 0, state.get(RECEIVED, 0))
    if reads(scope):
        return Load(queries=1, bytes=size)
    return Load(items=_items(state.get("json")), bytes=size)


def declared_bytes(headers: Headers) -> int | None:
    """Return the body's length as declared; None when it is not."""
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdecimal():
        return int(declared[:12])
    return None if "transfer-encoding" in headers else 0


def _items(body: object) -> int:
    """Return how many items a body has, or turns of a transcript."""
    fields = cast("dict[str, object]", body) if isinstance(body, dict) else {}
    items = fields.get("items", fields.get("messages"))
    return max(1, len(cast("list[object]", items))) if isinstance(items, list) else 1
