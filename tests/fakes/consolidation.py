"""Memories no consolidation has looked at, and its runs, in memory, for tests."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from cairn.consolidation.plan import BatchMemory, EntityName, Pair
from cairn.consolidation.ports import Client, Standing
from cairn.consolidation.runs import Progress, Run, RunState
from cairn.graph.edge import Relation, Role, View
from cairn.graph.node import Label, Node, State
from cairn.memory.draft import GLOBAL_CLIENT, Audience
from cairn.memory.kinds import KnowledgeCategory, MemoryKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.access import Principal

_FOUND = (State.ACTIVE, State.PROVISIONAL)
_OPEN = (RunState.WAITING, RunState.RUNNING)
_ABANDONED = {"error": "Abandoned", "reason": "abandoned"}


@dataclass(frozen=True)
class InMemoryUnconsolidated:
    """Implements `consolidation.ports.Unconsolidated`."""

    tables: Tables
    principal: Principal

    def clients(self) -> Sequence[Client]:
        """Return the clients with memories nobody has looked at, the longest waiting first."""
        waiting = sorted(self._waiting(), key=lambda one: self.tables.created[one.id])
        names = dict.fromkeys(one.client_id for one in waiting)
        ids = {name: self._id_of(name) for name in names}
        return [Client(id=one, name=name) for name, one in ids.items() if one is not None]

    def client(self, client_id: UUID) -> Client | None:
        """Return a client by its data subject, or none for the workspace's own id."""
        if client_id == self.principal.workspace_id:
            return Client(id=client_id, name=GLOBAL_CLIENT)
        for (kind, name), one in self.tables.subjects.items():
            if kind == "client" and one == client_id:
                return Client(id=one, name=name)
        return None

    def next(
        self, client: str, model_id: int, *, without: Collection[UUID], limit: int
    ) -> Sequence[BatchMemory]:
        """Return the next memories nobody has looked at."""
        found = [
            one
            for one in self._waiting()
            if one.client_id == client
            and one.id not in without
            and (one.id, model_id) in self.tables.embeddings
        ]
        found.sort(key=self._place)
        return [self._memory(one) for one in found[:limit]]

    def find(self, ids: Collection[UUID]) -> Sequence[BatchMemory]:
        """Return those of the memories that are to be found."""
        return [self._memory(one) for one in self._memories() if one.id in ids]

    def near(
        self, ids: Collection[UUID], model_id: int, *, minimum: float, wanted: int
    ) -> Sequence[Pair]:
        """Return pairs with others of their client and audience, nearest first."""
        nodes = self._memories()
        found: dict[tuple[UUID, UUID], float] = {}
        for node in nodes:
            if node.id in ids:
                others = [one for one in nodes if one.id != node.id and _together(one, node)]
                scored = [(self._cosine(node, one, model_id), one.id) for one in others]
                for cosine, other in sorted(scored, key=lambda one: -one[0])[:wanted]:
                    if cosine >= minimum:
                        found[min(node.id, other), max(node.id, other)] = cosine
        pairs = [Pair(one=one, other=other, cosine=at) for (one, other), at in found.items()]
        return sorted(pairs, key=lambda pair: (-pair.cosine, pair.one, pair.other))

    def pairs(self, ids: Collection[UUID], model_id: int, *, minimum: float) -> Sequence[Pair]:
        """Return every near pair among these memories."""
        nodes = sorted((one for one in self._memories() if one.id in ids), key=lambda n: n.id)
        scored = [
            Pair(one=one.id, other=other.id, cosine=self._cosine(one, other, model_id))
            for one, other in combinations(nodes, 2)
            if (one.scope, one.agents) == (other.scope, other.agents)
        ]
        return [pair for pair in scored if pair.cosine >= minimum]

    def standing(self, ids: Collection[UUID]) -> Mapping[UUID, Standing]:
        """Return how those of the memories stand that are still to be found."""
        return {
            one.id: Standing(
                position=one.position, consolidated=one.consolidated, metadata=one.metadata
            )
            for one in self._nodes()
            if one.id in ids
        }

    def left(self, model_id: int) -> Mapping[str, int]:
        """Count what no run takes."""
        waiting = self._waiting()
        lacking = [one for one in waiting if (one.id, model_id) not in self.tables.embeddings]
        suspicious = [
            one for one in self._nodes() if not one.consolidated and one.screening != "clean"
        ]
        return {"without_vector": len(lacking), "suspicious": len(suspicious)}

    def _nodes(self) -> list[Node]:
        nodes = self.tables.nodes.values()
        return [one for one in nodes if one.label == Label.MEMORY and one.state in _FOUND]

    def _memories(self) -> list[Node]:
        return [one for one in self._nodes() if one.screening == "clean"]

    def _waiting(self) -> list[Node]:
        return [one for one in self._memories() if not one.consolidated]

    def _id_of(self, name: str) -> UUID | None:
        if name == GLOBAL_CLIENT:
            return self.principal.workspace_id
        return self.tables.subjects.get(("client", name))

    def _place(self, node: Node) -> tuple[Any, ...]:
        agents = node.agents or ()
        audience = (node.scope, node.agents is None, agents, node.data_subjects)
        return (*audience, self.tables.created[node.id])

    def _cosine(self, one: Node, other: Node, model_id: int) -> float:
        rows = [self.tables.embeddings.get((node.id, model_id)) for node in (one, other)]
        if rows[0] is None or rows[1] is None:
            return -1.0
        return max(float(a @ b) for a in rows[0][1] for b in rows[1][1])

    def _memory(self, node: Node) -> BatchMemory:
        return BatchMemory(
            id=node.id,
            position=node.position,
            kind=MemoryKind(node.kind or MemoryKind.FACT),
            text=node.text,
            content_hash=node.content_hash,
            audience=Audience(
                scope=node.scope, agents=node.agents, data_subjects=node.data_subjects
            ),
            client_id=node.client_id,
            occurred_at=node.occurred_at,
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            key=node.key,
            subject=node.subject,
            status_value=node.status_value,
            knowledge_category=KnowledgeCategory(
                node.knowledge_category or KnowledgeCategory.GENERAL
            ),
            importance=node.importance,
            source_agent=node.source_agent,
            screening=node.screening,
            confidence=node.confidence,
            entities=self._entities(node),
            known=node.consolidated,
        )

    def _entities(self, node: Node) -> tuple[EntityName, ...]:
        named = [
            self.tables.nodes[edge.target_id]
            for edge in self.tables.edges.values()
            if (edge.view, edge.relation) == (View.ENTITY, Relation.REFERENCES)
            and edge.source_id == node.id
            and edge.properties.get("role") == Role.MENTIONED
            and edge.target_id in self.tables.nodes
        ]
        return tuple(
            EntityName(name=name, type=type_)
            for name, type_ in sorted(
                (one.canonical_name or "", one.kind or "")
                for one in named
                if one.state is State.ACTIVE
            )
        )


@dataclass(frozen=True)
class InMemoryRuns:
    """Implements `consolidation.runs.RunStore`."""

    tables: Tables

    def add(self, run: Run) -> None:
        """Keep a new run."""
        self.tables.runs[run.id] = run

    def find(self, run_id: UUID) -> Run | None:
        """Return a run."""
        return self.tables.runs.get(run_id)

    def page(self, *, before: UUID | None, limit: int) -> Sequence[Run]:
        """Return runs, the newest first."""
        found = [one for one in self.tables.runs.values() if before is None or one.id < before]
        return sorted(found, key=lambda one: one.id, reverse=True)[:limit]

    def begin(self, run_id: UUID, now: datetime, *, execution: str | None) -> bool:
        """Let a waiting run run."""
        run = self.tables.runs.get(run_id)
        if run is None or run.state is not RunState.WAITING:
            return False
        self.tables.runs[run_id] = replace(
            run, state=RunState.RUNNING, started_at=now, updated_at=now, execution=execution
        )
        return True

    def progress(self, run_id: UUID, progress: Progress, now: datetime) -> None:
        """Add what a batch did."""
        run = self.tables.runs[run_id]
        unknown = run.cost_usd is None or progress.cost_usd is None
        self.tables.runs[run_id] = replace(
            run,
            counts=dict(Counter(run.counts) + Counter(progress.counts)),
            provider=progress.provider or run.provider,
            model=progress.model or run.model,
            cost_usd=None if unknown else (run.cost_usd or 0) + (progress.cost_usd or 0),
            undone=tuple(sorted({*run.undone, *progress.undone})),
            updated_at=now,
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
        run = self.tables.runs.get(run_id)
        if run is None or run.ended:
            return False
        self.tables.runs[run_id] = replace(
            run,
            state=state,
            counts={**run.counts, **counts},
            error=run.error or error,
            updated_at=now,
            ended_at=now,
        )
        return True

    def note_failure(self, run_id: UUID, error: Mapping[str, Any], now: datetime) -> None:
        """Keep why a part of a run failed."""
        run = self.tables.runs.get(run_id)
        if run is None or run.ended:
            return
        failures = run.counts.get("failures", 0) + 1
        self.tables.runs[run_id] = replace(
            run,
            error=run.error or error,
            counts={**run.counts, "failures": failures},
            updated_at=now,
        )

    def abandon(self, before: datetime, now: datetime) -> int:
        """End runs that nothing moved since `before`."""
        stale = [
            one
            for one in self.tables.runs.values()
            if one.state in _OPEN and one.updated_at < before
        ]
        for run in stale:
            self.tables.runs[run.id] = replace(
                run,
                state=RunState.FAILED,
                error=run.error or _ABANDONED,
                updated_at=now,
                ended_at=now,
            )
        return len(stale)


def _together(one: Node, other: Node) -> bool:
    """Return whether two memories are of one client and audience."""
    return (one.client_id, one.scope, one.agents, one.data_subjects) == (
        other.client_id,
        other.scope,
        other.agents,
        other.data_subjects,
    )
