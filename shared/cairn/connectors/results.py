"""A tool's answer as text: blocks joined, cleaned, cut. Not redacted: whoever shows it does so."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, cast

from cairn.connectors.cleaning import plain, whole_words
from cairn.connectors.lines import SIZE_KEY
from cairn.connectors.manifest import ERROR_KEY, OUTCOME_UNKNOWN, UNAUTHORIZED
from cairn.connectors.port import MAX_RESULT_BYTES, TRUNCATED


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool said, with `code` as its declared error when it gave one."""

    text: str
    is_error: bool
    truncated: bool
    code: str | None

    @property
    def is_unauthorised(self) -> bool:
        """Return whether the connector's own sign-in is no longer good."""
        return self.is_error and self.code == UNAUTHORIZED

    @property
    def is_unknown(self) -> bool:
        """Return whether the connector itself does not know whether the call happened."""
        return self.is_error and self.code == OUTCOME_UNKNOWN


def read_answer(result: dict[str, Any]) -> Answer:
    """Read a `tools/call` result in its JSON form."""
    meta = cast("dict[str, Any]", result.get("_meta") or {})
    text, said = plain(_joined(result)), meta.get(SIZE_KEY)
    size = said if isinstance(said, int) else len(text.encode())
    return Answer(
        text=bounded(text, size),
        is_error=result.get("isError") is True,
        truncated=size > MAX_RESULT_BYTES,
        code=_code(result, meta),
    )


def _joined(result: dict[str, Any]) -> str:
    blocks = cast("list[dict[str, Any]]", result.get("content") or [])
    if not blocks and result.get("structuredContent") is not None:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(_block(one) for one in blocks)


def _block(block: dict[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource":
        inside = cast("dict[str, Any]", block.get("resource") or {})
        return str(inside.get("text") or f"[{inside.get('uri')}, not text]")
    if kind == "resource_link":
        return f"[{block.get('name')}: {block.get('uri')}]"
    return f"[{block.get('mimeType') or kind}, not text]"


def bounded(text: str, size: int | None = None) -> str:
    """Return the text in at most `MAX_RESULT_BYTES`, with the marker when it had more.

    `size` are the bytes it had before somebody else shortened it.
    """
    encoded = text.encode()
    size = len(encoded) if size is None else size
    if size <= MAX_RESULT_BYTES:
        return text
    marker = TRUNCATED.format(size=size)
    most = MAX_RESULT_BYTES - len(marker.encode())
    if len(encoded) > most:
        text = whole_words(encoded[:most].decode("utf-8", "ignore"))
    return text + marker


def _code(result: dict[str, Any], meta: dict[str, Any]) -> str | None:
    said = meta.get(ERROR_KEY)
    if said is None and isinstance(result.get("structuredContent"), dict):
        error = cast("dict[str, Any]", result["structuredContent"]).get("error")
        said = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
    return said if isinstance(said, str) else None
