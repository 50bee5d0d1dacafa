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

from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.kernel.errors import FieldError, TooLarge, ValidationFailed
from cairn.safety.patterns import Pattern, UnsafeResource, parse_pattern, readings, spelled_alike
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec


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
        _known(whole, ("connector", "scopes"), "")
        _same_connector(whole.get("connector"), connector)
        whole = _mapping(whole["scopes"] or {}, "scopes")
    _known(whole, LANES, "scopes")
    return Scopes(**{lane: _lane(whole.get(lane), f"scopes.{lane}") for lane in LANES})


def _lane(given: object, place: str) -> LaneScope:
    if given is None:
        return LaneScope()
    lane = _mapping(given, place)
    _known(lane, LISTS, place)
    return LaneScope(**{one: _patterns(lane.get(one), f"{place}.{one}") for one in LISTS})


def _patterns(given: object, place: str) -> tuple[Pattern, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        _refuse(place, "must be a list of patterns")
    patterns = cast("list[object]", given)
    if len(patterns) > MAX_PATTERNS:
        _refuse(place, f"has {len(patterns)} patterns; at most {MAX_PATTERNS} are allowed")
    return tuple(parse_pattern(one, f"{place}.{number}") for number, one in enumerate(patterns))


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


def _known(given: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    for name in given:
        if name not in known:
            where = f"{place}.{name}" if place else str(name)
            _refuse(where[:100], f"is not one of {', '.join(known)}")


def _same_connector(given: object, connector: str | None) -> None:
    if connector is not None and given is not None and given != connector:
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
    return [*sorted({one.text for one in patterns})]


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
    if paths and all(any(one.matches(path) for one in lane.allow) for path in paths):
        return Scoped(answer=ScopeAnswer.ALLOWED)
    return Scoped(answer=ScopeAnswer.UNLISTED)
