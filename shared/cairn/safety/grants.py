"""Standing grants: a person's yes in advance, narrow, counted and with an end. Never a blanket.

A grant names one tool as it is declared today, every argument of the calls it covers, a time after
which it is over, and how often it may be used. It takes the place of a person only: what the rules
deny stays denied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.canonical import canonical_bytes
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.safety.action import comparable, same_arguments
from cairn.safety.tools import Autonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec

MAX_DAYS = 90
MAX_USES = 1_000
MAX_BLIND_USES = 10
"""Uses of a grant that leaves the arguments open."""
MAX_PATTERN_BYTES = 8_192
MAX_REASON_CHARS = 1_000

_WORD = re.compile(r"[^\W_]|[._+-]")
_PARTS = re.compile(r"\*\*|\*|(?:[^*\\]|\\.|\\$)+", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_TO_ESCAPE = re.compile(r"[*\\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGrant:
    """A grant as a person wants it.

    `tool` is `connector.tool`. `arguments` has every argument of the calls it covers: in texts `*`
    stands for letters, digits and `._+-`, `**` for anything, `\\*` for a star; other values must
    be equal. None leaves them open, for at most 10 uses.
    """

    tool: str
    arguments: Mapping[str, JsonValue] | None
    expires_at: datetime
    max_uses: int
    reason: str
    approval_id: UUID | None = None
    data_subjects: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantFields:
    """What stands in clear of a grant.

    `declaration` is the hash of the tool as it was declared when it was made; `uses` counts
    actions started.
    """

    id: UUID
    tool: str
    declaration: str
    expires_at: datetime
    max_uses: int
    made_by: UUID
    made_at: datetime
    uses: int = 0
    revoked_at: datetime | None = None
    approval_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow(GrantFields):
    """A grant as it is stored: `content` is its arguments and reason, sealed under its id."""

    content: bytes
    data_subjects: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantView(GrantFields):
    """A standing grant. `arguments` is what calls must look like; null leaves them open."""

    arguments: Mapping[str, Any] | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant(GrantView):
    """A standing grant, opened. `data_subjects` are whose keys seal its arguments and reason."""

    data_subjects: tuple[UUID, ...] = ()

    def in_force(self, now: datetime) -> bool:
        """Return whether it may be used once more at `now`."""
        return self.revoked_at is None and now < self.expires_at and self.uses < self.max_uses


GrantsInForce: TypeAlias = "Callable[[UUID, str], Sequence[Grant]]"
"""The grants of a workspace that may be used, by tool.

Return those for `connector.tool` that are in force now, the oldest first.
"""


class NoGrants:
    """Implements GrantsInForce where there are none."""

    def __call__(self, workspace_id: UUID, tool: str) -> Sequence[Grant]:
        """Return nothing."""
        return ()


def covers(grant: Grant, tool: ToolSpec, arguments: Mapping[str, JsonValue], now: datetime) -> bool:
    """Return whether `grant` takes a person's place for this call; `arguments` are restored."""
    if grant.tool != tool.key or not grant.in_force(now):
        return False
    if grant.declaration != declaration(tool):
        return False
    own_arguments = grant.arguments
    if own_arguments is None:
        return True
    return set(own_arguments) == set(arguments) and all(
        _meets(pattern, arguments[name]) for name, pattern in own_arguments.items()
    )


def exactly(arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the pattern that only these arguments meet: stars in texts are escaped."""
    return {
        name: _TO_ESCAPE.sub(r"\\\g<0>", value) if isinstance(value, str) else value
        for name, value in arguments.items()
    }


def declaration(tool: ToolSpec) -> str:
    """Return SHA-256 (hex) over what a tool declares about itself; its description aside."""
    above = tool.requires_approval_above_autonomy
    declared: dict[str, JsonValue] = {
        "dangerous": tool.dangerous,
        "forbidden": [item.value for item in Autonomy if item in tool.forbidden_in_autonomy],
        "lane": tool.lane.value if tool.lane is not None else None,
        "above": above.value if above is not None else None,
        "resource": tool.resource,
        "schema": comparable(dict(tool.schema)),  # pyright: ignore[reportArgumentType]
        "tool": tool.key,
    }
    return sha256(canonical_bytes(declared)).hexdigest()


def check_grant(new: NewGrant, now: datetime) -> NewGrant:
    """Return `new` when it is narrow enough; ValidationFailed naming what is not."""
    clean_text(new.reason, field="reason", max_chars=MAX_REASON_CHARS)
    if "." not in new.tool.strip(".") or "*" in new.tool:
        _refuse("tool", "must name one tool as connector.tool")
    if new.expires_at <= now:
        _refuse("expires_at", "is in the past")
    if new.expires_at > now + timedelta(days=MAX_DAYS):
        _refuse("expires_at", f"must lie within {MAX_DAYS} days")
    names_arguments = new.arguments is not None and any(
        map(_says_something, new.arguments.values())
    )
    most = MAX_USES if names_arguments else MAX_BLIND_USES
    if not 1 <= new.max_uses <= most:
        _refuse(
            "max_uses",
            f"must be 1 to {most}{'' if names_arguments else ' where no argument is named'}",
        )
    if new.arguments is not None:
        clean_json(
            dict(new.arguments), field="arguments", max_bytes=MAX_PATTERN_BYTES, max_depth=16
        )
    return new


def _says_something(pattern: JsonValue) -> bool:
    """Return whether a pattern leaves anything out: two letters beside its stars at least."""
    if not isinstance(pattern, str):
        return True
    return sum(len(part) for part in _PARTS.findall(pattern) if part[0] != "*") > 1


def _meets(pattern: JsonValue, value: JsonValue) -> bool:
    if isinstance(pattern, str) and isinstance(value, str):
        return _text_meets(pattern, value)
    return same_arguments({"value": pattern}, {"value": value})


def _text_meets(pattern: str, text: str) -> bool:
    """Match part by part, keeping every place it may have reached. O(parts times characters)."""
    places = {0}
    for part in _PARTS.findall(pattern):
        if part == "**":
            places = set(range(min(places), len(text) + 1)) if places else places
        elif part == "*":
            places = _over_words(text, places)
        else:
            plain = _ESCAPED.sub(r"\1", part)
            places = {place + len(plain) for place in places if text.startswith(plain, place)}
    return len(text) in places


def _over_words(text: str, places: set[int]) -> set[int]:
    """Return every place that word characters lead to from one of `places`."""
    covered: set[int] = set()
    for start in sorted(places):
        place = start
        while place not in covered:
            covered.add(place)
            if place == len(text) or not _WORD.match(text, place):
                break
            place += 1
    return covered


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {message}.", reason="grant", errors=[FieldError(field, message)]
    )
