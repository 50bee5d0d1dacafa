"""Reads a JSON or NDJSON file of another program, whole or line by line. Not what is in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.kernel.errors import ValidationFailed
from cairn.memories.foreign.items import Named, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""A larger file must have a record a line: this much JSON is read at once."""

LINES = (".ndjson", ".jsonl")


def read_export(path: Path) -> Iterator[Named | Unreadable]:
    """Yield the one document of a JSON file, or the record of each line of an NDJSON file.

    A file is NDJSON when its name says so, or when its first line is a whole JSON value and others
    follow. A bad line is Unreadable and the others stand; ValidationFailed when the file is no
    JSON, no UTF-8, empty, or too large.
    """
    if path.suffix.lower() in LINES or _first_line_is_whole(path):
        yield from _lines(path)
    else:
        yield Named(name=path.name, value=_document(path))


def _first_line_is_whole(path: Path) -> bool:
    with path.open("rb") as file:
        first = file.readline(MAX_LINE_BYTES)
        more = any(line.strip() for line in iter(lambda: file.readline(65_536), b""))
    if not more or not first.strip():
        return False
    try:
        _parsed(first)
    except ValueError:
        return False
    return True


def _document(path: Path) -> Any:
    size = path.stat().st_size
    if size > MAX_DOCUMENT_BYTES:
        raise ValidationFailed(
            f"{path.name} has {size} bytes; more than {MAX_DOCUMENT_BYTES} must be a record a line."
        )
    content = path.read_bytes()
    if not content.strip():
        raise ValidationFailed(f"{path.name} is empty.")
    try:
        return _parsed(content)
    except ValueError as exc:
        raise ValidationFailed(f"{path.name} is not whole JSON: {_why(exc)}.") from exc


def _lines(path: Path) -> Iterator[Named | Unreadable]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            name = f"line {number}"
            if len(line) > MAX_LINE_BYTES:
                while not line.endswith(b"\n") and (line := file.readline(MAX_LINE_BYTES)):
                    pass
                yield Unreadable(name=name, why=f"is longer than {MAX_LINE_BYTES} bytes")
            elif line.strip():
                yield _line(name, line)


def _line(name: str, line: bytes) -> Named | Unreadable:
    try:
        return Named(name=name, value=_parsed(line))
    except ValueError as exc:
        return Unreadable(name=name, why=f"is not JSON: {_why(exc)}")


def _parsed(content: bytes) -> Any:
    """Return the value; ValueError for what is no JSON, no UTF-8, NaN, or nested too deeply."""
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_refused)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _why(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is no UTF-8"
    return str(error)
