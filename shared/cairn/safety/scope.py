"""Scopes: which tools of a connector may be called on what, in a small language. Not autonomy.

    connector: m365
    scopes:
      read:
        allow: ["users/*", "mailboxes/*", query_users]
      write:
        allow: ["users/{id}/reset_password"]
        deny: ["users/{id}/delete"]

A pattern is met by a tool's name, or by the resource path that the tool declares, filled with the
arguments. Denies beat allows; what nothing allows is denied. More is in docs/operate/safety.md.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import unquote

from cairn.kernel.errors import FieldError, TooLarge, ValidationFailed
from cairn.safety.normalise import fold
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec


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
        match = _FIELD.fullmatch(segment)
        if match:
            parts.append(_forms(match[1], arguments))
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
    results: list[Path] = [(value,)]
    seen: set[str] = set()
    texts = {value}
    for _ in range(MAX_DECODINGS + 1):
        texts |= {unicodedata.normalize("NFKC", text) for text in texts}
        results += [_split(name, item) for text in sorted(texts) for item in (text, text.strip())]
        seen |= texts
        texts = {unquote(text, errors="replace") for text in texts} - seen
        if not texts:
            return tuple(dict.fromkeys(results))
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
    segments = tuple(part for part in _SPLIT.split(text) if part)
    if not segments or any(segment.strip(". \t") == "" for segment in segments):
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
        _refuse_pattern(field, "must be a text such as users/{id}/reset_password")
    if len(text) > MAX_CHARS:
        _refuse_pattern(field, f"has {len(text)} characters; at most {MAX_CHARS} are allowed")
    parts = text.split("/")
    if len(parts) > MAX_SEGMENTS:
        _refuse_pattern(field, f"has {len(parts)} segments; at most {MAX_SEGMENTS} are allowed")
    return Pattern(text, tuple(_segment(part, field) for part in parts))


def _segment(part: str, field: str) -> str:
    if part in ("", ".", ".."):
        _refuse_pattern(
            field, "has an empty, . or .. segment; write the path from its first segment on"
        )
    if _NAMED.fullmatch(part):
        return ONE
    if part != ANY and "**" in part:
        _refuse_pattern(field, "has ** beside other characters; ** stands for whole segments")
    wrong = _NO_MEANING.search(part)
    if wrong:
        _refuse_pattern(
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
    results = set(places)
    for place in places:
        following = place
        while following < len(pattern) and pattern[following] == ANY:
            following += 1
            results.add(following)
    return results


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
        value = text.find(part, start)
        if value < 0:
            return False
        start = value + len(part)
    return True


def _refuse_pattern(field: str, message: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {message}.", reason="scope-pattern", errors=[FieldError(field, message)]
    )


MAX_TEXT_CHARS = 65_536
MAX_PATTERNS = 500
LANES = ("read", "write")
LISTS = ("allow", "deny")


@lru_cache(maxsize=256)
def parse_scopes(text: str, *, connector: str | None = None) -> Scopes:
    """Return the scopes that `text` writes down; an empty text is none at all.

    `connector` is whose they are to be: a text for another one is refused. Raises ValidationFailed
    (reasons `scope-text`, `scope-pattern`), naming the place, for what is not in the language:
    unknown keys, keys twice, YAML aliases and tags, patterns without meaning. TooLarge above 64 Ki
    characters. A process reads a text once.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise TooLarge(f"scopes have {len(text)} characters; at most {MAX_TEXT_CHARS} are allowed.")
    if not text.strip():
        return Scopes()
    whole = _mapping(_loaded(text), "scopes")
    if "scopes" in whole:
        _refuse_unknown_fields(whole, ("connector", "scopes"), "")
        _same_connector(whole.get("connector"), connector)
        whole = _mapping(whole["scopes"] or {}, "scopes")
    _refuse_unknown_fields(whole, LANES, "scopes")
    return Scopes(**{lane: _lane(whole.get(lane), f"scopes.{lane}") for lane in LANES})


def _lane(value: object, place: str) -> LaneScope:
    if value is None:
        return LaneScope()
    lane = _mapping(value, place)
    _refuse_unknown_fields(lane, LISTS, place)
    return LaneScope(**{list_: _patterns(lane.get(list_), f"{place}.{list_}") for list_ in LISTS})


def _patterns(value: object, place: str) -> tuple[Pattern, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        _refuse(place, "must be a list of patterns")
    patterns = cast("list[object]", value)
    if len(patterns) > MAX_PATTERNS:
        _refuse(place, f"has {len(patterns)} patterns; at most {MAX_PATTERNS} are allowed")
    return tuple(
        parse_pattern(pattern, f"{place}.{number}") for number, pattern in enumerate(patterns)
    )


def _loaded(text: str) -> object:
    import yaml  # only where scopes are read

    from cairn.safety.plain_yaml import PlainLoader

    try:
        return yaml.load(text, Loader=PlainLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        problem = getattr(exc, "problem", None) or "it is nested too deeply"
        mark = getattr(exc, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark is not None else "the text"
        raise ValidationFailed(
            f"scopes are not readable as YAML or JSON: {where}: {problem}.",
            reason="scope-text",
            errors=[FieldError("scopes", f"{where}: {problem}")],
        ) from exc


def _mapping(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(place, "must be a table of names")
    return cast("Mapping[str, Any]", value)


def _refuse_unknown_fields(fields: Mapping[str, Any], allowed: tuple[str, ...], place: str) -> None:
    for name in fields:
        if name not in allowed:
            where = f"{place}.{name}" if place else str(name)
            _refuse(where[:100], f"is not one of {', '.join(allowed)}")


def _same_connector(other: object, connector: str | None) -> None:
    if connector is not None and other is not None and other != connector:
        _refuse("connector", f"names another connector than {connector}")


def _refuse(place: str, message: str) -> NoReturn:
    raise ValidationFailed(
        f"{place} {message}.", reason="scope-text", errors=[FieldError(place, message)]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneScope:
    """What one lane allows and denies."""

    allow: tuple[Pattern, ...] = ()
    deny: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """The scopes of one connector; without any, everything is denied."""

    read: LaneScope = field(default_factory=LaneScope)
    write: LaneScope = field(default_factory=LaneScope)

    def of(self, lane: Lane) -> LaneScope:
        """Return one lane's."""
        return self.read if lane is Lane.READ else self.write

    def canonical(self) -> dict[str, JsonValue]:
        """Return what decides, in one form however it was written down."""
        lanes = {lane.value: self.of(lane) for lane in Lane}
        return {
            name: {"allow": _texts(lane.allow), "deny": _texts(lane.deny)}
            for name, lane in lanes.items()
        }


def _texts(patterns: tuple[Pattern, ...]) -> list[JsonValue]:
    return [*sorted({pattern.text for pattern in patterns})]


class ScopeAnswer(StrEnum):
    """What the scopes say to a call."""

    ALLOWED = "allowed"
    DENIED = "denied"  # a deny names it
    UNLISTED = "unlisted"  # no allow names it
    UNSAFE = "unsafe"  # its resource cannot be read in one way only


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoped:
    """The answer, and the pattern of a deny or the fault of a resource. No values of arguments."""

    answer: ScopeAnswer
    because: str = ""


def scoped(scopes: Scopes, tool: ToolSpec, arguments: Mapping[str, JsonValue]) -> Scoped:
    """Return what `scopes` say to a call of `tool`. Pure; a tool without a lane is unlisted.

    A resource that can be read in several ways (`a/../b`, `%2F`) must be allowed in each, and is
    denied when any of them is; denies see through case, accents and invisible characters as well.
    """
    if tool.lane is None:
        return Scoped(answer=ScopeAnswer.UNLISTED)
    lane = scopes.of(tool.lane)
    try:
        paths = readings(tool.resource, arguments) if tool.resource is not None else ()
    except UnsafeResource as exc:
        return Scoped(answer=ScopeAnswer.UNSAFE, because=str(exc))
    name = (tool.name,)
    for pattern in lane.deny:
        if any(spelled_alike(pattern, path) for path in (name, *paths)):
            return Scoped(answer=ScopeAnswer.DENIED, because=pattern.text)
    if any(pattern.matches(name) for pattern in lane.allow):
        return Scoped(answer=ScopeAnswer.ALLOWED)
    if paths and all(any(item.matches(path) for item in lane.allow) for path in paths):
        return Scoped(answer=ScopeAnswer.ALLOWED)
    return Scoped(answer=ScopeAnswer.UNLISTED)
