"""Take up what an execution left behind: a restart of the orchestrator loses nothing.

Run state is in the database, so a new execution goes on from the last transition. What was started
and has no end is looked up first. Not how executions are started: the outbox's topic INVESTIGATION.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.access import Role
from cairn.agent.calling import repeatable
from cairn.agent.ending import fixed
from cairn.agent.journal import agent_of
from cairn.agent.moving import add_lines, found, ids, line_bodies, read, unmoved
from cairn.agent.outcomes import End, ended, observed
from cairn.agent.ports import ActionState, Move
from cairn.agent.present import Present, present
from cairn.agent.running import execution_name, superseded
from cairn.agent.snapshot import Snapshots, delta
from cairn.agent.state import State, Step, Verdict
from cairn.agent.steps.act import tool_of
from cairn.agent.tool_calls import opened_output
from cairn.agent.transitions import RESUMED
from cairn.errors import Conflict
from cairn.ingestion.appending import principal_actor
from cairn.ingestion.ports import Topic
from cairn.ledger.entry import SYSTEM as CAIRN
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.access import Principal
    from cairn.agent.closing import Abandon, Close
    from cairn.agent.journal import Journal, Page
    from cairn.agent.leaving import Leave
    from cairn.agent.moving import Opened
    from cairn.agent.ports import ActionRow, Connectors
    from cairn.agent.situation import Effect
    from cairn.agent.state import Investigation, WorkingMemory
    from cairn.ledger.entry import Actor

MOST_BY_ITSELF = 3
"""Executions that are lost and followed by another before a person is called."""

STALE_AFTER = timedelta(minutes=20)
"""Longer than any step may take: who has not moved since has no execution that will."""

EVERY = 10_000
UNLIMITED = 1_000_000
"""Slots for what has begun: it goes on, even where the workspace's are all taken."""

SYSTEM = "resume"


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The memory as a new execution takes it up, what it found out, and the rows it settles."""

    memory: WorkingMemory
    lines: tuple[Step, ...] = ()
    effects: tuple[Effect, ...] = ()


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
            return present(found(stores, investigation_id))

    def _held(self, investigation: Investigation) -> Present:
        """Take a slot for another run of what has not begun; all else needs none, or has one."""
        if investigation.state is not State.CREATED or investigation.run == 1:
            return present(investigation)

        def hold(page: Page) -> Present:
            now = found(page.stores, investigation.id)
            if unmoved(now, investigation):
                page.stores.slots.take(investigation.id, UNLIMITED, page.now)
            return present(now)

        return self.journal.write(investigation.workspace_id, (), agent_of(investigation), hold)

    def _resume(self, before: Opened) -> None:
        investigation = before.investigation
        taken = self._looked_up(before)
        snapshots = Snapshots(cipher=self.journal.cipher)

        def resume(page: Page) -> None:
            move = Move(
                investigation_id=investigation.id,
                run=investigation.run,
                source=investigation.state,
                since=investigation.moved_at,
                target=RESUMED[investigation.state],
                snapshot=snapshots.seal(investigation, taken.memory, page.keys),
                spending=taken.memory.spending,
                now=page.now,
            )
            if not page.stores.investigations.move(move):
                return
            page.stores.slots.take(investigation.id, UNLIMITED, page.now)
            for effect in taken.effects:
                effect(page)
            meta = {
                **ids(investigation),
                "from": investigation.state.value,
                "to": move.target.value,
                "run": investigation.run,
            }
            body = {"lines": line_bodies(taken.lines), "delta": delta(before.memory, taken.memory)}
            position = page.note("investigation.resumed", meta, body)
            add_lines(page, investigation, taken.lines, position)

        self.journal.write(
            investigation.workspace_id,
            investigation.data_subjects,
            agent_of(investigation),
            resume,
        )

    def _looked_up(self, before: Opened) -> Taken:
        """Return the memory with what became of the action that was under way."""
        investigation, memory = before.investigation, before.memory
        said = f"Run {investigation.run} goes on from {investigation.state}."
        line = Step(system=SYSTEM, action="resumed", detail=said, kind="state")
        if memory.pending is None:
            return Taken(memory=memory, lines=(line,))
        with self.journal.reading(investigation.workspace_id) as stores:
            row = stores.actions.find(memory.pending.id)
        if row is None:  # a person's edit that was not checked yet
            return Taken(memory=memory, lines=(line,))
        if row.state in (ActionState.DENIED, ActionState.UNKNOWN):
            return Taken(memory=replace(memory, pending=None), lines=(line,))
        taken = self._settled(before, row)
        return replace(taken, lines=(line, *taken.lines))

    def _settled(self, before: Opened, row: ActionRow) -> Taken:
        """Return what is known of an action: to be begun, to be repeated, ended, or lost."""
        if row.state is ActionState.PROPOSED:
            return Taken(memory=before.memory)
        if row.state is ActionState.STARTED and self._repeatable(before, row):
            return Taken(memory=before.memory)
        if row.state is ActionState.STARTED:
            return _lost(before, row)
        return Taken(memory=observed(before.memory, self._end(before, row)))

    def _end(self, before: Opened, row: ActionRow) -> End:
        workspace_id = before.investigation.workspace_id
        keys = self.journal.keys_of(workspace_id, row.data_subjects)
        text = opened_output(row, workspace_id, self.journal.cipher, keys)
        return End(state=row.state, text=text, error=row.error, dry_run=row.dry_run)

    def _repeatable(self, before: Opened, row: ActionRow) -> bool:
        if row.lane == Lane.READ or row.dry_run:
            return True
        workspace_id = before.investigation.workspace_id
        tool = tool_of(self.connectors, workspace_id, row.connector, row.tool)
        return tool is not None and repeatable(tool)


def _lost(before: Opened, row: ActionRow) -> Taken:
    """Return needs_tech: the call was sent, its end was lost, and it must not be made again."""
    name = f"{row.connector}.{row.tool}"
    why = f"Nobody knows whether {name} happened: a person has to look before it is repeated."
    end = End(state=ActionState.UNKNOWN, text="", error="interrupted", dry_run=row.dry_run)
    memory = fixed(observed(before.memory, end), Verdict.NEEDS_TECH, why)
    action = before.memory.pending
    if action is None:
        raise RuntimeError("an action is lost that is not pending")
    fact, effect = ended(action, end)

    def note(page: Page) -> None:
        page.note(fact.type, {**ids(before.investigation), **fact.meta}, fact.body)
        effect(page)

    line = Step(system=name, action="unknown", detail=why, kind="error")
    return Taken(memory=memory, lines=(line,), effects=(note,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Starts a new execution for investigations that have none."""

    journal: Journal

    def one(self, principal: Principal, investigation_id: UUID) -> Present:
        """Return where the investigation is; another execution of it is about to begin.

        Raises NotFound, and Conflict (`ended`) for one that is over and closed.
        """
        principal.require(Role.ADMIN)

        def rerun(page: Page) -> Present:
            investigation = found(page.stores, investigation_id)
            if investigation.ended_at is not None:
                raise Conflict("The investigation is over.", reason="ended")
            return _rerun(page, investigation)

        return self.journal.write(principal.workspace_id, (), principal_actor(principal), rerun)

    def stale(self, principal: Principal) -> tuple[Present, ...]:
        """Resume every investigation that should be moving and is not."""
        principal.require(Role.ADMIN)
        workspace_id, actor = principal.workspace_id, principal_actor(principal)
        still = self.still_since(workspace_id, self.journal.clock() - STALE_AFTER)
        return tuple(self.again(one, actor=actor) for one in still)

    def still_since(self, workspace_id: UUID, moment: datetime) -> Sequence[Investigation]:
        """Return those that should be moving and have not since; who waits for a person is none."""
        with self.journal.reading(workspace_id) as stores:
            return stores.investigations.stale(moment, EVERY)

    def again(self, seen: Investigation, *, actor: Actor, died: bool = False) -> Present:
        """Let another execution follow, unless one does already; return where it is.

        What has moved since it was seen is left alone, unless its execution is known to have
        `died`.
        """

        def rerun(page: Page) -> Present:
            now = found(page.stores, seen.id)
            lost = now.run == seen.run if died else unmoved(now, seen)
            if now.ended_at is not None or not lost:
                return present(now)
            return _rerun(page, now)

        return self.journal.write(seen.workspace_id, (), actor, rerun)

    def decided(self, workspace_id: UUID, approval_id: UUID) -> Present | None:
        """Do the same where a question was decided and the execution that waited for it is gone.

        None, and nothing happens, where something has moved the investigation since, or where
        another execution has been started for it.
        """

        def rerun(page: Page) -> Present | None:
            asked = page.stores.approvals.find(approval_id)
            if asked is None or asked.decided_at is None:
                return None
            investigation = found(page.stores, asked.investigation_id)
            if investigation.ended_at is not None or investigation.moved_at > asked.decided_at:
                return None
            return _rerun(page, investigation)

        return self.journal.write(workspace_id, (), CAIRN, rerun)


def _rerun(page: Page, investigation: Investigation) -> Present:
    name = execution_name(investigation.id, investigation.run + 1)
    run = page.stores.investigations.rerun(investigation.id, name, page.now)
    page.note("investigation.rerun", {**ids(investigation), "run": run}, {})
    page.wake(Topic.INVESTIGATION, investigation.id, batch=run)
    return replace(present(investigation), run=run)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnded:
    """What the machine's own event says: an execution failed, timed out or was aborted."""

    journal: Journal
    resume: Resume
    close: Close
    leave: Leave

    def __call__(
        self, workspace_id: UUID, investigation_id: UUID, *, run: int, status: str
    ) -> Present:
        """Return where the investigation is; an older run's end changes nothing.

        Up to `MOST_BY_ITSELF` times another execution begins at once; after that a person is
        called, and the hourly sweep goes on.
        """
        with self.journal.reading(workspace_id) as stores:
            investigation = found(stores, investigation_id)
        if run != investigation.run:
            return present(investigation)
        if investigation.state.is_end:
            return self.close(workspace_id, investigation_id)
        if status == "SUCCEEDED":
            return present(investigation)
        if run <= MOST_BY_ITSELF:
            return self.resume.again(investigation, actor=CAIRN, died=True)
        return self.leave(workspace_id, investigation_id)
