"""Patterns of scopes: segments, `{id}`, `*` and `**`. Not regular expressions, and not file globs.

| written | matches |
|---|---|
| `users` | that segment, letter for letter |
| `{id}` | one segment; the name is for readers only |
| `*` | one segment; alone, a whole tool name |
| `vip-*` | one segment that begins so; `*` stands for any characters of it, or none |
| `**` | any number of segments, also none |
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.safety.normalise import fold

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.kernel.text.json_value import JsonValue


MAX_VALUE_CHARS = 1_000
MAX_DECODINGS = 4
MAX_READINGS = 256

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_PLAIN = re.compile(r"[^{}\s\x00-\x1f\x7f]+")
_SPLIT = re.compile(r"[/\\]")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd\ud800-\udfff]")


class UnsafeResource(Exception):
    """A resource that could be another one, too. Its text names the argument, not the value."""


def readings(template: str, arguments: Mapping[str, JsonValue]) -> tuple[Path, ...]:
    """Return the filled path in every way it may be read, the value kept whole first.

    Raises UnsafeResource when the template is malformed, an argument it names is missing or no
    plain value, or a value is empty, too long, holds control characters, climbs (`..`) or is
    encoded more than four times, or there are more than 256 ways.
    """
    parts: list[tuple[Path, ...]] = []
    for segment in template.split("/"):
        named = _FIELD.fullmatch(segment)
        if named:
            parts.append(_forms(named[1], arguments))
        elif _PLAIN.fullmatch(segment) and segment not in (".", ".."):
            parts.append(((segment,),))
        else:
            raise UnsafeResource("the tool declares a malformed resource")
    if prod(map(len, parts)) > MAX_READINGS:
        raise UnsafeResource("the arguments can be read in too many ways")
    paths = (tuple(chain.from_iterable(forms)) for forms in product(*parts))
    return tuple(dict.fromkeys(paths))


def spelled_alike(pattern: Pattern, path: Path) -> bool:
    """Return whether `path` matches as it is, or once its spelling is normalise out: for denies."""
    return pattern.matches(path) or pattern.matches_folded(path)


def _forms(name: str, arguments: Mapping[str, JsonValue]) -> tuple[Path, ...]:
    """Return the segments an argument may become: whole, split, and after each decoding."""
    value = _plain(name, arguments.get(name))
    found: list[Path] = [(value,)]
    seen: set[str] = set()
    texts = {value}
    for _ in range(MAX_DECODINGS + 1):
        texts |= {unicodedata.normalize("NFKC", text) for text in texts}
        found += [_split(name, one) for text in sorted(texts) for one in (text, text.strip())]
        seen |= texts
        texts = {unquote(text, errors="replace") for text in texts} - seen
        if not texts:
            return tuple(dict.fromkeys(found))
    raise UnsafeResource(f"the argument {name} is encoded over and over")


def _plain(name: str, value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        value = str(value) if abs(value) < 2**63 else ""
    if not isinstance(value, str) or not value.strip():
        raise UnsafeResource(f"the argument {name} is missing or no plain value")
    if len(value) > MAX_VALUE_CHARS:
        raise UnsafeResource(f"the argument {name} is too long")
    return value


def _split(name: str, text: str) -> Path:
    if _FORBIDDEN.search(text):
        raise UnsafeResource(f"the argument {name} holds control characters")
    segments = tuple(one for one in _SPLIT.split(text) if one)
    if not segments or any(one.strip(". \t") == "" for one in segments):
        raise UnsafeResource(f"the argument {name} climbs or is empty")
    return segments


MAX_CHARS = 512
MAX_SEGMENTS = 32
ANY = "**"
ONE = "*"

_NAMED = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]{0,63}\}")
_NO_MEANING = re.compile(r"[{}?\[\]!\\\s\x00-\x1f\x7f]")

Path = tuple[str, ...]
"""The segments of a path. A segment may hold any character: it is never split again."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as it was written; `segments` have `*` for every `{name}`."""

    text: str
    segments: Path

    def matches(self, path: Path) -> bool:
        """Return whether the whole of `path` matches. O(segments of both, multiplied)."""
        return _matches(self.segments, path)

    def matches_folded(self, path: Path) -> bool:
        """Return whether they match once case, accents and invisible characters are gone."""
        return _matches(tuple(map(fold, self.segments)), tuple(map(fold, path)))


def parse_pattern(text: object, field: str) -> Pattern:
    """Read one pattern; ValidationFailed, naming `field`, for what has no meaning here."""
    if not isinstance(text, str) or not text:
        _refuse(field, "must be a text such as users/{id}/reset_password")
    if len(text) > MAX_CHARS:
        _refuse(field, f"has {len(text)} characters; at most {MAX_CHARS} are allowed")
    parts = text.split("/")
    if len(parts) > MAX_SEGMENTS:
        _refuse(field, f"has {len(parts)} segments; at most {MAX_SEGMENTS} are allowed")
    return Pattern(text, tuple(_segment(part, field) for part in parts))


def _segment(part: str, field: str) -> str:
    if part in ("", ".", ".."):
        _refuse(field, "has an empty, . or .. segment; write the path from its first segment on")
    if _NAMED.fullmatch(part):
        return ONE
    if part != ANY and "**" in part:
        _refuse(field, "has ** beside other characters; ** stands for whole segments")
    wrong = _NO_MEANING.search(part)
    if wrong:
        _refuse(
            field,
            f"has {wrong[0]!r}, which has no meaning here: there are {{name}}, * and ** only",
        )
    return part


def _matches(pattern: Path, path: Path) -> bool:
    """Match by the reachable places in `pattern`, segment by segment of `path`."""
    places = _past_any(pattern, {0})
    for segment in path:
        places = _past_any(
            pattern,
            {
                place if pattern[place] == ANY else place + 1
                for place in places
                if place < len(pattern)
                and (pattern[place] == ANY or segment_matches(pattern[place], segment))
            },
        )
    return len(pattern) in places


def _past_any(pattern: Path, places: set[int]) -> set[int]:
    """Add the places behind each `**`, which may stand for no segment."""
    found = set(places)
    for place in places:
        following = place
        while following < len(pattern) and pattern[following] == ANY:
            following += 1
            found.add(following)
    return found


def segment_matches(pattern: str, segment: str) -> bool:
    """Return whether a segment matches; `*` alone asks for at least one character."""
    if pattern == ONE:
        return segment != ""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == segment
    last = rest.pop()
    if len(segment) < len(first) + len(last):
        return False
    if not (segment.startswith(first) and segment.endswith(last)):
        return False
    return _in_order(rest, segment[len(first) : len(segment) - len(last)])


def _in_order(parts: list[str], text: str) -> bool:
    """Return whether the parts stand in `text` one after the other: the earliest place each."""
    start = 0
    for part in parts:
        found = text.find(part, start)
        if found < 0:
            return False
        start = found + len(part)
    return True


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {message}.", reason="scope-pattern", errors=[FieldError(field, message)]
    )
