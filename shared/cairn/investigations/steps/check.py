"""SAFETY_CHECK: may this action be taken, and by whose word? The rules are `safety`'s.

Beside the rules it refuses what would go in circles: a write that was applied, one a person
rejected, one whose outcome nobody knows; and what was made up: arguments of wrong types, evidence
that is none. What an earlier investigation of the ticket did, a person is asked about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, cast

from cairn.connectors.arguments import check_arguments
from cairn.investigations import citations
from cairn.investigations.outcomes import in_the_air, lost
from cairn.investigations.ports import ActionState, ApprovalState
from cairn.investigations.proposing import asking, proposing, refused
from cairn.investigations.run.moving import halted, read
from cairn.investigations.state import State, Verdict
from cairn.investigations.tool_calls import opened_input
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.safety.action import Action, Decision, Outcome, binding, digest, same_arguments
from cairn.safety.pipeline import Attempt, decided
from cairn.safety.redaction import redact_written, restore, unknown_placeholder
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.investigations.journal import Journal
    from cairn.investigations.outcomes import CallTool
    from cairn.investigations.ports import ActionRow, Approval, Change, Situation
    from cairn.investigations.state import Observation, WorkingMemory
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.pipeline import Pipeline
    from cairn.safety.redaction import Vault
    from cairn.safety.tools import ToolSpec


MOST = 100
"""Calls of a tool for one ticket that are looked at, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Finds a write of an earlier investigation of the same ticket with the same arguments."""

    journal: Journal

    def __call__(self, situation: Situation, attempt: Attempt) -> ActionRow | None:
        """Return the newest such call that was not known to fail; None when there is none."""
        investigation, action = situation.investigation, attempt.action
        with self.journal.reading(situation.workspace_id) as stores:
            rows = stores.actions.earlier(
                investigation.ticket_id,
                investigation.id,
                connector=action.connector,
                tool=action.tool,
                limit=MOST,
            )
        arguments = attempt.restored
        return next((row for row in rows if self._is_same(situation, row, arguments)), None)

    def _is_same(
        self, situation: Situation, row: ActionRow, arguments: Mapping[str, JsonValue]
    ) -> bool:
        """Return whether a call had these arguments; True where nobody can read any more which."""
        workspace_id, investigation_id = situation.workspace_id, row.investigation_id
        if investigation_id is None:  # no investigation's: an agent's own call
            return False
        try:
            stored = opened_input(self.journal, workspace_id, row)
            vault = read(self.journal, workspace_id, investigation_id).memory.vault
            if stored is None or unknown_placeholder(stored, vault):
                return True
            restored = cast("Mapping[str, JsonValue]", restore(stored, vault))
            return same_arguments(restored, arguments)
        except (BodyUnreadable, SubjectForgotten, NotFound, ValidationFailed):
            return True


SYSTEM = "safety"
LIFETIME = timedelta(hours=24)
"""Of a question to a person."""
_DONE = (ActionState.APPLIED.value, ActionState.UNKNOWN.value)

APPLIED_BEFORE = (
    "applied-before",
    "Exactly this was done in an earlier investigation of this ticket.",
)
UNKNOWN_BEFORE = (
    "outcome-unknown",
    "Nobody knows whether exactly this was done in an earlier investigation of this ticket.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSafety:
    """Asks the rules about the action that was planned, or that an earlier execution began."""

    journal: Journal
    pipeline: Pipeline
    call: CallTool
    clock: Clock
    new_id: IdSource
    lifetime: timedelta = LIFETIME

    def __call__(self, situation: Situation) -> Change:
        """Return ACTING, WAITING_APPROVAL, or PLANNING for a refusal: the third ends in HALTED."""
        action = self._planned_action(situation)
        if action is None:
            why = "There is no action to check."
            return halted(situation.memory, Verdict.FAILED, why, code="nothing-planned")
        attempt = self.pipeline.check(attempted(situation, action))
        same = self._same(situation, attempt)
        decision = self._asking_again(situation, attempt, same)
        memory = replace(situation.memory, vault=attempt.vault, plan=None)
        if same is not None and in_the_air(same):
            return self._begun(situation, memory, attempt, decision, same)
        if decision.outcome is Outcome.DENIED:
            attempt = replace(attempt, decision=decision)
            return refused(situation, memory, attempt, State.PLANNING)
        action = _as_begun(attempt.action, same, attempt.tool, decision)
        memory = replace(memory, pending=action, approval_id=None)
        return self._allowed(situation, memory, replace(attempt, action=action), decision)

    def _asking_again(
        self, situation: Situation, attempt: Attempt, same: ActionRow | None
    ) -> Decision:
        """Return the decision; what an earlier investigation did needs a person's word anew."""
        decision = _looked_over(situation.memory, attempt, same)
        if not _is_write(attempt, decision):
            return decision
        row = Earlier(journal=self.journal)(situation, attempt)
        if row is None:
            return decision
        applied = row.state is ActionState.APPLIED
        reason, detail = APPLIED_BEFORE if applied else UNKNOWN_BEFORE
        return _in_doubt(decision, reason, detail)

    def _begun(
        self,
        situation: Situation,
        memory: WorkingMemory,
        attempt: Attempt,
        decision: Decision,
        row: ActionRow,
    ) -> Change:
        """Return ACTING for a call that may be made again as it was begun, else VERDICT.

        It may have happened: neither a refusal nor another question can take that back.
        """
        action = replace(attempt.action, id=row.id)
        granted = None
        if decision.outcome is Outcome.NEEDS_APPROVAL:
            granted = self._granted(situation, action, decision)
        memory = replace(memory, pending=action)
        if granted is None and (decision.outcome is not Outcome.ALLOWED or decision.dry_run):
            return lost(memory, action, row.dry_run, code="interrupted")
        memory = replace(memory, approval_id=granted.id if granted is not None else None)
        return proposing(situation, memory, replace(attempt, action=action), decision)

    def _planned_action(self, situation: Situation) -> Action | None:
        memory = situation.memory
        if memory.pending is not None:
            return memory.pending
        if memory.plan is None:
            return None
        plan = memory.plan
        return Action(
            id=self.new_id(),
            connector=plan.connector,
            tool=plan.tool,
            arguments=plan.arguments,
            evidence=plan.evidence,
            reason=plan.reason,
        )

    def _same(self, situation: Situation, attempt: Attempt) -> ActionRow | None:
        """Return the record of the same action in this investigation, if there is one.

        What was done before the vault knew all of its values has another digest.
        """
        action = attempt.action
        with self.journal.reading(situation.workspace_id) as stores:
            begun = stores.actions.find(action.id)
            if begun is not None and in_the_air(begun):
                return begun
            try:
                row = stores.actions.same(situation.investigation.id, digest(action))
            except ValidationFailed:  # the pipeline has denied what has no canonical form
                return None
            done = _seen(situation.memory, attempt, *_DONE)
            if row is not None or not done:
                return row
            return stores.actions.find(min(done, key=lambda item: item.dry_run).action_id)

    def _allowed(
        self, situation: Situation, memory: WorkingMemory, attempt: Attempt, decision: Decision
    ) -> Change:
        if decision.outcome is Outcome.ALLOWED:
            return proposing(situation, memory, attempt, decision)
        granted = self._granted(situation, attempt.action, decision)
        if granted is not None:
            memory = replace(memory, approval_id=granted.id)
            return proposing(situation, memory, attempt, decision)
        attempt = self._rehearsed(situation, attempt)
        return asking(
            situation,
            replace(memory, pending=attempt.action, vault=attempt.vault),
            attempt,
            decision,
            approval_id=self.new_id(),
            asked_at=self.clock(),
            lifetime=self.lifetime,
        )

    def _rehearsed(self, situation: Situation, attempt: Attempt) -> Attempt:
        """Return the attempt with what the call would do, for a person to see, where it can say."""
        situation.budget.check()
        return self.pipeline.rehearse(attempt, partial(self.call, situation))

    def _granted(self, situation: Situation, action: Action, decision: Decision) -> Approval | None:
        """Return the approval of exactly this that a person gave, unused or used by this action.

        Used by it: the call was begun under it, and its end was lost.
        """
        now, version = self.clock(), decision.policy_version
        approval_id = situation.memory.approval_id
        with self.journal.reading(situation.workspace_id) as stores:
            held = list(stores.approvals.granted(situation.investigation.id, now))
            last = stores.approvals.find(approval_id) if approval_id is not None else None
        if last is not None and _was_used(last, action) and last.expires_at > now:
            held.append(last)
        for item in held:
            if item.binding == binding(action, policy_version=version, expires_at=item.expires_at):
                return item
        return None


def _was_used(approval: Approval, action: Action) -> bool:
    return approval.state is ApprovalState.USED and approval.action_id == action.id


def attempted(situation: Situation, action: Action) -> Attempt:
    """Return an action as the pipeline takes it: with the persona's autonomy and the vault."""
    return Attempt(
        workspace_id=situation.workspace_id,
        action=action,
        autonomy=situation.persona.autonomy,
        vault=situation.memory.vault,
        profile=situation.persona.redaction,
    )


def _looked_over(memory: WorkingMemory, attempt: Attempt, same: ActionRow | None) -> Decision:
    """Return the pipeline's decision, or a refusal or a question of our own in its place."""
    decision = decided(attempt)
    if decision.outcome is Outcome.DENIED or attempt.tool is None:
        return decision
    result = _circles(memory, attempt, same, decision) or _made_up(memory, attempt, attempt.tool)
    if result is not None:
        reason, detail = result
        return replace(decision, outcome=Outcome.DENIED, reason=reason, detail=detail)
    writes = attempt.tool.lane is Lane.WRITE
    if decision.outcome is Outcome.ALLOWED and writes and memory.brief.suspicious:
        why = "What was read tries to give orders: a person approves every write."
        return _in_doubt(decision, "suspicious-input", why)
    return decision


def _in_doubt(decision: Decision, reason: str, detail: str) -> Decision:
    """Return a question to a person in the place of what the rules or a grant allow."""
    return replace(
        decision, outcome=Outcome.NEEDS_APPROVAL, reason=reason, detail=detail, grant_id=None
    )


def _is_write(attempt: Attempt, decision: Decision) -> bool:
    """Return whether the attempt would change something if it were taken as decided."""
    rehearsed = decision.outcome is Outcome.ALLOWED and decision.dry_run
    writes = attempt.tool is not None and attempt.tool.lane is not Lane.READ
    return writes and decision.outcome is not Outcome.DENIED and not rehearsed


def _circles(
    memory: WorkingMemory, attempt: Attempt, same: ActionRow | None, decision: Decision
) -> tuple[str, str] | None:
    """Return why an action must not be asked for again, as (code, sentence)."""
    if _seen(memory, attempt, "rejected"):
        return "rejected-before", "A person has rejected exactly this."
    if same is None or same.lane == Lane.READ:
        return None
    if same.state is ActionState.APPLIED and (decision.dry_run or not same.dry_run):
        return "already-applied", "Exactly this was done before in this investigation."
    if same.state is ActionState.UNKNOWN:
        return "outcome-unknown", "Nobody knows whether exactly this was done before."
    return None


def _seen(memory: WorkingMemory, attempt: Attempt, *outcomes: str) -> list[Observation]:
    """Return what came out so of the same tool with the same values, hidden or not by then."""
    action, vault = attempt.action, attempt.vault
    return [
        observation
        for observation in memory.observations
        if (observation.connector, observation.tool) == (action.connector, action.tool)
        and observation.outcome in outcomes
        and same_arguments(_restored(observation.arguments, vault), attempt.restored)
    ]


def _restored(arguments: Mapping[str, JsonValue], vault: Vault) -> Mapping[str, JsonValue]:
    return cast("Mapping[str, JsonValue]", restore(dict(arguments), vault))


def _made_up(memory: WorkingMemory, attempt: Attempt, tool: ToolSpec) -> tuple[str, str] | None:
    """Return what a planner invented, as (code, sentence)."""
    try:
        check_arguments(tool, attempt.restored)
    except ValidationFailed as wrong:
        text = "; ".join(f"{error.location} {error.message}" for error in wrong.errors)
        redacted = redact_written(f"{wrong.detail} {text}".strip(), attempt.vault, frozenset())
        return "wrong-arguments", str(redacted.value)
    sources = citations.sources(memory)
    for token in attempt.action.evidence:
        cited = citations.parse(token)
        if cited is None or not citations.resolves(cited, sources):
            return "invented-evidence", "The evidence names something that was never found."
    return None


def _as_begun(
    action: Action, same: ActionRow | None, tool: ToolSpec | None, decision: Decision
) -> Action:
    """Return the action under the id it was begun with: its idempotency key."""
    begun = (ActionState.PROPOSED, ActionState.STARTED)
    if same is None or tool is None or same.state not in begun:
        return action
    rehearsed = decision.outcome is Outcome.ALLOWED and decision.dry_run
    return replace(action, id=same.id) if same.dry_run == rehearsed else action
