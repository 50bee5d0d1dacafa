"""Lines of JSON-RPC of any length in little memory: what is too long keeps its beginning.

Not the transport. A message above `MAX_LINE` bytes is never held: its first `HEAD` and last `TAIL`
bytes are, and become a shorter message with the same id whose text says nothing it did not say.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

from cairn.connectors.port import whole_words

MAX_LINE = 1_000_000
MAX_MESSAGE = 64_000_000
"""Bytes of one message; whoever sends more is not listened to any longer."""
HEAD = 256_000
TAIL = 1_024
SIZE_KEY = "cairn/size"
"""In the `_meta` of a shortened result: the bytes the message had."""

_ID_AT_THE_END = re.compile(
    rb'(?<!\\)"id"\s*:\s*(\d{1,18}|"[^"\\]{1,64}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$'
)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)
_FAILED = re.compile(rb'(?<!\\)"isError"\s*:\s*true')


class TooLong(ValueError):
    """A message was too long to be held, and does not say at either end what it answers."""


@dataclass(slots=True)
class Lines:
    """Cuts a stream into lines, in memory of at most `MAX_LINE` and a chunk."""

    _buffer: bytearray = field(default_factory=bytearray)
    _tail: bytes = b""
    _size: int = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes, without their ends, too long ones shortened.

        Raises TooLong.
        """
        done: list[bytes] = []
        *complete, rest = chunk.split(b"\n")
        for piece in complete:
            self._take(piece)
            done.append(self.end())
        self._take(rest)
        return done

    @property
    def size(self) -> int:
        """Return how many bytes have come of the line that has not ended yet."""
        return self._size

    def end(self) -> bytes:
        """Return what has come of the line so far, and begin another."""
        if self._size > len(self._buffer):
            line = shortened(bytes(self._buffer), self._tail, self._size)
        else:
            line = bytes(self._buffer)
        self._buffer.clear()
        self._tail, self._size = b"", 0
        return line

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= MAX_LINE:
            self._buffer += piece
            return
        before = self._tail or bytes(self._buffer[-TAIL:])
        self._tail = (before + piece)[-TAIL:]
        if len(self._buffer) < HEAD:
            self._buffer += piece[: HEAD - len(self._buffer)]
        del self._buffer[HEAD:]


def mended(line: bytes) -> bytes:
    """Return a line with U+FFFD for each half of a character, escaped or not.

    Servers cut texts in the middle of an emoji; strict readers refuse the whole message for it.
    """
    if _HALF.search(line):
        line = _ESCAPE.sub(lambda item: rb"\ufffd" if item[1] else item[0], line)
    return line.decode("utf-8", "replace").encode()


def shortened(head: bytes, tail: bytes, size: int) -> bytes:
    """Return a JSON-RPC answer that stands for one of `size` bytes; TooLong without an id."""
    prefix = b"data:" if head.startswith(b"data:") else b""
    begun = _begun(head.removeprefix(prefix))
    match = _ID_AT_THE_END.search(tail)
    id_ = begun.get("id", json.loads(match.group(1)) if match else None)
    if not isinstance(id_, int | str) or isinstance(id_, bool):
        raise TooLong
    result = begun.get("result")
    answer = {
        "jsonrpc": "2.0",
        "id": id_,
        "result": {
            "content": [{"type": "text", "text": whole_words(_text(result))}],
            "isError": _FAILED.search(tail) is not None or _said_failed(result),
            "_meta": {SIZE_KEY: size},
        },
    }
    return prefix + json.dumps(answer).encode()


def _begun(head: bytes) -> dict[str, Any]:
    from pydantic_core import from_json

    text = mended(head.decode("utf-8", "ignore").encode()).decode()
    for cut in (0, 1, 6, 12):  # an escape may have been cut in two
        try:
            begun = from_json(text[: len(text) - cut], allow_partial="trailing-strings")
        except ValueError:
            continue
        return cast("dict[str, Any]", begun) if isinstance(begun, dict) else {}
    return {}


def _text(result: object) -> str:
    if not isinstance(result, dict):
        return ""
    content = cast("dict[str, Any]", result).get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    texts = [
        cast("dict[str, Any]", block).get("text")
        for block in blocks
        if isinstance(block, dict) and cast("dict[str, Any]", block).get("type") == "text"
    ]
    joined = "\n".join(text for text in texts if isinstance(text, str))
    return joined or json.dumps(result, ensure_ascii=False)


def _said_failed(result: object) -> bool:
    return isinstance(result, dict) and cast("dict[str, Any]", result).get("isError") is True
