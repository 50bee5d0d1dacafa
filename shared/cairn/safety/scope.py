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
from typing import TYPE_CHECKING

from cairn.safety.resource import UnsafeResource, readings, spelled_alike
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.patterns import Pattern
    from cairn.safety.tools import ToolSpec


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
