"""An action an agent wants to take, and what the rules say to it. Not the rules, not the call."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import MAX_DEPTH, canonical_bytes, format_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonApproval:
    """A person's yes, as it was decided: to the action of this binding, until it expires.

    `policy_version` is of the rules it was asked under.
    """

    approval_id: UUID
    binding: str
    policy_version: str
    expires_at: datetime
    by: UUID


def binding(action: Action, *, policy_version: str, expires_at: datetime) -> str:
    """Return SHA-256 (hex) over what a person says yes to.

    `action` is as the person saw it; evidence counts in its order. Raises ValidationFailed for
    arguments without canonical form.
    """
    bound: dict[str, JsonValue] = {
        "arguments": comparable(dict(action.arguments)),
        "evidence": list(action.evidence),
        "expires_at": format_timestamp(expires_at),
        "policy": policy_version,
        "tool": action.key,
    }
    return sha256(canonical_bytes(bound)).hexdigest()


def digest(action: Action) -> str:
    """Return SHA-256 (hex) over `connector.tool` and arguments: the same action, whenever."""
    same = {"arguments": comparable(dict(action.arguments)), "tool": action.key}
    return sha256(canonical_bytes(same)).hexdigest()


def comparable(value: JsonValue, depth: int = MAX_DEPTH) -> JsonValue:
    """Return a value whose canonical bytes tell any two JSON values apart, floats included.

    Canonical JSON knows no floats: texts are marked `s`, whole numbers `i`, others `f` with the
    shortest digits that give the same double. 1 and 1.0 differ, 1.0 and 1.00 do not. Raises
    ValidationFailed for NaN, infinity and more than 64 levels.
    """
    if depth < 0:
        raise ValidationFailed("This value is nested too deeply.", reason="too-deep")
    if isinstance(value, str):
        return "s" + value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValidationFailed("A number must be finite.", reason="not-finite")
        return f"f{value!r}"
    if isinstance(value, dict):
        return {key: comparable(item, depth - 1) for key, item in value.items()}
    if isinstance(cast("Any", value), list | tuple):
        return [comparable(item, depth - 1) for item in value]
    raise ValidationFailed("This is not a JSON value.", reason="type")


def same_arguments(arguments: Mapping[str, JsonValue], other: Mapping[str, JsonValue]) -> bool:
    """Return whether two sets of arguments are the same to a binding."""
    return canonical_bytes(comparable(dict(arguments))) == canonical_bytes(comparable(dict(other)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A proposed call of a tool. `id` is its idempotency key; a repeat after a crash keeps it.

    `arguments` are as the planner gave them: with placeholders such as `<EMAIL_1>` where a value
    was redacted. `evidence` are citations that speak for it.
    """

    id: UUID
    connector: str
    tool: str
    arguments: Mapping[str, JsonValue]
    evidence: tuple[str, ...] = ()
    reason: str = ""

    @property
    def key(self) -> str:
        """Return `connector.tool`."""
        return f"{self.connector}.{self.tool}"


class Outcome(StrEnum):
    """What the safety rules say to an action."""

    ALLOWED = "allowed"
    NEEDS_APPROVAL = "needs_approval"
    DENIED = "denied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The rules' answer. `reason` is a stable code such as `not-in-scope`; `detail` a sentence.

    `dry_run` says how an allowed action is to be called. `policy_version` is the hash of the rules
    that said so: an approval given under another one does not count. `grant_id` names the standing
    grant that took the place of a person.
    """

    outcome: Outcome
    reason: str
    detail: str
    policy_version: str
    dry_run: bool = False
    grant_id: UUID | None = None
