"""ACTING: call the tool, once. `action.started` is committed before the call, its end after it.

A retry that finds an action started and not ended repeats what may be repeated: reads, and tools
that deduplicate by the key. Of anything else nobody knows whether it happened: a person is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.connectors.port import ConnectorUnavailable, OutcomeUnknown
from cairn.investigations import citations
from cairn.investigations.journal import agent_of
from cairn.investigations.outcomes import (
    came_back,
    in_the_air,
    lost,
    manifest_of,
    may_repeat,
    taken_up,
)
from cairn.investigations.ports import ActionState, ApprovalState, Change
from cairn.investigations.proposing import refused
from cairn.investigations.run.moving import find_investigation, halted, handed_over, unmoved
from cairn.investigations.run.step import superseded
from cairn.investigations.state import State, Step, Verdict
from cairn.investigations.steps.check import attempted
from cairn.investigations.tool_calls import evidence_ids, opened_output
from cairn.kernel.errors import BudgetExceeded, Conflict, Unavailable
from cairn.safety.action import Decision, Outcome, PersonApproval
from cairn.safety.pipeline import decided
from cairn.safety.tools import Criticality, Lane

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.investigations.hiding import Hiding
    from cairn.investigations.journal import Journal
    from cairn.investigations.outcomes import CallTool
    from cairn.investigations.ports import ActionRow, Connectors, Situation
    from cairn.investigations.state import Investigation, WorkingMemory
    from cairn.kernel.stores import Stores
    from cairn.safety.action import Action
    from cairn.safety.pipeline import Attempt, Pipeline
    from cairn.tickets.write_back import Desk
    from cairn.writing.writer import Write


SYSTEM = "helpdesk"
LOST: Mapping[str, str] = MappingProxyType(
    {
        "refused": "The help desk did not take the answer: nobody has read it.",
        "needs-auth": "The help desk has to be signed in to again: nobody has read the answer.",
    }
)
"""What became of a reply that nobody will read, in a sentence."""

_MS_A_MINUTE = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBack:
    """Puts the values back into the summary and hands it to the desk."""

    desk: Desk
    hiding: Hiding

    def __call__(self, situation: Situation) -> Change:
        """Return DONE, or HALTED when the source does not take the answer.

        Raises Unavailable when it does not answer.
        """
        memory = situation.memory
        verdict = memory.verdict or Verdict.FAILED
        private = not verdict.answers
        done = self.desk.write_back(
            situation.workspace_id,
            situation.investigation.ticket_id,
            investigation_id=situation.investigation.id,
            verdict=verdict,
            summary=self._summary_text(memory, private=private),
            minutes=max(1, -(-memory.spending.ms // _MS_A_MINUTE)),
            private=private,
            data_subjects=situation.investigation.data_subjects,
        )
        reply = done.get("reply", "")
        if reply in LOST:
            return halted(memory, Verdict.NEEDS_TECH, LOST[reply], code=f"write-back-{reply}")
        parts = ", ".join(f"{part} {how}" for part, how in sorted(done.items()))
        what = "note" if private else "reply"
        line = Step(
            system=SYSTEM,
            action="written_back",
            detail=f"A {what}: {parts or 'nothing to do'}.",
            kind="message",
        )
        return Change(target=State.DONE, memory=memory, lines=(line,), verdict=verdict)

    def _summary_text(self, memory: WorkingMemory, *, private: bool) -> str:
        """Return the summary as it is read: with its citations by the desk's own people.

        The requester reads the titles of documents in their place, and no values but the ticket's
        own.
        """
        if private:
            return self.hiding.restored(memory.summary, memory.vault)
        return self.hiding.restored(citations.for_readers(memory.summary), of_ticket(memory))


def of_ticket(memory: WorkingMemory) -> Mapping[str, str]:
    """Return what of the vault stands in the ticket itself: what was read elsewhere stays hidden.

    A public answer may be read by anybody.
    """
    brief = memory.brief
    text = f"{brief.title}\n{brief.body}\n{brief.customer}\n{brief.requester}"
    return {
        placeholder: value for placeholder, value in memory.vault.items() if placeholder in text
    }


class NotCovered(Conflict):
    """The yes an action was to start with does not count any more: used up, or taken back."""

    code = "approval-used-up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Takes the pending action."""

    journal: Journal
    pipeline: Pipeline
    call: CallTool
    connectors: Connectors

    def __call__(self, situation: Situation) -> Change:
        """Return OBSERVING with what came of it, VERDICT where a person has to go on, or HALTED."""
        memory, workspace_id = situation.memory, situation.workspace_id
        action, row = memory.pending, self._row(situation)
        if action is None or row is None or row.state is ActionState.DENIED:
            why = "There is no action to take."
            return halted(memory, Verdict.FAILED, why, code="nothing-pending")
        if row.state is ActionState.UNKNOWN:
            why = f"Nobody knows whether {action.key} happened."
            return handed_over(memory, why, code="outcome-unknown")
        if row.state in (ActionState.APPLIED, ActionState.FAILED):
            return taken_up(situation, row, opened_output(self.journal, workspace_id, row))
        again = row.state is ActionState.STARTED
        if again and not may_repeat(self.connectors, workspace_id, row):
            return lost(situation.memory, action, row.dry_run, code="interrupted")
        return self._performed(situation, action, row)

    def _performed(self, situation: Situation, action: Action, row: ActionRow) -> Change:
        try:
            situation.budget.check()
        except BudgetExceeded:
            if in_the_air(row):
                return lost(situation.memory, action, row.dry_run, code="interrupted")
            raise
        return self._walked(situation, action, row)

    def _walked(self, situation: Situation, action: Action, row: ActionRow) -> Change:
        """Walk the whole line of safety anew, the call included."""
        attempt = attempted(situation, action)
        try:
            attempt = self.pipeline.perform(
                replace(attempt, approval=self._approval(situation)),
                begin=partial(self._begin, situation, row),
                call=partial(self.call, situation),
                audit=_nothing,
            )
        except NotCovered as late:
            if in_the_air(row):
                return lost(situation.memory, action, row.dry_run, code="interrupted")
            return refused(situation, situation.memory, _uncovered(attempt, late), State.OBSERVING)
        return self._came_of_it(situation, attempt, row)

    def _came_of_it(self, situation: Situation, attempt: Attempt, row: ActionRow) -> Change:
        action, error = attempt.action, attempt.error
        if isinstance(error, Unavailable) and not isinstance(error, ConnectorUnavailable):
            raise error
        denied, dry_run = decided(attempt).outcome is Outcome.DENIED, decided(attempt).dry_run
        if in_the_air(row) and (denied or error is not None):
            return lost(situation.memory, action, row.dry_run, code="interrupted")
        if denied:
            return refused(situation, situation.memory, attempt, State.OBSERVING)
        if isinstance(error, OutcomeUnknown) and row.lane != Lane.READ and not dry_run:
            return lost(situation.memory, action, dry_run, code=error.reason)
        criticality = self._criticality(situation, action) if error else Criticality.SKIP
        return came_back(situation, attempt, criticality)

    def _begin(self, situation: Situation, row: ActionRow, attempt: Attempt) -> None:
        """Commit that the action is started: from here on it counts as taken until known better."""
        investigation, decision = situation.investigation, decided(attempt)
        if row.state is ActionState.STARTED:
            with self.journal.reading(investigation.workspace_id) as stores:
                _still_ours(stores, investigation)
            return

        def start(write: Write) -> None:
            stores, approval_id = write.stores, situation.memory.approval_id
            _still_ours(stores, investigation)
            if not stores.actions.start(row.id, dry_run=decision.dry_run, now=write.now):
                raise Unavailable("Another process takes this action.", reason="action-under-way")
            if approval_id is not None and not stores.approvals.use(approval_id):
                raise NotCovered("Its approval was used before.")
            grant_id = decision.grant_id
            if grant_id is not None and not stores.grants.use(grant_id, row.id, write.now):
                raise NotCovered("Its standing grant is used up.")
            meta = {
                "investigation_id": str(investigation.id),
                "ticket_id": str(investigation.ticket_id),
                "action_id": str(row.id),
                "dry_run": decision.dry_run,
                "policy_version": decision.policy_version,
                "approval_id": str(approval_id) if approval_id else None,
                "grant_id": str(decision.grant_id) if decision.grant_id else None,
                "evidence_ids": evidence_ids(situation.memory, attempt.action.evidence),
            }
            write.note("action.started", meta, {"action": attempt.action.key})

        self.journal.write(
            investigation.workspace_id,
            investigation.data_subjects,
            agent_of(investigation),
            start,
        )

    def _row(self, situation: Situation) -> ActionRow | None:
        pending = situation.memory.pending
        if pending is None:
            return None
        with self.journal.reading(situation.workspace_id) as stores:
            return stores.actions.find(pending.id)

    def _approval(self, situation: Situation) -> PersonApproval | None:
        """Return the yes a person gave, as it was given; None when nobody was asked.

        Raises NotCovered when somebody was, and it does not count: the rules alone would let
        through what a person has to see for another reason.
        """
        approval_id = situation.memory.approval_id
        if approval_id is None:
            return None
        with self.journal.reading(situation.workspace_id) as stores:
            approval = stores.approvals.find(approval_id)
        if approval is None or approval.state not in (ApprovalState.GRANTED, ApprovalState.USED):
            raise NotCovered("The question it waited for was not answered with a yes.")
        return PersonApproval(
            approval_id=approval.id,
            binding=approval.binding,
            policy_version=approval.policy_version,
            expires_at=approval.expires_at,
            by=approval.decided_by or situation.workspace_id,
        )

    def _criticality(self, situation: Situation, action: Action) -> Criticality:
        manifest = manifest_of(self.connectors, situation.workspace_id, action.connector)
        return manifest.criticality if manifest is not None else Criticality.SKIP


def _still_ours(stores: Stores, investigation: Investigation) -> None:
    """Raise Superseded where the investigation has gone on, or another run goes on with it."""
    if not unmoved(find_investigation(stores, investigation.id), investigation):
        raise superseded(investigation.run)


def _uncovered(attempt: Attempt, late: NotCovered) -> Attempt:
    decision = Decision(
        outcome=Outcome.DENIED, reason=late.reason, detail=late.detail, policy_version=""
    )
    return replace(attempt, decision=decision)


def _nothing(attempt: Attempt) -> None:
    """Stand for the audit: what came of it is written with the transition."""
