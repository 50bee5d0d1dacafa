"""Memories no consolidation has looked at, and its runs, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.store import Store
from cairn.consolidation.plan import BatchMemory, EntityName, Pair
from cairn.consolidation.ports import Client, Standing
from cairn.consolidation.runs import Progress, Run, RunState, Trigger
from cairn.memories.kinds import KnowledgeCategory, MemoryKind
from cairn.writing.audience import GLOBAL_CLIENT, Audience

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresUnconsolidated(Store):
    """Implements `consolidation.ports.Unconsolidated`."""

    def clients(self) -> Sequence[Client]:
        """Return the clients with memories nobody has looked at, the longest waiting first."""
        rows = self.run("consolidation.clients")
        return [Client(id=client_id, name=name) for client_id, name in rows]

    def client(self, client_id: UUID) -> Client | None:
        """Return a client by its data subject, or none for the workspace's own id."""
        if client_id == self.principal.workspace_id:
            return Client(id=client_id, name=GLOBAL_CLIENT)
        row = self.run("consolidation.client", id=client_id).fetchone()
        return Client(id=client_id, name=row[0]) if row else None

    def next(
        self, client: str, model_id: int, *, without: Collection[UUID], limit: int
    ) -> Sequence[BatchMemory]:
        """Return the next memories nobody has looked at."""
        rows = self.run(
            "consolidation.next",
            client_id=client,
            model_id=model_id,
            without=list(without),
            limit=limit,
        )
        ids = [one for (one,) in rows]
        found = {one.id: one for one in self.find(ids)} if ids else {}
        return [found[one] for one in ids if one in found]

    def find(self, ids: Collection[UUID]) -> Sequence[BatchMemory]:
        """Return those of the memories that are to be found."""
        return [_memory(row) for row in self.run("consolidation.memories", ids=list(ids))]

    def near(
        self, ids: Collection[UUID], model_id: int, *, minimum: float, wanted: int
    ) -> Sequence[Pair]:
        """Return pairs with others of their client and audience, nearest first."""
        rows = self.run(
            "consolidation.near", ids=list(ids), model_id=model_id, minimum=minimum, wanted=wanted
        )
        return [Pair(one=one, other=other, cosine=cosine) for one, other, cosine in rows]

    def pairs(self, ids: Collection[UUID], model_id: int, *, minimum: float) -> Sequence[Pair]:
        """Return every near pair among these memories."""
        rows = self.run("consolidation.pairs", ids=list(ids), model_id=model_id, minimum=minimum)
        return [Pair(one=one, other=other, cosine=cosine) for one, other, cosine in rows]

    def standing(self, ids: Collection[UUID]) -> Mapping[UUID, Standing]:
        """Return how those of the memories stand that are still to be found."""
        return {
            one: Standing(position=position, consolidated=consolidated, metadata=metadata)
            for one, position, consolidated, metadata in self.run(
                "consolidation.standing", ids=list(ids)
            )
        }

    def left(self, model_id: int) -> Mapping[str, int]:
        """Count what no run takes."""
        row = self.run("consolidation.left", model_id=model_id).fetchone()
        without_vector, suspicious = row or (0, 0)
        return {"without_vector": without_vector, "suspicious": suspicious}


class PostgresRuns(Store):
    """Implements `consolidation.runs.RunStore`."""

    def add(self, run: Run) -> None:
        """Keep a new run."""
        self.run(
            "consolidation.add_run",
            id=run.id,
            state=run.state.value,
            trigger=run.trigger.value,
            dry_run=run.dry_run,
            client=run.client,
            requested_by=run.requested_by,
            provider=run.provider,
            model=run.model,
            counts=Jsonb(dict(run.counts)),
            cost_usd=run.cost_usd,
            undone=list(run.undone),
            execution=run.execution,
            created_at=run.created_at,
            started_at=run.started_at,
            updated_at=run.updated_at,
            ended_at=run.ended_at,
        )

    def find(self, run_id: UUID) -> Run | None:
        """Return a run of the workspace."""
        row = self.run("consolidation.runs", id=run_id, before=None, limit=1).fetchone()
        return self._run(row) if row else None

    def page(self, *, before: UUID | None, limit: int) -> Sequence[Run]:
        """Return runs, the newest first."""
        rows = self.run("consolidation.runs", id=None, before=before, limit=limit)
        return [self._run(row) for row in rows]

    def begin(self, run_id: UUID, now: datetime, *, execution: str | None) -> bool:
        """Let a waiting run run."""
        return self._moved("consolidation.begin_run", id=run_id, now=now, execution=execution)

    def progress(self, run_id: UUID, progress: Progress, now: datetime) -> None:
        """Add what a batch did."""
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
        """End a run; False when it had ended before."""
        return self._moved(
            "consolidation.end_run",
            id=run_id,
            state=state.value,
            counts=Jsonb(dict(counts)),
            error=Jsonb(dict(error)) if error is not None else None,
            now=now,
        )

    def note_failure(self, run_id: UUID, error: Mapping[str, Any], now: datetime) -> None:
        """Keep why a part of a run failed."""
        self.run("consolidation.note_failure", id=run_id, error=Jsonb(dict(error)), now=now)

    def abandon(self, before: datetime, now: datetime) -> int:
        """End runs that nothing moved since `before`."""
        return self.run("consolidation.abandon_runs", before=before, now=now).rowcount

    def _moved(self, query: str, **given: Any) -> bool:
        return self.run(query, **given).rowcount > 0

    def _run(self, row: Sequence[Any]) -> Run:
        run_id, state, trigger, dry_run, client, requested_by, provider, model, *rest = row
        counts, cost, undone, error, execution, created_at, started_at, updated_at, ended_at = rest
        return Run(
            id=run_id,
            workspace_id=self.principal.workspace_id,
            state=RunState(state),
            trigger=Trigger(trigger),
            dry_run=dry_run,
            client=client,
            requested_by=requested_by,
            provider=provider,
            model=model,
            counts=counts,
            cost_usd=cost,
            undone=tuple(undone),
            error=error,
            execution=execution,
            created_at=created_at,
            started_at=started_at,
            updated_at=updated_at,
            ended_at=ended_at,
        )


def _memory(row: Sequence[Any]) -> BatchMemory:
    node_id, position, kind, text, digest, scope, agents, subjects, client, *rest = row
    occurred_at, valid_from, valid_to, key, subject, status, category, importance, *rest = rest
    source_agent, screening, confidence, consolidated, entities = rest
    return BatchMemory(
        id=node_id,
        position=position,
        kind=MemoryKind(kind),
        text=text,
        content_hash=digest,
        audience=Audience(
            scope=scope,
            agents=tuple(agents) if agents is not None else None,
            data_subjects=tuple(subjects),
        ),
        client_id=client,
        occurred_at=occurred_at,
        valid_from=valid_from,
        valid_to=valid_to,
        key=key,
        subject=subject,
        status_value=status,
        knowledge_category=KnowledgeCategory(category or KnowledgeCategory.GENERAL),
        importance=importance,
        source_agent=source_agent,
        screening=screening,
        confidence=confidence,
        entities=tuple(EntityName(name=name, type=type_) for name, type_ in entities),
        known=consolidated,
    )
