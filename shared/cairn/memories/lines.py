"""Memories as records of an export file: what their writer decided, and no id. Pure.

The file itself is `graph.memory_dump`. A record becomes a memory again through `Remember`, so a
consolidation's merges, observers and counts are no part of it: those follow from what is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from cairn.graph.node import CHOICES, PLAIN_NAMES
from cairn.kernel.access import Scope
from cairn.kernel.access.system import checking_principal
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import MAX_INTEGER, format_timestamp, parse_timestamp
from cairn.memories.draft import draft_memory
from cairn.memories.items import NewMemory
from cairn.memories.kinds import MemoryKind, importance_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from enum import StrEnum

    from cairn.kernel.text.json_value import JsonValue

    E = TypeVar("E", bound=StrEnum)

KIND = "memory"
STATES = ("active", "superseded")
"""The states whose memories are exported; what expired, was archived or is tainted stays behind."""

_NAMES = (
    "session_id",
    "source_agent",
    "trace_id",
    *(name for name in PLAIN_NAMES if name not in CHOICES and name != "namespace"),
)
_TIMES = ("occurred_at", "valid_from", "valid_to")
_SAME = ("client_id", "importance", "scope", "sequence", "state", *CHOICES)
_FIELDS = {"kind", "text", "type", "agents", "confidence", "metadata", *_NAMES, *_TIMES, *_SAME}
_IF_GIVEN = ("namespace", "ttl_seconds")
"""What few memories have, and no file had once."""
_NUMBER = "$number"
_MAX_SEQUENCE = 2**31 - 1


def memory_record(view: Mapping[str, Any]) -> dict[str, JsonValue] | None:
    """Return the record of a memory as the API shows it, None for one in another state."""
    if view["state"] not in STATES:
        return None
    times = {name: _moment_text(view[name]) for name in _TIMES}
    return {
        "kind": KIND,
        "text": view["text"],
        "type": view["type"],
        "agents": sorted(view["agents"]),
        "confidence": repr(float(view["confidence"])),
        "metadata": _written(view["metadata"]),
        **{name: view[name] for name in (*_NAMES, *_SAME)},
        **{name: view[name] for name in _IF_GIVEN if view.get(name) is not None},
        **times,
    }


def new_memory(record: Mapping[str, Any]) -> NewMemory:
    """Return what a record asks `Remember` to write; ValidationFailed names what is wrong.

    The record must be as `memory_record` writes it, and one that a write would take.
    """
    if fields := (set(record) - set(_IF_GIVEN)) ^ _FIELDS:
        wrong = ", ".join(sorted(fields))[:200]
        _refuse(f"it has or lacks the fields {wrong}", "fields")
    if record["state"] not in STATES:
        _refuse(f"state is one of {', '.join(STATES)}", "state")
    names: dict[str, Any] = {name: _name(record, name) for name in _NAMES}
    new = NewMemory(
        text=_text(record, "text"),
        type=_one_of(MemoryKind, record, "type"),
        client_id=_text(record, "client_id"),
        importance=_importance(record["importance"]),
        scope=_one_of(Scope, record, "scope"),
        **{
            name: _one_of(values, record, name) if record[name] else None
            for name, values in CHOICES.items()
        },
        agents=_agents(record["agents"]),
        sequence=_sequence(record["sequence"]),
        confidence=_confidence(record["confidence"]),
        metadata=_metadata(record["metadata"]),
        occurred_at=_moment(record, "occurred_at"),
        valid_from=_moment(record, "valid_from"),
        valid_to=_moment(record, "valid_to") if record["valid_to"] is not None else None,
        namespace=_text(record, "namespace") if "namespace" in record else None,
        ttl_seconds=_seconds(record.get("ttl_seconds")),
        **names,
    )
    draft_memory(new, checking_principal(), cast("datetime", new.occurred_at))
    return new


def as_request(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record that `new_memory` took as `POST /v1/memories` takes it."""
    fields = {name: value for name, value in record.items() if value is not None}
    del fields["kind"], fields["state"]
    confidence, metadata = _confidence(record["confidence"]), _metadata(record["metadata"])
    return {**fields, "confidence": confidence, "metadata": metadata}


def _written(value: Any) -> Any:
    """Return a JSON value in which numbers without canonical form are named by their text.

    0.5 becomes {"$number": "0.5"}; an object that looks like that is wrapped once more. An integer
    of 2^53 and above was a float such as 1e300 when it was written: stores give those back so.
    """
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        written = {name: _written(item) for name, item in fields.items()}
        return {_NUMBER: written} if fields.keys() == {_NUMBER} else written
    if isinstance(value, list):
        return [_written(item) for item in cast("list[Any]", value)]
    if type(value) is int and abs(value) > MAX_INTEGER:
        return {_NUMBER: repr(float(value))}
    return {_NUMBER: repr(value)} if isinstance(value, float) else value


def _read(value: Any) -> Any:
    """Return what `_written` was given."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        if fields.keys() == {_NUMBER} and not isinstance(fields[_NUMBER], dict):
            return _number(fields[_NUMBER])
        inner = cast("dict[str, Any]", fields[_NUMBER]) if fields.keys() == {_NUMBER} else fields
        return {name: _read(item) for name, item in inner.items()}
    if isinstance(value, list):
        return [_read(item) for item in cast("list[Any]", value)]
    return value


def _number(text: object) -> float:
    try:
        number = float(text) if isinstance(text, str) else None
    except ValueError:
        number = None
    if number is None or repr(number) != text:
        _refuse(f"metadata: {_NUMBER} names no number", "type")
    return number


def _metadata(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse("metadata is an object", "type")
    read = _read(cast("dict[str, Any]", value))
    if not isinstance(read, dict) or _written(read) != value:
        _refuse("metadata is not how an export writes it", "changed")
    return cast("dict[str, Any]", read)


def _text(record: Mapping[str, Any], field: str) -> str:
    value = record[field]
    if not isinstance(value, str):
        _refuse(f"{field} must be a string", "type")
    return value


def _name(record: Mapping[str, Any], field: str) -> str | None:
    return _text(record, field) if record[field] is not None else None


def _one_of(kind: type[E], record: Mapping[str, Any], field: str) -> E:
    try:
        return kind(_text(record, field))
    except ValueError:
        _refuse(f"{field} is one of {', '.join(item.value for item in kind)}", "unknown-value")


def _moment(record: Mapping[str, Any], field: str) -> datetime:
    moment = parse_timestamp(_text(record, field), field=field)
    if format_timestamp(moment) != record[field]:
        _refuse(f"{field} is not how an export writes it", "changed")
    return moment


def _moment_text(value: str | None) -> str | None:
    return format_timestamp(parse_timestamp(value)) if value is not None else None


def _importance(value: object) -> int:
    if type(value) is not int:
        _refuse("importance must be a whole number from 1 to 10", "type")
    try:
        return importance_number(value)
    except ValueError as error:
        _refuse(f"importance: {error}", "range")


def _sequence(value: object) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= _MAX_SEQUENCE:
        _refuse(f"sequence must be a whole number from 0 to {_MAX_SEQUENCE}", "range")
    return value


def _seconds(value: object) -> int | None:
    if value is not None and type(value) is not int:
        _refuse("ttl_seconds must be a whole number", "type")
    return value


def _confidence(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str) else -1.0
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1 or repr(number) != value:
        _refuse("confidence is a number from 0 to 1 as a string, such as 1.0", "range")
    return number


def _agents(value: object) -> tuple[str, ...]:
    names = cast("list[Any]", value) if isinstance(value, list) else None
    if (
        names is None
        or not all(isinstance(name, str) for name in names)
        or names != sorted(set(names))
    ):
        _refuse("agents are names in order, each once", "type")
    return tuple(names)


def _refuse(message: str, reason: str) -> NoReturn:
    raise ValidationFailed(f"{message}.", reason=reason)
