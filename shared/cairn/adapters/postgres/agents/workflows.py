"""Workflows with their versions, their runs, and what came of the steps, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from cairn.adapters.postgres.store import Store, record
from cairn.workflows.rows import (
    NewNode,
    ResultRow,
    RunRow,
    RunState,
    StepState,
    Trigger,
    WorkflowRow,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

_WORKFLOW = record(WorkflowRow)
_RUN = record(RunRow, state=RunState, trigger=Trigger)


def _result(**row: Any) -> ResultRow:
    metadata = row["metadata"]
    names = ("seq", "step", "kind", "output", "error", "started_at", "ended_at")
    fields = {name: metadata[name] for name in names}
    return ResultRow(
        id=row["id"], position=row["position"], state=StepState(metadata["state"]), **fields
    )


class PostgresWorkflows(Store):
    """The workflows of the transaction's workspace."""

    def find(self, name: str) -> WorkflowRow | None:
        """Return the present version of one that was not removed."""
        return self.first_of(_WORKFLOW, "workflow.find", called=name)

    def all(self) -> Sequence[WorkflowRow]:
        """Return the present versions, by name."""
        return self.all_of(_WORKFLOW, "workflow.all")

    def versions(self, name: str) -> Sequence[WorkflowRow]:
        """Return every version of a name, the newest first."""
        return self.all_of(_WORKFLOW, "workflow.versions", called=name)

    def version(self, name: str, version: int) -> WorkflowRow | None:
        """Return one version of a name."""
        return self.first_of(_WORKFLOW, "workflow.version", called=name, version=version)

    def versions_of(self, pairs: Collection[tuple[str, int]]) -> Sequence[WorkflowRow]:
        """Return the versions of these names and numbers."""
        names, numbers = [name for name, _ in pairs], [number for _, number in pairs]
        return self.all_of(_WORKFLOW, "workflow.versions_of", names=names, numbers=numbers)

    def add(self, row: WorkflowRow) -> None:
        """Keep a version; the newest is the present one."""
        self.run("workflow.retire", called=row.name)
        self.write("workflow.add", row, body=Jsonb(row.body))

    def due(self, now: datetime) -> Sequence[WorkflowRow]:
        """Return the workflows that are due."""
        return self.all_of(_WORKFLOW, "workflow.due", now=now)

    def reschedule(self, row: WorkflowRow, following: datetime) -> bool:
        """Say when one is due next; False when somebody else has begun its run."""
        when = {"due_at": row.due_at, "next": following}
        return self.run("workflow.reschedule", called=row.name, **when).rowcount == 1

    def begin(self, run: RunRow) -> bool:
        """Keep a run; False when its id is known."""
        return self.write("workflow.begin", run).rowcount == 1

    def find_run(self, run_id: UUID) -> RunRow | None:
        """Return a run."""
        return self.first_of(_RUN, "workflow.run", id=run_id)

    def runs(
        self, *, before: UUID | None, limit: int, name: str | None, state: RunState | None
    ) -> Sequence[RunRow]:
        """Return runs, the newest first."""
        filters = {"called": name, "state": state.value if state else None}
        return self.all_of(_RUN, "workflow.runs", before=before, limit=limit, **filters)

    def open_runs(self) -> int:
        """Return how many runs have not ended."""
        return self.value("workflow.open")

    def still(self, since: datetime, now: datetime) -> Sequence[RunRow]:
        """Return those that should be moving and have not since, or have waited long enough."""
        return self.all_of(_RUN, "workflow.still", since=since, now=now)

    def move(self, seen: RunRow, to: RunRow) -> bool:
        """Move a run on from where it was seen; False when something else has moved it."""
        moved = self.run(
            "workflow.move",
            id=seen.id,
            state=seen.state.value,
            step=seen.step,
            seq=seen.seq,
            execution=seen.execution,
            began=seen.began,
            to_began=to.began,
            approval=Jsonb(to.approval) if to.approval is not None else None,
            to_state=to.state.value,
            to_step=to.step,
            to_seq=to.seq,
            to_execution=to.execution,
            code=to.code,
            deadline=to.deadline,
            about=list(to.data_subjects),
            input=to.input,
            now=to.moved_at,
        )
        return moved.rowcount == 1

    def results(self, ids: Collection[UUID]) -> Sequence[ResultRow]:
        """Return what came of steps; those that were forgotten are left out."""
        return self.all_of(record(_result), "workflow.results", ids=list(ids))

    def counts(self, after: int, clients: Sequence[str] | None) -> Mapping[str, int]:
        """Return how much was written after a place in the ledger, by label."""
        parameters = {"after": after, "clients": clients}
        return dict(self.all_of(tuple_row, "workflow.counts", **parameters))

    def newest(self, after: int, clients: Sequence[str] | None, limit: int) -> Sequence[NewNode]:
        """Return what matters most of the memories written after a place in the ledger."""
        parameters = {"after": after, "clients": clients, "limit": limit}
        return self.all_of(record(NewNode), "workflow.newest", **parameters)
