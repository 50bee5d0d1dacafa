"""Every action goes through here, in this order, and through nothing else. Not the tools, not SQL.

    scope -> redact -> dry run -> approval -> call -> audit

The state machine walks it in two halves: `check` in SAFETY_CHECK, up to the approval, and `perform`
in ACTING, which walks the whole line anew under the policy as it is then. Each step takes an
attempt and returns one that knows more; the first that denies it sends it to the audit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hmac import compare_digest
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from cairn.kernel.errors import CairnError, ValidationFailed
from cairn.kernel.text.canonical import canonical_bytes
from cairn.safety.action import Decision, Outcome, binding, comparable
from cairn.safety.grants import NoGrants, covers
from cairn.safety.profiles import kinds_of
from cairn.safety.redaction import (
    EMPTY,
    holds_secret,
    redact,
    redact_written,
    restore,
    unknown_placeholder,
)
from cairn.safety.rules import SENTENCES, Reason, decide
from cairn.safety.scope import ScopeAnswer, Scoped, scoped
from cairn.safety.tools import Autonomy, Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.clock import Clock
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.action import Action, PersonApproval
    from cairn.safety.grants import Grant, GrantsInForce
    from cairn.safety.redaction import Vault
    from cairn.safety.rules import Policies, Policy
    from cairn.safety.tools import ToolSpec


def is_rehearsed(
    tool: ToolSpec, autonomy: Autonomy, outcome: Outcome, *, approved: bool = False
) -> bool:
    """Return whether a call may be made as a dry run only; what waits for a person always may."""
    if approved:
        return False
    if outcome is Outcome.NEEDS_APPROVAL:
        return True
    if tool.lane is Lane.READ:
        return False
    return autonomy is not Autonomy.ACT or (tool.dangerous and not _says_itself(tool, autonomy))


def may_rehearse(tool: ToolSpec, outcome: Outcome | None) -> bool:
    """Return whether a person can be shown what a call would do: a write that waits for them."""
    return outcome is Outcome.NEEDS_APPROVAL and tool.lane is Lane.WRITE


def _says_itself(tool: ToolSpec, autonomy: Autonomy) -> bool:
    above = tool.requires_approval_above_autonomy
    return above is not None and autonomy.rank > above.rank


_SCOPE_REASONS = (Reason.SCOPE_DENIED, Reason.UNSAFE_RESOURCE)


class CallResult(Protocol):
    """What a call brought back; the host's ToolResult is one."""

    @property
    def text(self) -> str: ...
    @property
    def is_error(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A call that may be made now, its values restored. Only the pipeline makes one.

    `manifest_hash` is of the manifest it was decided by; the host refuses under another.
    """

    workspace_id: UUID
    action: Action
    tool: ToolSpec
    dry_run: bool
    manifest_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt at an action, and what the steps found out about it.

    `action` has arguments as the planner wrote them, with placeholders of `vault`; once redacted,
    these are what may be shown and kept. `autonomy` and `profile` are the persona's, `at` what the
    connector leaves of it. `text` is the result, redacted; `error` why there is none.
    """

    workspace_id: UUID
    action: Action
    autonomy: Autonomy
    vault: Vault = field(default_factory=lambda: EMPTY)
    profile: str = "none"
    approval: PersonApproval | None = None
    tool: ToolSpec | None = None
    at: Autonomy = Autonomy.OFF
    decision: Decision | None = None
    result: CallResult | None = None
    text: str = ""
    error: CairnError | None = None

    @property
    def outcome(self) -> Outcome | None:
        """Return what was decided, None before it was."""
        return self.decision.outcome if self.decision is not None else None

    @property
    def restored(self) -> Mapping[str, JsonValue]:
        """Return the arguments as the tool gets them."""
        return cast("Mapping[str, JsonValue]", restore(dict(self.action.arguments), self.vault))


Step: TypeAlias = "Callable[[Attempt], Attempt]"
Begin: TypeAlias = "Callable[[Attempt], None]"
"""Commits `action.started`, uses up the approval or the grant; raises what must stop the call."""
Call: TypeAlias = "Callable[[Ready], CallResult]"
"""Makes the call. Its CairnError becomes the attempt's `error`."""
Audit: TypeAlias = "Callable[[Attempt], None]"
"""Records how it went, denied or done. What it raises is not caught."""


class HasAutonomy(Protocol):
    """What a persona says about safety."""

    @property
    def autonomy(self) -> Autonomy: ...
    @property
    def redaction(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Walks attempts along the line."""

    policies: Policies
    clock: Clock
    grants: GrantsInForce = field(default_factory=NoGrants)

    def check(self, attempt: Attempt, audit: Audit | None = None) -> Attempt:
        """Decide: the attempt with its decision, its arguments redacted, the vault grown.

        `needs_approval` asks for a person: bind the question to `attempt.action` and
        `decision.policy_version`. Raises Unavailable when the policy cannot be read.
        """
        policy = self.policies(attempt.workspace_id)
        return _walk(self._line(policy, _no_call, _auditing(audit)), attempt)

    def perform(self, attempt: Attempt, *, begin: Begin, call: Call, audit: Audit) -> Attempt:
        """Decide anew, and make the call when it is still allowed.

        A decision that is not `allowed` by now is `denied`: nobody waits for a person here. What
        `begin` raises stops it before the call; what the call raises is in `error`.
        """
        policy = self.policies(attempt.workspace_id)
        return _walk(self._line(policy, _calling(policy, begin, call), _auditing(audit)), attempt)

    def rehearse(self, checked: Attempt, call: Call) -> Attempt:
        """Call a write that waits for a person as a dry run, for the person to see.

        What cannot be rehearsed comes back as it is; an error is kept and harms nothing. The answer
        may give away names that stand in the arguments: they are redacted anew, as `perform` will.
        """
        if checked.tool is None or not may_rehearse(checked.tool, checked.outcome):
            return checked
        policy = self.policies(checked.workspace_id)
        return _redact(policy)(_called(policy, checked, call, dry_run=True))

    def __call__(self, workspace_id: UUID, action: Action, *, persona: HasAutonomy) -> Decision:
        """Return what the rules say to an action whose arguments are restored already."""
        attempt = Attempt(
            workspace_id=workspace_id,
            action=action,
            autonomy=persona.autonomy,
            profile=persona.redaction,
        )
        return decided(self.check(attempt))

    def _line(self, policy: Policy, call: Step, audit: Step) -> tuple[Step, ...]:
        grants, now = self.grants, self.clock()
        return (_scope(policy), _redact(policy), _dry_run, _approval(grants, now), call, audit)


def decided(attempt: Attempt) -> Decision:
    """Return the decision on an attempt that went through `check` or `perform`."""
    if attempt.decision is None:
        raise RuntimeError("an attempt left the pipeline without a decision")
    return attempt.decision


def _walk(line: tuple[Step, ...], attempt: Attempt) -> Attempt:
    *steps, audit = line
    for step in steps:
        if attempt.outcome is not Outcome.DENIED:
            attempt = step(attempt)
    return audit(attempt)


def _scope(policy: Policy) -> Step:
    """Decide by scopes, autonomy and what the tool declares, over the arguments it would get."""

    def step(attempt: Attempt) -> Attempt:
        action = attempt.action
        connector_policy = policy.connectors.get(action.connector)
        tool = connector_policy.tool(action.tool) if connector_policy is not None else None
        readable = _has_canonical_form(action.arguments)
        answer = Scoped(answer=ScopeAnswer.UNLISTED)
        if connector_policy is not None and tool is not None and readable:
            answer = scoped(connector_policy.scopes, tool, attempt.restored)
        at = policy.autonomy(action.connector, attempt.autonomy)
        ruling = decide(tool, at, answer.answer)
        because = f" ({answer.because})" if ruling.reason in _SCOPE_REASONS else ""
        decision = Decision(
            outcome=ruling.outcome,
            reason=ruling.reason,
            detail=SENTENCES[ruling.reason] + because,
            policy_version=policy.version(action.connector, attempt.autonomy),
        )
        checked = replace(attempt, tool=tool, at=at, decision=decision)
        return checked if readable or tool is None else _denied(checked, Reason.BAD_ARGUMENTS)

    return step


def _redact(policy: Policy) -> Step:
    """Put placeholders where the planner wrote values; refuse what must not reach a tool at all."""

    def step(attempt: Attempt) -> Attempt:
        values = dict(attempt.action.arguments)
        if holds_secret(values):
            return _denied(attempt, Reason.SECRET_IN_ARGUMENTS)
        if unknown_placeholder(values, attempt.vault):
            return _denied(attempt, Reason.UNKNOWN_PLACEHOLDER)
        kinds = kinds_of(policy.redaction, attempt.profile)
        clean = redact_written(values, attempt.vault, kinds)
        arguments = cast("dict[str, JsonValue]", clean.value)
        action = replace(attempt.action, arguments=arguments)
        return replace(attempt, action=action, vault=clean.vault)

    return step


def _dry_run(attempt: Attempt) -> Attempt:
    """Decide whether the call is a rehearsal, as long as nobody has approved it."""
    decision, tool = decided(attempt), attempt.tool
    if tool is None:
        return attempt
    dry = is_rehearsed(tool, attempt.at, decision.outcome)
    return replace(attempt, decision=replace(decision, dry_run=dry))


def _approval(grants: GrantsInForce, now: datetime) -> Step:
    """Let a person's yes to exactly this, or a standing grant, turn a question into a go.

    A yes that was given is looked at even where nobody had to be asked: it is for this, or void.
    """

    def step(attempt: Attempt) -> Attempt:
        if attempt.approval is not None:
            wrong = _wrong(attempt, attempt.approval, now)
            return _denied(attempt, wrong) if wrong else _cleared(attempt, Reason.APPROVED)
        if attempt.outcome is not Outcome.NEEDS_APPROVAL:
            return attempt
        grant = _covering(grants, attempt, now)
        return attempt if grant is None else _cleared(attempt, Reason.GRANTED, grant.id)

    return step


def _no_call(attempt: Attempt) -> Attempt:
    """Stand for the call in the half that only decides."""
    return attempt


def _calling(policy: Policy, begin: Begin, call: Call) -> Step:
    """Begin, which commits, and call; what is not allowed by now is denied."""

    def step(attempt: Attempt) -> Attempt:
        if attempt.outcome is not Outcome.ALLOWED:
            return _denied(attempt, Reason.POLICY_CHANGED)
        begin(attempt)
        return _called(policy, attempt, call, dry_run=decided(attempt).dry_run)

    return step


def _auditing(audit: Audit | None) -> Step:
    """Record the attempt, whatever became of it."""

    def step(attempt: Attempt) -> Attempt:
        if audit is not None:
            audit(attempt)
        return attempt

    return step


def _called(policy: Policy, attempt: Attempt, call: Call, *, dry_run: bool) -> Attempt:
    """Make the call with the values put back, and redact what it says."""
    connector_policy = policy.connectors.get(attempt.action.connector)
    if attempt.tool is None or connector_policy is None or connector_policy.manifest is None:
        return _denied(attempt, Reason.UNKNOWN_TOOL)
    ready = Ready(
        workspace_id=attempt.workspace_id,
        action=replace(attempt.action, arguments=attempt.restored),
        tool=attempt.tool,
        dry_run=dry_run,
        manifest_hash=connector_policy.manifest.hash,
    )
    try:
        result = call(ready)
    except CairnError as exc:
        return replace(attempt, error=exc)
    clean = redact(result.text, attempt.vault, kinds_of(policy.redaction, attempt.profile))
    return replace(attempt, result=result, text=str(clean.value), vault=clean.vault)


def _wrong(attempt: Attempt, approval: PersonApproval, now: datetime) -> Reason | None:
    version = decided(attempt).policy_version
    if approval.policy_version != version:
        return Reason.POLICY_CHANGED
    bound = binding(attempt.action, policy_version=version, expires_at=approval.expires_at)
    if not compare_digest(bound, approval.binding):
        return Reason.APPROVAL_DIFFERS
    return Reason.APPROVAL_EXPIRED if now >= approval.expires_at else None


def _covering(grants: GrantsInForce, attempt: Attempt, now: datetime) -> Grant | None:
    tool = attempt.tool
    if tool is None:
        return None
    every = grants(attempt.workspace_id, tool.key)
    return next((item for item in every if covers(item, tool, attempt.restored, now)), None)


def _cleared(attempt: Attempt, reason: Reason, grant_id: UUID | None = None) -> Attempt:
    return _with(attempt, Outcome.ALLOWED, reason, grant_id)


def _denied(attempt: Attempt, reason: Reason) -> Attempt:
    return _with(attempt, Outcome.DENIED, reason)


def _with(
    attempt: Attempt, outcome: Outcome, reason: Reason, grant_id: UUID | None = None
) -> Attempt:
    decision = replace(
        decided(attempt),
        outcome=outcome,
        reason=reason,
        detail=SENTENCES[reason],
        dry_run=False,
        grant_id=grant_id,
    )
    return replace(attempt, decision=decision)


def _has_canonical_form(arguments: Mapping[str, JsonValue]) -> bool:
    try:
        canonical_bytes(comparable(dict(arguments)))
    except ValidationFailed:
        return False
    return True
