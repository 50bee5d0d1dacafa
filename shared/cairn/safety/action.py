"""An action an agent wants to take, and what the rules say to it. Not the rules, not the call."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue


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
