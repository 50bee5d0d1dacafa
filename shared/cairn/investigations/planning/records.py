"""Results of tools read as records: the objects in their JSON, each with its citation. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cairn.investigations import citations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Set

    from cairn.investigations.state import Observation

MOST = 200
DEPTH = 6
_TRUE = frozenset(["true", "t", "yes", "y", "1", "on"])
_FALSE = frozenset(["false", "f", "no", "n", "0", "off", "null", "none", ""])
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One object of a result: plain values by name, and the citation of the call."""

    fields: Mapping[str, object]
    citation: str

    def value(self, *wanted: str) -> object:
        """Return the first field whose name has all the parts of one of `wanted`; None without.

        Parts are separated by spaces: "user id" is met by `user_id` and `userId`.
        """
        for want in wanted:
            parts = set(want.split())
            for name, value in self.fields.items():
                if parts <= parts_of(name):
                    return value
        return None

    def text(self, *wanted: str) -> str:
        """Return the same as text in one line, "" for none."""
        value = self.value(*wanted)
        return "" if value is None else " ".join(str(value).split())

    def has(self, *wanted: str) -> bool:
        """Return whether one of the fields is there, whatever its value."""
        return any(set(want.split()) <= parts_of(name) for want in wanted for name in self.fields)


def records(one: Observation) -> tuple[Record, ...]:
    """Return the objects in the result of a tool, `MOST` at most; none when it is no JSON."""
    try:
        said = cast("object", json.loads(one.text))
    except (ValueError, RecursionError):
        return ()
    citation = citations.tool(one.action_id)
    found = (Record(fields=fields, citation=citation) for fields in _objects(said, DEPTH))
    return tuple(record for record, _ in zip(found, range(MOST), strict=False))


def parts_of(name: str) -> Set[str]:
    """Return the words a name is made of, lower case and singular: `failedAttempts`, `sign_ins`."""
    return frozenset(singular(part.lower()) for part in _PARTS.findall(name))


def singular(word: str) -> str:
    """Return an English word without its plural s."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def truth(value: object) -> bool | None:
    """Return what a field says yes or no to; None when it says neither."""
    if isinstance(value, bool):
        return value
    said = "" if value is None else str(value).strip().lower()
    if said in _TRUE:
        return True
    return False if said in _FALSE else None


def _objects(said: object, depth: int) -> Iterator[Mapping[str, object]]:
    """Yield objects with plain values, outer ones first; tables as columns and rows too."""
    if depth == 0:
        return
    if isinstance(said, list):
        for one in cast("list[object]", said):
            yield from _objects(one, depth - 1)
    if not isinstance(said, dict):
        return
    fields = cast("dict[str, object]", said)
    if (rows := _table(fields)) is not None:
        yield from rows
        return
    plain = {name: one for name, one in fields.items() if not _is_nested(one)}
    inner = [one for one in fields.values() if _is_nested(one)]
    if plain and (not inner or _names_something(plain)):
        yield plain
    for one in inner:
        yield from _objects(one, depth - 1)


def _is_nested(value: object) -> bool:
    return isinstance(value, dict | list)


def _names_something(plain: Mapping[str, object]) -> bool:
    """Return whether an object around others is a thing of its own, not a page of them."""
    return any(parts_of(name) & {"id", "email", "username", "url"} for name in plain)


def _table(fields: Mapping[str, object]) -> list[Mapping[str, object]] | None:
    columns, rows = fields.get("columns"), fields.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list):
        return None
    names = [_name(one) for one in cast("list[object]", columns)]
    listed = cast("list[object]", rows)
    if all(isinstance(row, list) for row in listed):
        return [dict(zip(names, cast("list[object]", row), strict=False)) for row in listed]
    return [cast("dict[str, object]", row) for row in listed if isinstance(row, dict)]


def _name(column: object) -> str:
    if isinstance(column, dict):
        return str(cast("dict[str, object]", column).get("name", ""))
    return str(column)
