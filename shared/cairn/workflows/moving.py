"""How a run moves: one transaction with its entry, by compare-and-set, sealed for whom it is about.

What another execution, a person or a cancellation did first wins: then nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, NotFound
from cairn.kernel.spans import passed
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.traces import within
from cairn.ledger.entry import SYSTEM
from cairn.ledger.keys import BodyUnreadable, key_subjects
from cairn.workflows.definitions import definition_of
from cairn.workflows.rows import ENDED, RunState, StepState, result_id
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.ports import Topic
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import PersonRole
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Actor
    from cairn.workflows.definition import Definition, Step
    from cairn.workflows.rows import ResultRow, RunRow
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

SOURCE = "workflow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a step. `about` are whom it is about besides whom the run was about before."""

    output: Mapping[str, Any]
    about: tuple[UUID, ...] = ()
    report_id: UUID | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A run with its definition, what it was given, and what came of its steps."""

    workspace_id: UUID
    run: RunRow
    definition: Definition
    given: Mapping[str, Any]
    results: Sequence[ResultRow]

    @property
    def step(self) -> Step | None:
        """The step that is next; None at the end."""
        steps = self.definition.steps
        return steps[self.run.step] if self.run.step < len(steps) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a run goes: its row as it will be, and what came of a step where one ended."""

    to: RunRow
    step: Step | None = None
    result: Result | None = None
    began: datetime | None = None
    wakes: bool = False
    entry: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


class NeedsWord(CairnError):
    """A step needs a person's word before it goes on; `move` makes the run wait for it."""

    code = "needs-word"

    def __init__(self, move: Move) -> None:
        super().__init__("A person has to approve this.")
        self.move = move


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Reads and moves runs."""

    platform: Platform

    def read(self, workspace_id: UUID, run_id: UUID) -> Opened:
        """Return a run; NotFound without it."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            run = stores.workflows.find_run(run_id)
            if run is None:
                raise missing_run(run_id)
            row = stores.workflows.version(run.workflow, run.version)
            results = results_of(stores, [run])[0]
        if row is None:
            raise missing_run(run_id)
        return Opened(
            workspace_id=workspace_id,
            run=run,
            definition=definition_of(row.body),
            given=self.given(workspace_id, run),
            results=results,
        )

    def given(self, workspace_id: UUID, run: RunRow) -> Mapping[str, Any]:
        """Return what a run was given; nothing of what was forgotten."""
        if not run.input:
            return {}
        subjects = key_subjects(workspace_id, run.data_subjects)
        held = self.platform.keys.get(workspace_id, subjects)
        try:
            return self.platform.cipher.open(run.id, workspace_id, subjects, held, run.input)
        except BodyUnreadable as error:
            if error.reason != "key-destroyed":
                raise
            return {}

    def move(
        self,
        before: Opened,
        move: Move,
        *,
        actor: Actor = SYSTEM,
        person: PersonRole | None = None,
    ) -> RunRow | None:
        """Move a run and return it as it is then; None when something moved it meanwhile.

        `person` is the role of who signed in to do it, which the database holds it to. Raises
        SubjectForgotten when somebody whom it is about was forgotten.
        """
        workspace_id, run = before.workspace_id, before.run
        about = tuple(sorted({*run.data_subjects, *(move.result.about if move.result else ())}))
        keys = self.platform.keys.get_or_create(workspace_id, key_subjects(workspace_id, about))
        sealed = run.input
        if about != run.data_subjects:
            sealed = self.platform.cipher.seal(run.id, workspace_id, keys, dict(before.given))
        principal = replace(system_principal(workspace_id), person=person)
        with (
            within(run.traceparent),
            open_write(
                self.platform, principal, actor=actor, keys=keys, data_subjects=about
            ) as write,
        ):
            to = replace(move.to, data_subjects=about, input=sealed, moved_at=write.now)
            if not write.stores.workflows.move(run, to):
                return None
            self._note(write, before, replace(move, to=to))
        if to.ended_at is not None:
            whole = to.ended_at - to.created_at
            passed("invoke_workflow", whole.total_seconds(), own=to.traceparent)
        return to

    def use_grant(self, workspace_id: UUID, grant_id: UUID, action_id: UUID) -> None:
        """Count a use of a standing grant; Conflict where none is left."""
        principal = system_principal(workspace_id)
        with self.platform.transactions.preparing(principal) as (stores, _):
            if not stores.grants.use(grant_id, action_id, self.platform.clock()):
                raise Conflict("The standing grant is used up.", reason="grant-used-up")

    def _note(self, write: Write, before: Opened, move: Move) -> None:
        run, to = before.run, move.to
        ids = {"run_id": str(run.id), "workflow_id": str(run.workflow_id)}
        if move.step is not None and move.result is not None:
            note_result(write, run, move, ids)
        if move.entry is not None:
            write.note(move.entry, {**ids, "state": to.state.value, **move.meta}, {})
        elif to.state in (RunState.DONE, RunState.FAILED):
            meta = {**ids, "state": to.state.value, "code": to.code}
            write.note("workflow.ended", meta, {})
        if move.wakes:
            write.wake(Topic.WORKFLOW, run.id, batch=to.execution)


def note_result(write: Write, run: RunRow, move: Move, ids: Mapping[str, Any]) -> None:
    """Plan the entry that becomes the StepResult."""
    assert move.step is not None
    assert move.result is not None
    result = move.result
    state = StepState.FAILED if result.error is not None else StepState.DONE
    meta = {
        **ids,
        "seq": move.to.seq,
        "kind": move.step.kind,
        "state": state.value,
        "error": result.error,
        "scope": "admin",
        "result_id": str(result_id(run.id, move.to.seq)),
        "report_id": str(result.report_id) if result.report_id else None,
        "started_at": format_timestamp(move.began or write.now),
        "ended_at": format_timestamp(write.now),
    }
    body = {
        "workflow": run.workflow,
        "step": move.step.name,
        "output": dict(result.output),
        "client_id": run.client_id or GLOBAL_CLIENT,
        "agents": None,
        "source_agent": SOURCE,
    }
    write.note(ENDED, meta, body)


def results_of(stores: Stores, runs: Sequence[RunRow]) -> Sequence[Sequence[ResultRow]]:
    """Return what came of the steps of each run, in order."""
    ids = [[result_id(run.id, seq) for seq in range(1, run.seq + 1)] for run in runs]
    every = [each for of_run in ids for each in of_run]
    rows = {row.id: row for row in stores.workflows.results(every)} if every else {}
    return [[rows[each] for each in of_run if each in rows] for of_run in ids]


def missing_run(run_id: UUID) -> NotFound:
    """Return the refusal of a run that there is not."""
    return NotFound("There is no such run of a workflow.", run_id=str(run_id))
