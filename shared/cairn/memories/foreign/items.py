"""Exports of other stores: read within bounds, made memories to write; what is unreadable."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.kernel.access import Scope
from cairn.kernel.errors import ValidationFailed
from cairn.memories.audit.records import MemoryRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from cairn.memories.items import NewMemory


MAX_NAME = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What an export does not say: the client its memories belong to, and who may see them."""

    client_id: str = "global"
    scope: Scope = Scope.ADMIN


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportValue:
    """A JSON value of an export, and how to name it to a person: `results[3]`, `line 7`."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """A memory as it would be written. `record` is its id over there; `ended`: it holds no more."""

    name: str
    record: str
    new: NewMemory
    recorded_at: datetime | None
    ended: bool = False

    def to_record(self) -> MemoryRecord:
        """Return what an audit compares: memories of one client and the same persons."""
        new = self.new
        return MemoryRecord(
            id=self.record,
            text=new.text,
            audience="|".join((new.client_id, *sorted(new.data_subjects))),
            kind=str(new.type),
            source=new.source_agent,
            recorded_at=self.recorded_at,
            active=not self.ended,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A record of an export that is no memory, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A record that lost what it belongs to."""

    record: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A record that has no place here, and why: nothing is wrong with it."""

    name: str
    why: str


Item = ForeignMemory | Unreadable | Lost | Skipped


class Fields:
    """The fields of one record, checked as they are taken; ValidationFailed names the field."""

    def __init__(self, item: ExportValue) -> None:
        value: object = item.value
        if not isinstance(value, dict):
            raise ValidationFailed(f"is {a_kind(value)}, not an object")
        self._value = cast("Mapping[str, Any]", value)

    def text(self, field: str) -> str:
        """Return a text that must be there."""
        value = self.optional(field)
        if value is None or not value.strip():
            raise ValidationFailed(f"{field} is missing" if value is None else f"{field} is empty")
        return value

    def optional(self, field: str) -> str | None:
        """Return a text, None when there is none."""
        value = self._value.get(field)
        if value is not None and not isinstance(value, str):
            raise ValidationFailed(f"{field} is {a_kind(value)}, not a text")
        return value

    def name(self, field: str) -> str | None:
        """Return a short text, None when it is empty; longer ones are refused."""
        value = self.optional(field)
        if value is not None and len(value) > MAX_NAME:
            raise ValidationFailed(f"{field} is longer than {MAX_NAME} characters")
        return value or None

    def time(self, field: str) -> datetime | None:
        """Return a moment; one without a zone is taken for UTC, as these stores write it."""
        value = self.optional(field)
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except ValueError as exc:
            raise ValidationFailed(f"{field} is no time: {value[:40]}") from exc
        return moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)

    def object(self, field: str) -> Mapping[str, Any]:
        """Return an object, an empty one when there is none."""
        value = self._value.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ValidationFailed(f"{field} is {a_kind(value)}, not an object")
        return cast("Mapping[str, Any]", value)

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of texts, an empty one when there is none."""
        value = self._value.get(field)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise ValidationFailed(f"{field} is {a_kind(value)}, not a list")
        items = cast("list[object]", value)
        if not all(isinstance(item, str) for item in items):
            raise ValidationFailed(f"{field} holds something other than texts")
        return tuple(cast("list[str]", items))


def a_kind(value: object) -> str:
    """Return what a JSON value is, in words."""
    return _KINDS.get(type(value).__name__, "null")


_KINDS = {
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "str": "a text",
    "list": "a list",
    "dict": "an object",
}


MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""A larger file must have a record a line: this much JSON is read at once."""

LINES = (".ndjson", ".jsonl")


def read_export(path: Path) -> Iterator[ExportValue | Unreadable]:
    """Yield the one document of a JSON file, or the record of each line of an NDJSON file.

    A file is NDJSON when its name says so, or when its first line is a whole JSON value and others
    follow. A bad line is Unreadable and the others stand; ValidationFailed when the file is no
    JSON, no UTF-8, empty, or too large.
    """
    if path.suffix.lower() in LINES or _first_line_is_whole(path):
        yield from _lines(path)
    else:
        yield ExportValue(name=path.name, value=_document(path))


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


def _lines(path: Path) -> Iterator[ExportValue | Unreadable]:
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


def _line(name: str, line: bytes) -> ExportValue | Unreadable:
    try:
        return ExportValue(name=name, value=_parsed(line))
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
