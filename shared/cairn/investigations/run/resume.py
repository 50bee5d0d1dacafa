"""Take up what an execution left behind: a restart of the orchestrator loses nothing.

Run state is in the database, so a new execution goes on from the last transition. What was started
and has no end is looked up first. Not how executions are started: the outbox's topic INVESTIGATION.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.investigations.journal import agent_of
from cairn.investigations.outcomes import End, lost, may_repeat, observed
from cairn.investigations.ports import ActionState, ApprovalState, Change
from cairn.investigations.run.moving import find_investigation, ids, moved, read, unmoved
from cairn.investigations.run.step import execution_name, superseded
from cairn.investigations.snapshot import Snapshots
from cairn.investigations.state import RESUMED, State, Step
from cairn.investigations.tool_calls import opened_output
from cairn.investigations.views import Present, present
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict
from cairn.ledger.entry import SYSTEM as CAIRN
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.writing.append import principal_actor
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import Connectors
    from cairn.investigations.run.closing import Abandon, AbandonExecution, Close
    from cairn.investigations.run.moving import Opened
    from cairn.investigations.run.step import RunStep
    from cairn.investigations.state import Investigation
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.entry import Actor
    from cairn.writing.ports import OutboxRow
    from cairn.writing.writer import Write


MOST_STEPS = 1_000
"""More than any budget of iterations allows: a loop that is longer has a mistake in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """Runs an investigation as the machine would."""

    enter: Enter
    run: RunStep
    close: Close

    def __call__(self, workspace_id: UUID, investigation_id: UUID, *, run: int = 1) -> Present:
        """Return where it ended, or that it waits for a person.

        Raises what a step raises; called again with the next run it goes on.
        """
        return self.go_on(self.enter(workspace_id, investigation_id, run=run))

    def go_on(self, now: Present) -> Present:
        """Do the same from where it is, as a machine does that was answered."""
        ids = now.workspace_id, now.investigation_id
        for _ in range(MOST_STEPS):
            if now.state.is_end:
                return self.close(*ids)
            if now.state is State.WAITING_APPROVAL:
                return now
            now = self.run(*ids, state=now.state, run=now.run)
        raise RuntimeError("an investigation takes more steps than its budget allows")


MOST_BY_ITSELF = 3
"""Executions that are lost and followed by another before a person is called."""

STALE_AFTER = timedelta(minutes=20)
"""Longer than any step may take: who has not moved since has no execution that will."""

EVERY = 10_000
UNLIMITED = 1_000_000
"""Slots for what has begun: it goes on, even where the workspace's are all taken."""

SYSTEM = "resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enter:
    """The first step of every execution."""

    journal: Journal
    connectors: Connectors
    abandon: Abandon

    def __call__(self, workspace_id: UUID, investigation_id: UUID, *, run: int) -> Present:
        """Return the state the execution begins with: where it was, or PLANNING.

        Raises NotFound, and Conflict (`superseded`) for a run that is not the present one.
        """
        try:
            before = read(self.journal, workspace_id, investigation_id)
            investigation = before.investigation
            if run != investigation.run:
                raise superseded(run)
            if RESUMED[investigation.state] is investigation.state:
                return self._held(investigation)
            self._resume(before)
        except (BodyUnreadable, SubjectForgotten):
            return self.abandon(workspace_id, investigation_id)
        with self.journal.reading(workspace_id) as stores:
            return present(find_investigation(stores, investigation_id))

    def _held(self, investigation: Investigation) -> Present:
        """Take a slot for another run of what has not begun; all else needs none, or has one."""
        if investigation.state is not State.CREATED or investigation.run == 1:
            return present(investigation)

        def hold(write: Write) -> Present:
            now = find_investigation(write.stores, investigation.id)
            if unmoved(now, investigation):
                write.stores.slots.take(investigation.id, UNLIMITED, write.now)
            return present(now)

        return self.journal.write(investigation.workspace_id, (), agent_of(investigation), hold)

    def _resume(self, before: Opened) -> None:
        investigation = before.investigation
        change = self._looked_up(before)
        snapshots = Snapshots(cipher=self.journal.platform.cipher)

        def resume(write: Write) -> None:
            if moved(write, snapshots, before, change, resumed=True):
                write.stores.slots.take(investigation.id, UNLIMITED, write.now)

        self.journal.write(
            investigation.workspace_id,
            investigation.data_subjects,
            agent_of(investigation),
            resume,
        )

    def _looked_up(self, before: Opened) -> Change:
        """Return where the run goes on, with what became of the action that was under way."""
        investigation = before.investigation
        detail = f"Run {investigation.run} goes on from {investigation.state}."
        line = Step(system=SYSTEM, action="resumed", detail=detail, kind="state")
        change = self._settled(before)
        target = RESUMED[investigation.state]
        return replace(change, target=target, lines=(line, *change.lines))

    def _settled(self, before: Opened) -> Change:
        """Return what is known of an action: to be begun, to be repeated, ended, or lost."""
        memory, workspace_id = before.memory, before.investigation.workspace_id
        same = Change(target=before.investigation.state, memory=memory, lines=())
        if memory.pending is None:
            return same
        with self.journal.reading(workspace_id) as stores:
            row = stores.actions.find(memory.pending.id)
        if row is None or row.state is ActionState.PROPOSED:  # none: an edit that was not checked
            return same
        if row.state in (ActionState.DENIED, ActionState.UNKNOWN):
            return replace(same, memory=replace(memory, pending=None))
        if row.state is not ActionState.STARTED:
            text = opened_output(self.journal, workspace_id, row)
            end = End(state=row.state, text=text, error=row.error, dry_run=row.dry_run)
            return replace(same, memory=observed(memory, end))
        if may_repeat(self.connectors, workspace_id, row):
            return same
        return lost(memory, memory.pending, row.dry_run, code="interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Starts a new execution for investigations that have none."""

    journal: Journal

    def one(self, principal: Principal, investigation_id: UUID) -> Present:
        """Return where the investigation is; another execution of it is about to begin.

        Raises NotFound, and Conflict (`ended`) for one that is over and closed.
        """
        principal.require_operator()

        def rerun(write: Write) -> Present:
            investigation = find_investigation(write.stores, investigation_id)
            if investigation.ended_at is not None:
                raise Conflict("The investigation is over.", reason="ended")
            return _rerun(write, investigation)

        return self.journal.write(principal.workspace_id, (), principal_actor(principal), rerun)

    def stale(self, principal: Principal) -> tuple[Present, ...]:
        """Resume every investigation that should be moving and is not."""
        principal.require_operator()
        workspace_id, actor = principal.workspace_id, principal_actor(principal)
        still = self.still_since(workspace_id, self.journal.platform.clock() - STALE_AFTER)
        return tuple(self.again(item, actor=actor) for item in still)

    def still_since(self, workspace_id: UUID, moment: datetime) -> Sequence[Investigation]:
        """Return those that should be moving and have not since; who waits for a person is none."""
        with self.journal.reading(workspace_id) as stores:
            return stores.investigations.stale(moment, EVERY)

    def again(self, seen: Investigation, *, actor: Actor, died: bool = False) -> Present:
        """Let another execution follow, unless one does already; return where it is.

        What has moved since it was seen is left alone, unless its execution is known to have
        `died`.
        """

        def rerun(write: Write) -> Present:
            now = find_investigation(write.stores, seen.id)
            lost = now.run == seen.run if died else unmoved(now, seen)
            if now.ended_at is not None or not lost:
                return present(now)
            return _rerun(write, now)

        return self.journal.write(seen.workspace_id, (), actor, rerun)

    def decided(self, workspace_id: UUID, approval_id: UUID) -> Present | None:
        """Do the same where a question was decided and the execution that waited for it is gone.

        None, and nothing happens, where something has moved the investigation since, or where
        another execution has been started for it.
        """

        def rerun(write: Write) -> Present | None:
            approval = write.stores.approvals.find(approval_id)
            if approval is None or approval.decided_at is None:
                return None
            investigation = find_investigation(write.stores, approval.investigation_id)
            if investigation.ended_at is not None or investigation.moved_at > approval.decided_at:
                return None
            return _rerun(write, investigation)

        return self.journal.write(workspace_id, (), CAIRN, rerun)


def _rerun(write: Write, investigation: Investigation) -> Present:
    name = execution_name(investigation.id, investigation.run + 1)
    run = write.stores.investigations.rerun(investigation.id, name, write.now)
    write.note("investigation.rerun", {**ids(investigation), "run": run}, {})
    write.wake(Topic.INVESTIGATION, investigation.id, batch=run)
    return replace(present(investigation), run=run)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnded:
    """What the machine's own event says: an execution failed, timed out or was aborted."""

    journal: Journal
    resume: Resume
    close: Close
    leave: AbandonExecution

    def __call__(
        self, workspace_id: UUID, investigation_id: UUID, *, run: int, status: str
    ) -> Present:
        """Return where the investigation is; an older run's end changes nothing.

        Up to `MOST_BY_ITSELF` times another execution begins at once; after that a person is
        called, and the hourly sweep goes on.
        """
        with self.journal.reading(workspace_id) as stores:
            investigation = find_investigation(stores, investigation_id)
        if run != investigation.run:
            return present(investigation)
        if investigation.state.is_end:
            return self.close(workspace_id, investigation_id)
        if status == "SUCCEEDED":
            return present(investigation)
        if run <= MOST_BY_ITSELF:
            return self.resume.again(investigation, actor=CAIRN, died=True)
        return self.leave(workspace_id, investigation_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a waiting execution is told: ids, a state and a number.

    `token` finds it, None before it waits; `execution` is its name.
    """

    token: str | None
    execution: str
    output: Mapping[str, Any]


def answer_to(transactions: Transactions[Stores], row: OutboxRow) -> Answer | None:
    """Return what the execution that waits for an approval is told: where its investigation is.

    None while the question is open.
    """
    if row.reference is None:
        return None
    with transactions.reading(system_principal(row.workspace_id)) as stores:
        approval = stores.approvals.find(row.reference)
        token = stores.approvals.token(row.reference)
        at = stores.investigations.find(approval.investigation_id) if approval else None
    if approval is None or approval.state is ApprovalState.PENDING or at is None:
        return None
    name = at.execution or execution_name(at.id, at.run)
    return Answer(token=token, execution=name, output=present(at).as_answer())
