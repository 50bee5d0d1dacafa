"""The rules: may this tool be called, by whose word, for real? One pure function and its reasons.

First match decides:

| # | when | then | reason |
|---|---|---|---|
| 1 | the tool is in no manifest | denied | `unknown-tool` |
| 2 | autonomy is `off` | denied | `autonomy-off` |
| 3 | the tool declares no lane | denied | `unsafe-tool` |
| 4 | its resource can be read in several ways | denied | `unsafe-resource` |
| 5 | a deny of its lane names it | denied | `scope-denied` |
| 6 | no allow of its lane names it | denied | `not-in-scope` |
| 7 | `forbidden_in_autonomy` has the autonomy | denied | `forbidden-in-autonomy` |
| 8 | a write in `investigate` | denied | `only-reads` |
| 9 | a write in `propose` | a person | `writes-need-approval` |
| 10 | at or below `requires_approval_above_autonomy` | a person | `tool-needs-approval` |
| 11 | `dangerous` without that field | a person | `dangerous` |
| 12 | else | allowed | `allowed` |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from cairn.kernel.text.canonical import canonical_bytes
from cairn.safety.action import Outcome
from cairn.safety.profiles import DEFAULT_PROFILE
from cairn.safety.scope import ScopeAnswer, Scopes
from cairn.safety.tools import Autonomy, Criticality, Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

    from cairn.safety.tools import Manifest, ToolSpec


RULES_VERSION = 1
"""Of `rules.decide`: counted up when the same policy decides otherwise, so that approvals lapse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorPolicy:
    """What holds for one connector of a workspace.

    `manifest` is the one last seen, None when it never started: none of its tools may be called.
    """

    connector: str
    autonomy: Autonomy = Autonomy.INVESTIGATE
    scopes: Scopes = field(default_factory=Scopes)
    manifest: Manifest | None = None
    criticality: Criticality = Criticality.SKIP

    def tool(self, name: str) -> ToolSpec | None:
        """Return a tool of the manifest last seen."""
        return self.manifest.tool(name) if self.manifest is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Everything a workspace decides by. `redaction` names its profile."""

    connectors: Mapping[str, ConnectorPolicy] = field(default_factory=lambda: MappingProxyType({}))
    redaction: str = DEFAULT_PROFILE

    def autonomy(self, connector: str, persona: Autonomy) -> Autonomy:
        """Return how far a persona may go with a connector: the lower holds.

        A connector whose manifest is unsafe is held to `investigate`; an unknown one is off.
        """
        policy = self.connectors.get(connector)
        if policy is None or policy.manifest is None:
            return Autonomy.OFF
        safe = policy.manifest.safe
        locked = policy.autonomy if safe else policy.autonomy.capped(Autonomy.INVESTIGATE)
        return locked.capped(persona)

    def version(self, connector: str, persona: Autonomy) -> str:
        """Return SHA-256 (hex) over all that decides about a connector's tools for a persona.

        Autonomy, scopes, the manifest's hash, the redaction profile, and the version of the rules.
        What changes another connector changes no version here.
        """
        policy = self.connectors.get(connector)
        manifest = policy.manifest if policy is not None else None
        decides = {
            "autonomy": self.autonomy(connector, persona).value,
            "connector": connector,
            "manifest": manifest.hash if manifest is not None else None,
            "redaction": self.redaction,
            "rules": RULES_VERSION,
            "safe": manifest.safe if manifest is not None else False,
            "scopes": policy.scopes.canonical() if policy is not None else None,
        }
        return sha256(canonical_bytes(decides)).hexdigest()


Policies: TypeAlias = "Callable[[UUID], Policy]"
"""The policies of workspaces, as they are now: never remembered from an earlier call.

Return the workspace's policy; Unavailable when it cannot be read.
"""


class Reason(StrEnum):
    """Why; stable, for clients and for the ledger."""

    UNKNOWN_TOOL = "unknown-tool"
    AUTONOMY_OFF = "autonomy-off"
    UNSAFE_TOOL = "unsafe-tool"
    UNSAFE_RESOURCE = "unsafe-resource"
    SCOPE_DENIED = "scope-denied"
    NOT_IN_SCOPE = "not-in-scope"
    FORBIDDEN = "forbidden-in-autonomy"
    ONLY_READS = "only-reads"
    WRITES_NEED_APPROVAL = "writes-need-approval"
    TOOL_NEEDS_APPROVAL = "tool-needs-approval"
    DANGEROUS = "dangerous"
    ALLOWED = "allowed"
    # what the pipeline adds
    APPROVED = "approved"  # a person said yes to exactly this
    GRANTED = "granted"  # a standing grant did
    BAD_ARGUMENTS = "bad-arguments"
    SECRET_IN_ARGUMENTS = "secret-in-arguments"
    UNKNOWN_PLACEHOLDER = "unknown-placeholder"
    POLICY_CHANGED = "policy-changed"
    APPROVAL_DIFFERS = "approval-differs"
    APPROVAL_EXPIRED = "approval-expired"


SENTENCES = {
    Reason.UNKNOWN_TOOL: "The workspace has no such tool.",
    Reason.AUTONOMY_OFF: "Agents are switched off here.",
    Reason.UNSAFE_TOOL: "The tool does not declare whether it reads or writes.",
    Reason.UNSAFE_RESOURCE: "What the call is about cannot be told.",
    Reason.SCOPE_DENIED: "A scope denies this.",
    Reason.NOT_IN_SCOPE: "No scope allows this.",
    Reason.FORBIDDEN: "The tool forbids itself at this autonomy.",
    Reason.ONLY_READS: "Only tools that read may be called at this autonomy.",
    Reason.WRITES_NEED_APPROVAL: "At this autonomy a person approves every write.",
    Reason.TOOL_NEEDS_APPROVAL: "The tool asks for a person at this autonomy.",
    Reason.DANGEROUS: "The tool is dangerous: a person approves it.",
    Reason.ALLOWED: "Allowed.",
    Reason.APPROVED: "A person approved it.",
    Reason.GRANTED: "A standing grant covers it.",
    Reason.BAD_ARGUMENTS: "The arguments are not JSON that can be compared and kept.",
    Reason.SECRET_IN_ARGUMENTS: "The arguments hold a credential.",
    Reason.UNKNOWN_PLACEHOLDER: "The arguments hold a placeholder that stands for nothing.",
    Reason.POLICY_CHANGED: "The rules have changed since this was decided.",
    Reason.APPROVAL_DIFFERS: "What was approved is something else.",
    Reason.APPROVAL_EXPIRED: "The approval came too late.",
}
"""What a person reads for each reason."""

_BY_SCOPE = {
    ScopeAnswer.UNSAFE: Reason.UNSAFE_RESOURCE,
    ScopeAnswer.DENIED: Reason.SCOPE_DENIED,
    ScopeAnswer.UNLISTED: Reason.NOT_IN_SCOPE,
}


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rules say, and why."""

    outcome: Outcome
    reason: Reason


def decide(tool: ToolSpec | None, autonomy: Autonomy, scope: ScopeAnswer) -> Ruling:
    """Return the ruling on a call. `autonomy` is the lower of the connector's and the persona's."""
    denied = _refusal(tool, autonomy, scope)
    if denied is not None or tool is None:
        return Ruling(Outcome.DENIED, denied or Reason.UNKNOWN_TOOL)
    asks = _person(tool, autonomy)
    if asks is not None:
        return Ruling(Outcome.NEEDS_APPROVAL, asks)
    return Ruling(Outcome.ALLOWED, Reason.ALLOWED)


def _refusal(tool: ToolSpec | None, autonomy: Autonomy, scope: ScopeAnswer) -> Reason | None:
    if tool is None:
        return Reason.UNKNOWN_TOOL
    if autonomy is Autonomy.OFF:
        return Reason.AUTONOMY_OFF
    if tool.lane is None:
        return Reason.UNSAFE_TOOL
    if scope in _BY_SCOPE:
        return _BY_SCOPE[scope]
    if autonomy in tool.forbidden_in_autonomy:
        return Reason.FORBIDDEN
    if tool.lane is Lane.WRITE and autonomy is Autonomy.INVESTIGATE:
        return Reason.ONLY_READS
    return None


def _person(tool: ToolSpec, autonomy: Autonomy) -> Reason | None:
    above = tool.requires_approval_above_autonomy
    if tool.lane is Lane.WRITE and autonomy is Autonomy.PROPOSE:
        return Reason.WRITES_NEED_APPROVAL
    if above is not None:
        return Reason.TOOL_NEEDS_APPROVAL if autonomy.rank <= above.rank else None
    return Reason.DANGEROUS if tool.dangerous else None
