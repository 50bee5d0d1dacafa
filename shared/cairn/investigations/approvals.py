"""A person decides on an action: yes, no, or yes to something else. The decision is the transition.

A yes counts for exactly what was shown, under the rules it was shown under, until it expires. It is
committed first; the machine is answered through the outbox. Not the rules: `safety.pipeline`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.connectors.arguments import check_arguments
from cairn.investigations.journal import agent_of
from cairn.investigations.ports import ApprovalState, Change, Fact
from cairn.investigations.run.moving import (
    Opened,
    find_investigation,
    halted,
    ids,
    moved,
    opened,
    read,
)
from cairn.investigations.run.resume import UNLIMITED
from cairn.investigations.snapshot import Snapshots, action_json, load_action
from cairn.investigations.state import State, Step, Verdict, seen_of
from cairn.investigations.views import (
    ApprovalView,
    Decided,
    EvidenceChange,
    Present,
    present,
    view_of,
)
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.ledger.entry import SYSTEM as CAIRN
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten, key_subjects
from cairn.safety.action import Outcome, binding
from cairn.safety.pipeline import Attempt, decided
from cairn.safety.redaction import rewritten
from cairn.writing.append import principal_actor
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.hiding import Hider, Hiding
    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import Approval, Effect
    from cairn.investigations.run.closing import Abandon
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.action import Action
    from cairn.safety.pipeline import Pipeline
    from cairn.tickets.personas import Persona
    from cairn.tickets.write_back import Desk
    from cairn.writing.writer import Write


SWEPT = 100
"""Expired questions of a workspace that one sweep ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Keeps the token of a machine that waits; the slot it gave back is for the next ticket."""

    journal: Journal
    admit: Callable[[UUID], object]

    def __call__(
        self,
        workspace_id: UUID,
        investigation_id: UUID,
        *,
        token: str,
        run: int | None = None,
    ) -> Present:
        """Return where the investigation is; the token of another run is not kept.

        When it waits no more the machine is answered through the outbox, with this token.
        """

        def keep(write: Write) -> Present:
            investigation = find_investigation(write.stores, investigation_id)
            approval = _newest(write.stores, investigation_id)
            if approval is not None and run in (None, investigation.run):
                write.stores.approvals.keep_token(approval.id, token)
                if investigation.state is not State.WAITING_APPROVAL:
                    write.wake(Topic.APPROVAL, approval.id)
            return present(investigation)

        answer = self.journal.write(workspace_id, (), CAIRN, keep)
        self.admit(workspace_id)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire:
    """Ends investigations whose question nobody answered in time; a person is called."""

    journal: Journal
    abandon: Abandon

    def __call__(self, workspace_id: UUID, investigation_id: UUID) -> Present:
        """Return HALTED when the question has expired, else where the investigation is."""
        try:
            before = read(self.journal, workspace_id, investigation_id)
            if before.investigation.state is State.WAITING_APPROVAL:
                self._expire(before)
        except (BodyUnreadable, SubjectForgotten):
            return self.abandon(workspace_id, investigation_id)
        with self.journal.reading(workspace_id) as stores:
            return present(find_investigation(stores, investigation_id))

    def due(self, workspace_id: UUID) -> tuple[Present, ...]:
        """Expire every question of a workspace that is due and return where its investigations are.

        For those whose machine is gone: one that still waits is answered.
        """
        with self.journal.reading(workspace_id) as stores:
            late = stores.approvals.due(self.journal.platform.clock(), SWEPT)
        return tuple(self(workspace_id, item.investigation_id) for item in late)

    def _expire(self, before: Opened) -> None:
        investigation = before.investigation
        snapshots = Snapshots(cipher=self.journal.platform.cipher)

        def expire(write: Write) -> None:
            approval = _newest(write.stores, investigation.id)
            if approval is None or approval.expires_at > write.now:
                return
            if moved(write, snapshots, before, expired(before, approval)):
                write.wake(Topic.APPROVAL, approval.id)
                write.tell_channels(approval.id)

        self.journal.write(
            investigation.workspace_id,
            investigation.data_subjects,
            agent_of(investigation),
            expire,
        )


def expired(before: Opened, approval: Approval) -> Change:
    """Return HALTED: nobody answered in time."""
    hours = round((approval.expires_at - approval.asked_at).total_seconds() / 3600)
    why = f"Nobody answered within {hours} hours whether {approval.tool} may be called."
    change = halted(before.memory, Verdict.NEEDS_TECH, why, code="approval-expired")
    meta = {**ids(before.investigation), "approval_id": str(approval.id)}

    def expire(write: Write) -> None:
        position = write.note("approval.expired", meta, {})
        write.stores.approvals.decide(
            approval.id, ApprovalState.EXPIRED, by=None, position=position, now=write.now
        )
        write.stores.actions.deny(approval.action_id, error="expired", now=write.now)

    return replace(change, memory=replace(change.memory, pending=None), effects=(expire,))


def _newest(stores: Stores, investigation_id: UUID) -> Approval | None:
    return next(iter(stores.approvals.of(investigation_id)), None)


MAX_REASON_CHARS = 1_000
MAX_ARGUMENT_BYTES = 64_000
MAX_DEPTH = 16
SYSTEM = "approval"


class AlreadyDecided(Conflict):
    """Somebody decided before; `decision`, `decided_at` and `decided_by` say what, when and who."""

    code = "already-decided"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuestion:
    """A question with everything needed to decide on it."""

    approval: Approval
    before: Opened
    content: Mapping[str, Any]
    persona: Persona

    @property
    def action(self) -> Action:
        """Return the action as it was shown, with placeholders."""
        return load_action(self.content["action"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """Shows questions to admins and operators and takes their decisions.

    Raises Denied for others, NotFound for another workspace's question, AlreadyDecided,
    Conflict (`approval-expired`, `changed-content`, `policy-changed`), ValidationFailed naming the
    field.
    """

    journal: Journal
    pipeline: Pipeline
    desk: Desk
    hiding: Hiding

    def get(self, principal: Principal, approval_id: UUID) -> ApprovalView:
        """Return a question as a person decides on it: with the values a tool would get."""
        principal.require_operator()
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            approval = _find_approval(stores, approval_id)
            others = stores.approvals.of(approval.investigation_id)
        earlier = next(
            (
                other
                for other in others
                if other.tool == approval.tool and other.asked_at < approval.asked_at
            ),
            None,
        )
        content = self._content(workspace_id, approval)
        before = self._content(workspace_id, earlier) if earlier else None
        return view_of(approval, content, _difference(before, content))

    def approve(
        self, principal: Principal, approval_id: UUID, *, binding: str, reason: str = ""
    ) -> Decided:
        """Say yes to what has this binding: the one that was shown."""
        question = self._decidable(principal, approval_id, reason, binding)
        self._under_the_same_rules(principal, question)
        memory, hide = question.before.memory, self._hider(question, question.before.memory.vault)
        line = _line("granted", f"{question.action.key}: a person said yes.", hide(reason))
        change = Change(
            target=State.ACTING, memory=replace(memory, vault=hide.vault), lines=(line,)
        )
        return self._decide(principal, question, change, ApprovalState.GRANTED, reason)

    def reject(self, principal: Principal, approval_id: UUID, *, reason: str) -> Decided:
        """Say no; the planner is told why and tries another way."""
        clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS)
        question = self._decidable(principal, approval_id, reason, None)
        action, memory = question.action, question.before.memory
        hide = self._hider(question, memory.vault)
        text = hide(reason)
        seen = seen_of(action, "rejected", text, reason="rejected")
        change = Change(
            target=State.PLANNING,
            memory=replace(
                memory,
                pending=None,
                plan=None,
                observations=(*memory.observations, seen),
                vault=hide.vault,
            ),
            lines=(_line("rejected", f"{action.key}: a person said no.", text),),
        )
        return self._decide(principal, question, change, ApprovalState.REJECTED, reason)

    def edit(
        self,
        principal: Principal,
        approval_id: UUID,
        *,
        binding: str,
        arguments: Mapping[str, JsonValue],
        reason: str,
    ) -> Decided:
        """Say yes to other arguments: the changed action goes through the rules again.

        What they allow or would ask for is then approved by this person already. Raises
        ValidationFailed for arguments the tool does not take, Conflict with the rule's reason for
        those that are denied: the question goes on waiting.
        """
        clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS)
        clean_json(
            dict(arguments), field="arguments", max_bytes=MAX_ARGUMENT_BYTES, max_depth=MAX_DEPTH
        )
        question = self._decidable(principal, approval_id, reason, binding)
        self._under_the_same_rules(principal, question)
        written = rewritten(
            dict(arguments), question.content["arguments"], question.before.memory.vault
        )
        edited = replace(question.action, id=self.journal.platform.new_id(), arguments=written)
        attempt = self.pipeline.check(self._attempt(question, edited))
        _acceptable(attempt)
        edited, hide = attempt.action, self._hider(question, attempt.vault)
        line = _line("edited", f"{edited.key}: a person changed it.", hide(reason))
        memory = replace(question.before.memory, pending=edited, vault=hide.vault, approval_id=None)
        change = Change(
            target=State.SAFETY_CHECK,
            memory=memory,
            lines=(line,),
            effects=(self._granting(principal, question, attempt),),
        )
        return self._decide(principal, question, change, ApprovalState.EDITED, reason)

    def _read_question(self, principal: Principal, approval_id: UUID) -> ApprovalQuestion:
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            approval = _find_approval(stores, approval_id)
            investigation = find_investigation(stores, approval.investigation_id)
            sealed = stores.investigations.snapshot(investigation.id)
        content = self._content(workspace_id, approval)
        snapshots = Snapshots(cipher=self.journal.platform.cipher)
        try:
            before = opened(self.journal.platform.keys, snapshots, investigation, sealed)
        except (BodyUnreadable, SubjectForgotten) as gone:
            raise _forgotten() from gone
        persona = self.desk.persona(
            workspace_id, investigation.persona, began=investigation.created_at
        )
        return ApprovalQuestion(approval=approval, before=before, content=content, persona=persona)

    def _content(self, workspace_id: UUID, approval: Approval) -> Mapping[str, Any]:
        """Return what was asked; NotFound when whom it was about was forgotten."""
        subjects = key_subjects(workspace_id, approval.data_subjects)
        held = self.journal.platform.keys.get(workspace_id, subjects)
        cipher = self.journal.platform.cipher
        try:
            return cipher.open(approval.id, workspace_id, subjects, held, approval.content)
        except BodyUnreadable as gone:
            raise _forgotten() from gone

    def _decidable(
        self, principal: Principal, approval_id: UUID, reason: str, bound: str | None
    ) -> ApprovalQuestion:
        """Return a question that may be decided now, as the person saw it."""
        principal.require_operator()
        if reason:
            clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS)
        question = self._read_question(principal, approval_id)
        approval = question.approval
        if approval.state is not ApprovalState.PENDING:
            _decided_before(approval)
        if approval.expires_at <= self.journal.platform.clock():
            raise Conflict("The question has expired.", reason="approval-expired")
        if bound is not None and bound != approval.binding:
            _changed()
        if bound is not None and _binding(question) != approval.binding:
            _changed()
        return question

    def _under_the_same_rules(self, principal: Principal, question: ApprovalQuestion) -> None:
        """Void the question when the rules are others than those it was asked under."""
        attempt = self.pipeline.check(self._attempt(question, question.action))
        if decided(attempt).policy_version == question.approval.policy_version:
            return
        why = "The rules have changed since this was asked."
        change = Change(
            target=State.PLANNING,
            memory=replace(question.before.memory, pending=None, plan=None),
            lines=(_line("voided", f"{question.action.key}: {why}", ""),),
        )
        self._decide(principal, question, change, ApprovalState.VOID, "")
        raise Conflict(why, reason="policy-changed", approval_id=str(question.approval.id))

    def _attempt(self, question: ApprovalQuestion, action: Action) -> Attempt:
        return Attempt(
            workspace_id=question.before.investigation.workspace_id,
            action=action,
            autonomy=question.persona.autonomy,
            vault=question.before.memory.vault,
            profile=question.persona.redaction,
        )

    def _hider(self, question: ApprovalQuestion, vault: Mapping[str, str]) -> Hider:
        """Return what hides a person's reason: the timeline and models are told of it."""
        workspace_id = question.before.investigation.workspace_id
        return self.hiding.under(workspace_id, question.persona.redaction, vault)

    def _granting(
        self, principal: Principal, question: ApprovalQuestion, attempt: Attempt
    ) -> Effect:
        """Return what makes the edit a yes to the edited action, bound like any other."""
        approval, new_id = question.approval, self.journal.platform.new_id()
        edited, version = attempt.action, decided(attempt).policy_version
        bound = binding(edited, policy_version=version, expires_at=approval.expires_at)

        def grant(write: Write) -> None:
            content = {**question.content, **_edited(attempt)}
            write.stores.approvals.add(
                replace(
                    approval,
                    id=new_id,
                    action_id=edited.id,
                    binding=bound,
                    policy_version=version,
                    content=write.entries.seal(new_id, write.data_subjects, content),
                    state=ApprovalState.GRANTED,
                    asked_at=write.now,
                    decided_at=write.now,
                    decided_by=principal.principal_id,
                    decision_position=write.entries.position,
                )
            )

        return grant

    def _decide(
        self,
        principal: Principal,
        question: ApprovalQuestion,
        change: Change,
        state: ApprovalState,
        reason: str,
    ) -> Decided:
        """Commit the decision with its transition; then the machine is answered."""
        approval, before = question.approval, question.before
        fact = _fact(question, state, reason)
        snapshots = Snapshots(cipher=self.journal.platform.cipher)

        def decide(write: Write) -> Decided:
            entry = {**ids(before.investigation), **fact.meta}
            position = write.note(fact.type, entry, fact.body)
            stores = write.stores
            if not stores.approvals.decide(
                approval.id, state, by=principal.principal_id, position=position, now=write.now
            ):
                _decided_before(_find_approval(stores, approval.id))
            if not moved(write, snapshots, before, change):
                raise Conflict("The investigation does not wait any more.", reason="not-waiting")
            if state is not ApprovalState.GRANTED:
                stores.actions.deny(approval.action_id, error=state.value, now=write.now)
            stores.slots.take(before.investigation.id, UNLIMITED, write.now)
            write.wake(Topic.APPROVAL, approval.id)
            write.tell_channels(approval.id)
            return Decided(
                id=approval.id,
                state=state,
                investigation_id=approval.investigation_id,
                investigation_state=change.target,
                position=position,
            )

        return self.journal.write(
            principal.workspace_id,
            before.investigation.data_subjects,
            principal_actor(principal),
            decide,
            person=principal.person,
        )


def _find_approval(stores: Stores, approval_id: UUID) -> Approval:
    approval = stores.approvals.find(approval_id)
    if approval is None:
        raise NotFound("There is no such approval.", approval_id=str(approval_id))
    return approval


def _forgotten() -> NotFound:
    return NotFound("Whom this was about was forgotten.", reason="forgotten")


def _binding(question: ApprovalQuestion) -> str:
    """Return the binding of what the person was shown, computed anew."""
    approval = question.approval
    return binding(
        question.action, policy_version=approval.policy_version, expires_at=approval.expires_at
    )


def _decided_before(approval: Approval) -> NoReturn:
    if approval.state is ApprovalState.PENDING:  # still pending, and cannot be decided: too late
        raise Conflict("The question has expired.", reason="approval-expired")
    raise AlreadyDecided(
        f"This was decided before: {approval.state}.",
        decision=approval.state.value,
        decided_at=format_timestamp(approval.decided_at) if approval.decided_at else None,
        decided_by=str(approval.decided_by) if approval.decided_by else None,
    )


def _acceptable(attempt: Attempt) -> None:
    """Refuse an edit that could only be denied: the tool does not take it, or the rules do not."""
    if attempt.tool is not None:
        try:
            check_arguments(attempt.tool, attempt.restored)
        except ValidationFailed as wrong:
            errors = [
                FieldError(f"arguments.{error.location}", error.message) for error in wrong.errors
            ]
            raise ValidationFailed(wrong.detail, reason="wrong-arguments", errors=errors) from wrong
    decision = decided(attempt)
    if decision.outcome is Outcome.DENIED:
        raise Conflict(f"The rules refuse this: {decision.detail}", reason=decision.reason)


def _changed() -> NoReturn:
    raise Conflict("This is not what was shown: look at it again.", reason="changed-content")


def _fact(question: ApprovalQuestion, state: ApprovalState, reason: str) -> Fact:
    approval = question.approval
    names = {ApprovalState.VOID: "approval.voided", ApprovalState.GRANTED: "approval.granted"}
    return Fact(
        type=names.get(state, f"approval.{state.value}"),
        meta={
            "approval_id": str(approval.id),
            "action_id": str(approval.action_id),
            "policy_version": approval.policy_version,
        },
        body={"reason": reason, "binding": approval.binding, "tool": approval.tool},
    )


def _edited(attempt: Attempt) -> dict[str, Any]:
    """Return what the question says of the action and its values, for the edited one."""
    arguments = json.dumps(dict(attempt.restored), sort_keys=True)
    return {"action": action_json(attempt.action), "arguments": arguments}


def _difference(earlier: Mapping[str, Any] | None, now: Mapping[str, Any]) -> EvidenceChange | None:
    """Return what evidence came and went since the same tool was asked for before."""
    if earlier is None:
        return None
    old, new = _citations(earlier), _citations(now)
    return EvidenceChange(
        added=tuple(item for item in new if item not in old),
        removed=tuple(item for item in old if item not in new),
    )


def _citations(content: Mapping[str, Any]) -> Sequence[str]:
    return cast("Sequence[str]", load_action(content["action"]).evidence)


def _line(action: str, text: str, reason: str) -> Step:
    detail = f"{text} {reason}".strip()
    return Step(system=SYSTEM, action=action, detail=detail, kind="approval")
