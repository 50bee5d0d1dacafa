"""Canonical JSON and timestamps: one byte string per value. Not a general JSON codec (no floats).

The rules and their test vectors are in docs/decisions/0002-canonical-json.md: RFC 8785 over
strings, booleans, null, arrays, objects and integers below 2^53; times are RFC 3339 in UTC with six
digits and Z.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from json.encoder import encode_basestring
from typing import Any, NoReturn, cast

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.json_value import JsonValue

MAX_INTEGER = 2**53 - 1
MAX_DEPTH = 64
FIRST_YEAR, LAST_YEAR = 1900, 2200

_quote = encode_basestring  # escapes only what JSON must escape
_RFC3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def canonical_bytes(value: object) -> bytes:
    """Return the one UTF-8 encoding of `value` (RFC 8785 without floats).

    Mappings become objects, lists and tuples arrays. Raises ValidationFailed, naming the place, on
    floats, integers of 2^53 and above, keys that are not strings, NUL, lone surrogates, other types
    (dates and ids are formatted by the caller) and more than 64 levels.
    """
    try:
        return _written(value, MAX_DEPTH).encode()
    except _Refused as exc:
        _refuse(".".join(["$", *exc.path]), exc.message, exc.reason)


def parse_canonical(source: bytes | str) -> JsonValue:
    """Decode canonical JSON; ValidationFailed (reason `not-canonical`) on any other byte string."""
    try:
        raw = source if isinstance(source, bytes) else source.encode()
        value = json.loads(raw.decode())
        same = canonical_bytes(value) == raw
    except (ValueError, RecursionError, ValidationFailed) as exc:
        raise ValidationFailed("This is not canonical JSON.", reason="not-canonical") from exc
    if not same:
        raise ValidationFailed("This JSON is not in canonical form.", reason="not-canonical")
    return cast("JsonValue", value)


def unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object; ValueError when it has a key twice.

    For `json.loads(object_pairs_hook=...)`, which by itself keeps the last of several.
    """
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("the same key twice")
    return members


def format_timestamp(moment: datetime) -> str:
    """Write an aware time as `2026-03-20T09:30:00.000000Z`; ValidationFailed when it is naive."""
    offset = moment.utcoffset()
    if offset is None:
        raise ValidationFailed("A time needs a time zone.", reason="naive-timestamp")
    in_utc = moment.astimezone(UTC) if offset else moment
    return in_utc.isoformat(timespec="microseconds")[:26] + "Z"


def parse_timestamp(source: str, *, field: str = "timestamp") -> datetime:
    """Read an RFC 3339 time and return it in UTC; digits after the sixth are cut off.

    Raises ValidationFailed, naming `field`, for other formats, times without an offset, impossible
    dates, and years outside 1900 to 2200.
    """
    if not _RFC3339.fullmatch(source):
        _bad_time(field, "must be RFC 3339 with an offset, such as 2026-03-20T09:30:00Z")
    try:
        moment = datetime.fromisoformat(source.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        _bad_time(field, "is not a date and time that exists")
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        _bad_time(field, f"must lie between the years {FIRST_YEAR} and {LAST_YEAR}")
    return moment


def check_characters(text: str, location: str) -> None:
    """Raise ValidationFailed when `text` holds NUL or a lone surrogate, which no store can keep."""
    try:
        _check_characters(text)
    except _Refused as exc:
        _refuse(location, exc.message, exc.reason)


class _Refused(Exception):
    """A value without canonical form; `path` grows from the inside out while it unwinds."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.message, self.reason = message, reason
        self.path: list[str] = []


def _check_characters(text: str) -> None:
    if "\0" in text:
        raise _Refused("contains the character NUL", "nul")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _Refused("contains half of a surrogate pair", "lone-surrogate") from None


def _written(value: object, depth: int) -> str:
    """Return the canonical text of `value`; the order of the tests is that of frequency."""
    if isinstance(value, str):
        _check_characters(value)
        return _quote(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            raise _Refused("is an integer of 2^53 or more", "integer-too-large")
        return int.__repr__(value)
    if depth == 0:
        raise _Refused(f"is nested deeper than {MAX_DEPTH} levels", "too-deep")
    if isinstance(value, dict | Mapping):
        return _written_object(cast("Mapping[Any, Any]", value), depth - 1)
    if isinstance(value, (list, tuple)):
        return _written_array(cast("Sequence[Any]", value), depth - 1)
    raise _Refused(f"has the type {type(value).__name__}, which has no canonical form", "type")


def _written_object(value: Mapping[Any, Any], depth: int) -> str:
    members: list[str] = []
    for key in _sorted_keys(value):
        try:
            _check_characters(key)
            members.append(f"{_quote(key)}:{_written(value[key], depth)}")
        except _Refused as exc:
            exc.path.insert(0, key)
            raise
    return "{" + ",".join(members) + "}"


def _written_array(value: Sequence[Any], depth: int) -> str:
    items: list[str] = []
    for number, item in enumerate(value):
        try:
            items.append(_written(item, depth))
        except _Refused as exc:
            exc.path.insert(0, str(number))
            raise
    return "[" + ",".join(items) + "]"


def _sorted_keys(value: Mapping[Any, Any]) -> list[str]:
    """Return the keys by UTF-16 code units, which for ASCII is the order of characters."""
    try:
        if "".join(value).isascii():
            return sorted(value)
    except TypeError:
        raise _Refused("has a key that is not a string", "type") from None
    return sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def _refuse(location: str, message: str, reason: str) -> NoReturn:
    raise ValidationFailed(
        f"{location} {message}.", reason=reason, errors=[FieldError(location, message)]
    )


def _bad_time(field: str, message: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {message}.", reason="bad-timestamp", errors=[FieldError(field, message)]
    )
