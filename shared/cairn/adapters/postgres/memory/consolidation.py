"""Memories no consolidation has looked at, and its runs, in PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from cairn.adapters.postgres.store import Store, keyed, record
from cairn.consolidation.plan import BatchMemory, EntityName, Pair
from cairn.consolidation.runs import Client, Progress, Run, RunState, Standing, Trigger
from cairn.memories.kinds import MemoryKind
from cairn.writing.audience import GLOBAL_CLIENT, Audience

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from psycopg.rows import RowFactory


class PostgresUnconsolidated(Store):
    """Memories as a consolidation reads them.

    Only such as are to be found (active, provisional), were screened as clean and have a vector of
    the model: what waits for its vector waits for its consolidation.
    """

    def clients(self) -> Sequence[Client]:
        """Return the clients with memories nobody has looked at, the longest waiting first."""
        return self.all_of(record(Client), "consolidation.clients")

    def client(self, client_id: UUID) -> Client | None:
        """Return a client by its data subject, or none for the workspace's own id."""
        if client_id == self.principal.workspace_id:
            return Client(id=client_id, name=GLOBAL_CLIENT)
        name: str | None = self.value("consolidation.client", id=client_id)
        return Client(id=client_id, name=name) if name is not None else None

    def next(
        self, client: str, model_id: int, *, without: Collection[UUID], limit: int
    ) -> Sequence[BatchMemory]:
        """Return the next memories nobody has looked at, by audience, then age by position.

        Those in `without` are left out: they were tried already.
        """
        ids = self.values(
            "consolidation.next",
            client_id=client,
            model_id=model_id,
            without=list(without),
            limit=limit,
        )
        memories = {memory.id: memory for memory in self.find(ids)} if ids else {}
        return [memories[id_] for id_ in ids if id_ in memories]

    def find(self, ids: Collection[UUID]) -> Sequence[BatchMemory]:
        """Return those of the memories that are to be found, looked at (`known`) or not."""
        return self.all_of(MEMORY, "consolidation.memories", ids=list(ids))

    def near(
        self, ids: Collection[UUID], model_id: int, *, minimum: float, limit: int
    ) -> Sequence[Pair]:
        """Return pairs of these memories with any of their client and audience, nearest first.

        Up to `limit` others each, from `minimum` cosine on, found by the index: one may be missed.
        """
        parameters = {"model_id": model_id, "minimum": minimum, "wanted": limit}
        return self.all_of(record(Pair), "consolidation.near", ids=list(ids), **parameters)

    def pairs(self, ids: Collection[UUID], model_id: int, *, minimum: float) -> Sequence[Pair]:
        """Return every pair among these memories from `minimum` cosine on, exactly."""
        parameters = {"model_id": model_id, "minimum": minimum}
        return self.all_of(record(Pair), "consolidation.pairs", ids=list(ids), **parameters)

    def standing(self, ids: Collection[UUID]) -> Mapping[UUID, Standing]:
        """Return how those of the memories stand that are still to be found."""
        return dict(self.all_of(keyed(Standing), "consolidation.standing", ids=list(ids)))

    def left(self, model_id: int) -> Mapping[str, int]:
        """Count what no run takes: `without_vector`, and `suspicious` by their screening."""
        return self.first_of(dict_row, "consolidation.left", model_id=model_id) or {}


class PostgresRuns(Store):
    """The runs of the transaction's workspace."""

    def add(self, run: Run) -> None:
        """Keep a new run."""
        self.write("consolidation.add_run", run, counts=Jsonb(dict(run.counts)))

    def find(self, run_id: UUID) -> Run | None:
        """Return a run of the workspace."""
        parameters = {"id": run_id, "before": None, "limit": 1}
        return self.first_of(self._row_factory, "consolidation.runs", **parameters)

    def page(self, *, before: UUID | None, limit: int) -> Sequence[Run]:
        """Return up to `limit` runs, the newest first, from before a run's id on."""
        parameters = {"id": None, "before": before, "limit": limit}
        return self.all_of(self._row_factory, "consolidation.runs", **parameters)

    def begin(self, run_id: UUID, now: datetime, *, execution: str | None) -> bool:
        """Let a waiting run run; False when it did already or has ended."""
        return self._moved("consolidation.begin_run", id=run_id, now=now, execution=execution)

    def progress(self, run_id: UUID, progress: Progress, now: datetime) -> None:
        """Add what a batch did. A cost that is not known makes the run's unknown."""
        self.run(
            "consolidation.progress_run",
            id=run_id,
            counts=Jsonb(dict(progress.counts)),
            provider=progress.provider,
            model=progress.model,
            cost_usd=progress.cost_usd,
            undone=list(progress.undone),
            now=now,
        )

    def end(
        self,
        run_id: UUID,
        state: RunState,
        now: datetime,
        *,
        counts: Mapping[str, int],
        error: Mapping[str, Any] | None,
    ) -> bool:
        """End a run with these counts; False when it had ended before, and nothing changes then."""
        return self._moved(
            "consolidation.end_run",
            id=run_id,
            state=state.value,
            counts=Jsonb(dict(counts)),
            error=Jsonb(dict(error)) if error is not None else None,
            now=now,
        )

    def note_failure(self, run_id: UUID, error: Mapping[str, Any], now: datetime) -> None:
        """Keep why a part of a run failed, the first one's reason, and count it."""
        self.run("consolidation.note_failure", id=run_id, error=Jsonb(dict(error)), now=now)

    def abandon(self, before: datetime, now: datetime) -> int:
        """End runs that nothing moved since `before` as failed; return how many."""
        return self.run("consolidation.abandon_runs", before=before, now=now).rowcount

    def _moved(self, query: str, **parameters: Any) -> bool:
        return self.run(query, **parameters).rowcount > 0

    @property
    def _row_factory(self) -> RowFactory[Run]:
        make = partial(Run, workspace_id=self.principal.workspace_id)
        return record(make, state=RunState, trigger=Trigger)


def _memory(
    *,
    scope: str,
    agents: tuple[str, ...] | None,
    data_subjects: tuple[UUID, ...],
    entities: Sequence[tuple[str, str]],
    **row: Any,
) -> BatchMemory:
    return BatchMemory(
        audience=Audience(scope=scope, agents=agents, data_subjects=data_subjects),
        entities=tuple(EntityName(name=name, type=type_) for name, type_ in entities),
        **{name: value for name, value in row.items() if value is not None},
    )


MEMORY = record(_memory, kind=MemoryKind)
