"""Runs of workflows: begun once, read, decided, cancelled, tried again. Not their steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.errors import Conflict, FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.kernel.traces import current_trace_id, joined, within
from cairn.workflows.definition import MOST_TEXT_CHARS, inputs_of
from cairn.workflows.definitions import definition_of, missing
from cairn.workflows.moving import Move, Result, Runner, results_of
from cairn.workflows.rows import RunRow, RunState, Trigger
from cairn.workflows.views import view_of
from cairn.writing.append import principal_actor
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import clean_name, owners
from cairn.writing.ports import Topic
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.access import Principal
    from cairn.workflows.moving import Opened
    from cairn.workflows.rows import WorkflowRow
    from cairn.workflows.views import WorkflowRunView
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

MOST_OPEN = 50
"""Runs of a workspace that have not ended."""

MOST_COMMENT_CHARS = 2_000
APPROVED, REJECTED = "approved", "rejected"
STALE_AFTER = timedelta(minutes=20)
"""Longer than any step may take: a run that has not moved since has no execution that will."""

MOST_EXECUTIONS = 100
"""Of one run: more are no accident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to begin: what the workflow's texts are given, and whose memories it is about."""

    input: Mapping[str, str]
    client_id: str | None = None
    trigger: Trigger = Trigger.REQUEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """The runs of a workspace: of admins and operators, read by whoever signed in."""

    platform: Platform

    @property
    def _runner(self) -> Runner:
        return Runner(platform=self.platform)

    def start(
        self,
        principal: Principal,
        name: str,
        new: NewRun,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> WorkflowRunView:
        """Begin a run of the present version.

        Raises Denied, NotFound, ValidationFailed for what it is given or is not, Conflict
        (`too-many-runs`) where MOST_OPEN have not ended.
        """
        principal.require_operator()
        with self.platform.transactions.reading(principal) as stores:
            workflow = stores.workflows.find(name)
        if workflow is None:
            raise missing(name)
        values = checked_input(inputs_of(definition_of(workflow.body)), new.input)
        client = principal.writing_client(clean_name(new.client_id, "client_id") or GLOBAL_CLIENT)
        needed = owners(client, ())

        def prepared() -> Work[UUID]:
            resolution = resolve(self.platform, principal, needed)

            def begin(write: Write) -> UUID:
                write.register()
                return begin_run(
                    self.platform, principal, write, workflow, client, values, new.trigger
                )

            return Work(
                resolution=resolution,
                do=begin,
                keep=lambda run_id: {"id": str(run_id)},
                read=lambda lines: UUID(lines["id"]),
            )

        run_id = Writer(self.platform).write_once(principal, prepared, idempotency)
        return self.get(principal, run_id)

    def get(self, principal: Principal, run_id: UUID) -> WorkflowRunView:
        """Return a run; NotFound without it."""
        principal.require_person()
        opened = self._runner.read(principal.workspace_id, run_id)
        return view_of(opened.run, opened.definition, opened.given, opened.results)

    def page(
        self,
        principal: Principal,
        *,
        before: UUID | None,
        limit: int,
        name: str | None = None,
        state: RunState | None = None,
    ) -> Sequence[WorkflowRunView]:
        """Return runs, the newest first."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            runs = stores.workflows.runs(before=before, limit=limit, name=name, state=state)
            rows = stores.workflows.versions_of({(run.workflow, run.version) for run in runs})
            results = results_of(stores, runs)
        definitions = {(row.name, row.version): definition_of(row.body) for row in rows}
        return [
            view_of(run, definition, self._runner.given(principal.workspace_id, run), done)
            for run, done in zip(runs, results, strict=True)
            if (definition := definitions.get((run.workflow, run.version)))
        ]

    def decide(
        self, principal: Principal, run_id: UUID, *, approve: bool, comment: str = ""
    ) -> WorkflowRunView:
        """Take a person's word: the run goes on, or ends as cancelled (`rejected`).

        Raises Conflict (`not-waiting`) when it waits for nobody (any more).
        """
        principal.require_operator()
        if comment:
            comment = clean_text(comment, field="comment", max_chars=MOST_COMMENT_CHARS)
        before = self._runner.read(principal.workspace_id, run_id)
        run, step = before.run, before.step
        late = run.deadline is not None and run.deadline <= self.platform.clock()
        if run.state is not RunState.WAITING or step is None or late:
            raise Conflict("This run waits for nobody.", reason="not-waiting")
        decision = APPROVED if approve else REJECTED
        output = {
            "decision": decision,
            "comment": scrub(comment).text,
            "by": str(principal.principal_id),
        }
        if approve and run.approval is not None:
            return self._allow(principal, before, run.approval)
        to = replace(run, seq=run.seq + 1, step=run.step + 1, deadline=None, approval=None)
        if not approve:
            to = replace(to, state=RunState.CANCELLED, code=REJECTED)
        elif to.step >= len(before.definition.steps):
            to = replace(to, state=RunState.DONE)
        else:
            to = replace(to, state=RunState.RUNNING, execution=run.execution + 1)
        move = Move(
            to=to,
            step=step,
            result=Result(output=output),
            began=run.moved_at,
            wakes=to.state is RunState.RUNNING,
            entry="workflow.decided",
            meta={"decision": decision},
        )
        self._moved(principal, before, move)
        return self.get(principal, run_id)

    def _allow(
        self, principal: Principal, before: Opened, question: Mapping[str, Any]
    ) -> WorkflowRunView:
        """Let the tool be called that a person was asked about, as it was asked."""
        run = before.run
        to = replace(
            run,
            state=RunState.RUNNING,
            execution=run.execution + 1,
            deadline=None,
            approval={**question, "by": str(principal.principal_id)},
        )
        meta = {"decision": APPROVED}
        self._moved(principal, before, Move(to=to, wakes=True, entry="workflow.decided", meta=meta))
        return self.get(principal, run.id)

    def cancel(self, principal: Principal, run_id: UUID) -> WorkflowRunView:
        """End a run; what was done stays done. Conflict (`ended`) for one that has ended."""
        principal.require_operator()
        before = self._runner.read(principal.workspace_id, run_id)
        if before.run.state in (RunState.DONE, RunState.CANCELLED):
            raise ended()
        to = replace(before.run, state=RunState.CANCELLED, code="cancelled", deadline=None)
        self._moved(principal, before, Move(to=to, entry="workflow.cancelled"))
        return self.get(principal, run_id)

    def resume(self, principal: Principal, run_id: UUID) -> WorkflowRunView:
        """Try a run's failed step again, or go on with one whose execution is gone.

        Raises Conflict (`ended`) for one that ended, (`waiting`) for one that waits for a person.
        """
        principal.require_operator()
        before = self._runner.read(principal.workspace_id, run_id)
        if before.run.state in (RunState.DONE, RunState.CANCELLED):
            raise ended()
        if before.run.state is RunState.WAITING:
            raise Conflict("This run waits for a person.", reason="waiting")
        self._moved(principal, before, rerun(before.run))
        return self.get(principal, run_id)

    def _moved(self, principal: Principal, before: Opened, move: Move) -> None:
        actor = principal_actor(principal)
        if self._runner.move(before, move, actor=actor, person=principal.person) is None:
            raise Conflict("The run has moved on meanwhile.", reason="moved")


def begin_run(
    platform: Platform,
    principal: Principal,
    write: Write,
    workflow: WorkflowRow,
    client: str,
    values: Mapping[str, str],
    trigger: Trigger,
) -> UUID:
    """Keep a run and wake its machine; Conflict where too many have not ended."""
    if write.stores.workflows.open_runs() >= MOST_OPEN:
        detail = f"{MOST_OPEN} runs have not ended; cancel some, or wait."
        raise Conflict(detail, reason="too-many-runs")
    run_id = platform.new_id()
    subjects = write.resolution.subjects_of(owners(client, ()))
    keys = write.resolution.keys_of(subjects)
    run = RunRow(
        id=run_id,
        workflow_id=workflow.id,
        workflow=workflow.name,
        version=workflow.version,
        state=RunState.RUNNING,
        step=0,
        seq=0,
        execution=1,
        trigger=trigger,
        client_id=None if client == GLOBAL_CLIENT else client,
        principal_id=principal.principal_id,
        data_subjects=subjects,
        input=platform.cipher.seal(run_id, principal.workspace_id, keys, dict(values)),
        code=None,
        deadline=None,
        traceparent=joined(current_trace_id(), run_id),
        created_at=write.now,
        moved_at=write.now,
        ended_at=None,
    )
    write.stores.workflows.begin(run)
    meta = {"run_id": str(run_id), "workflow_id": str(workflow.id), "version": run.version}
    with within(run.traceparent):
        write.entries.add(
            "workflow.started",
            {**meta, "trigger": trigger.value},
            {"workflow": workflow.name, "input": dict(values)},
            data_subjects=subjects,
            occurred_at=write.now,
        )
    write.wake(Topic.WORKFLOW, run_id, batch=1)
    return run_id


def rerun(run: RunRow) -> Move:
    """Return the move by which another execution goes on with a run."""
    to = replace(run, state=RunState.RUNNING, code=None, execution=run.execution + 1)
    return Move(to=to, wakes=True, entry="workflow.resumed", meta={"execution": to.execution})


def ended() -> Conflict:
    """Return the refusal of what can no longer be done."""
    return Conflict("This run has ended.", reason="ended")


def checked_input(needed: Sequence[str], values: Mapping[str, str]) -> dict[str, str]:
    """Return what a run is given, scrubbed: all that the workflow names, and nothing else."""
    for name in needed:
        if name not in values:
            _refuse(f"input.{name}", "is needed: the workflow names it")
    for name in values:
        if name not in needed:
            _refuse(f"input.{name}"[:300], "is named nowhere in the workflow")
    return {
        name: scrub(clean_text(values[name], field=f"input.{name}", max_chars=MOST_TEXT_CHARS)).text
        for name in needed
    }


def _refuse(place: str, message: str) -> None:
    wrong: dict[str, Any] = {"errors": [FieldError(place, message)]}
    raise ValidationFailed(f"{place} {message}.", reason="input", **wrong)
