"""Carry out a checked plan: one transaction that looks again at every memory it names.

Whatever happened since the plan was made (a change, a deletion, another consolidation, a subject
forgotten) takes its part of the plan away; the rest is appended. Nothing slow runs in it. Not the
planning, and not which entries a plan becomes (`applied`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cairn.consolidation.applied import Applied, applied, merged_id
from cairn.consolidation.batching import reduced
from cairn.consolidation.plan import (
    Add,
    AddEntity,
    Batch,
    BatchMemory,
    Flag,
    Link,
    Operation,
    Plan,
    Recategorise,
    Relate,
    Supersede,
)
from cairn.consolidation.runs import Progress, counts_of
from cairn.enrichment.ports import NewEmbedding, Recipe
from cairn.enrichment.recipes import written
from cairn.kernel.transaction import LedgerBusy
from cairn.ledger.keys import SubjectForgotten, key_subjects
from cairn.writing.subjects import Resolution
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.batching import Merges
    from cairn.consolidation.runs import Standing
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """A plan over what is left. `gone` memories are left out of the batch; `dropped` operations."""

    plan: Plan
    gone: frozenset[UUID]
    dropped: int


def without_memories(plan: Plan, gone: Collection[UUID]) -> Reduced:
    """Return the plan without what names `gone`, or a memory that was to be merged with one.

    An entity, a relationship or a connection that others name too keeps those.
    """
    left = frozenset(gone)
    if not left:
        return Reduced(plan=plan, gone=left, dropped=0)
    while (more := left | _partners(plan.operations, left)) != left:
        left = more
    operations = [shrunk for operation in plan.operations if (shrunk := _shrunk(operation, left))]
    return Reduced(
        plan=replace(plan, operations=tuple(_with_their_merge(operations))),
        gone=left,
        dropped=len(plan.operations) - len(operations),
    )


def without_merges(plan: Plan, refs: Collection[str]) -> Plan:
    """Return the plan without the added memories of these names and what they would replace."""
    operations = [
        operation
        for operation in plan.operations
        if not (isinstance(operation, Add) and operation.ref in refs)
        and not (isinstance(operation, Supersede) and operation.by in refs)
    ]
    return replace(plan, operations=tuple(operations))


def _partners(operations: Sequence[Operation], gone: frozenset[UUID]) -> set[UUID]:
    """Return the memories that were to be merged with, or flagged against, one that is gone."""
    partners: set[UUID] = set()
    for operation in operations:
        bound = _bound(operation)
        if gone.intersection(bound):
            partners.update(bound)
    return partners


def _bound(operation: Operation) -> tuple[UUID, ...]:
    match operation:
        case Add(sources=sources) | Supersede(sources=sources):
            return sources
        case Flag(one=first, other=other):
            return (first, other)
        case _:
            return ()


def _shrunk(operation: Operation, gone: frozenset[UUID]) -> Operation | None:
    match operation:
        case Link(memories=memories):
            left = tuple(memory for memory in memories if memory not in gone)
            return replace(operation, memories=left) if len(left) > 1 else None
        case Relate(memories=memories) | AddEntity(memories=memories):
            left = tuple(memory for memory in memories if memory not in gone)
            return replace(operation, memories=left) if left else None
        case Recategorise(memory=memory):
            return None if memory in gone else operation
        case _:
            return None if gone.intersection(_bound(operation)) else operation


def _with_their_merge(operations: Sequence[Operation]) -> list[Operation]:
    """Leave out what is said to be replaced by a memory that is not added any more."""
    refs = {operation.ref for operation in operations if isinstance(operation, Add)}
    return [
        operation
        for operation in operations
        if not isinstance(operation, Supersede) or operation.by in refs
    ]


ATTEMPTS = 5
"""How often a transaction is tried while writers hold the ledger, within some seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A checked plan with the batch it is for and what is known of its merges."""

    batch: Batch
    plan: Plan
    merges: Merges


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a proposal: counts by name, and the memories that stay as they were."""

    counts: Mapping[str, int]
    left: frozenset[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyPlan(Writer):
    """Appends what a plan says and what of it still holds, and adds it to its run."""

    model_id: int
    pause: Callable[[float], None]

    def __call__(self, principal: Principal, run_id: UUID, proposal: Proposal) -> Outcome:
        """Apply once; a second call finds the memories consolidated and does nothing.

        Raises Unavailable when the database or the ledger's head cannot be had.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random

        attempts = Retrying(
            retry=retry_if_exception_type(LedgerBusy),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random(0, 0.5),
            sleep=self.pause,
            reraise=True,
        )
        return attempts(self._apply, principal, run_id, proposal)

    def _apply(self, principal: Principal, run_id: UUID, proposal: Proposal) -> Outcome:
        resolution, forgotten = self._keys(principal, proposal.batch)

        def prepared() -> Work[Outcome]:
            return Work(
                resolution=resolution,
                do=partial(self._do, run_id, proposal, forgotten),
                keep=lambda outcome: dict(outcome.counts),
                read=lambda counts: Outcome(counts=dict(counts), left=frozenset()),
            )

        return self.write_once(principal, prepared, None)

    def _keys(self, principal: Principal, batch: Batch) -> tuple[Resolution, frozenset[UUID]]:
        """Return the keys of the batch's data subjects, and the memories whose key is gone."""
        workspace_id = principal.workspace_id
        keys: dict[UUID, bytes] = {}
        forgotten: set[UUID] = set()
        owned: dict[tuple[UUID, ...], list[UUID]] = {}
        for memory in batch.memories:
            subjects = key_subjects(workspace_id, memory.audience.data_subjects)
            owned.setdefault(subjects, []).append(memory.id)
        for subjects, ids in owned.items():
            try:
                keys |= self.platform.keys.get_or_create(workspace_id, subjects)
            except SubjectForgotten:
                forgotten.update(ids)
        resolution = Resolution(workspace_id=workspace_id, ids={}, new=(), keys=keys)
        return resolution, frozenset(forgotten)

    def _do(
        self,
        run_id: UUID,
        proposal: Proposal,
        forgotten: frozenset[UUID],
        write: Write,
    ) -> Outcome:
        batch, existing = proposal.batch, proposal.merges.existing
        forgotten |= _being_forgotten(write.stores, batch)
        standing = write.stores.unconsolidated.standing([memory.id for memory in batch.memories])
        moved = {
            memory.id for memory in batch.memories if not _stands(memory, standing.get(memory.id))
        }
        cut = without_memories(without_merges(proposal.plan, existing), moved | forgotten)
        batch, plan = reduced(batch, cut.gone), cut.plan
        entries = _applied_operations(write, run_id, batch, standing, plan)
        if repeated := _repeated(write.stores, plan, entries):
            plan = without_merges(plan, repeated)
            entries = _applied_operations(write, run_id, batch, standing, plan)
        vectors = _vectors(plan, proposal.merges)
        _append(write, entries, vectors, self.model_id)
        self._embed(write, plan, proposal.merges, vectors)
        counts = Counter(
            batches=1,
            memories=sum(not memory.known for memory in batch.memories),
            overtaken=len(moved - forgotten),
            forgotten=len(forgotten),
            dropped=cut.dropped,
            existing=len(existing) + len(repeated),
        ) + counts_of(plan)
        write.stores.runs.progress(run_id, _progress(plan, counts), write.now)
        write.wake_embed(node for entry in entries for node in entry.made)
        return Outcome(counts=counts, left=cut.gone)

    def _embed(
        self,
        write: Write,
        plan: Plan,
        merges: Merges,
        rows: Sequence[NewEmbedding],
    ) -> None:
        """Store the vectors of what was merged, so that the next batch finds it."""
        adds = [operation for operation in plan.operations if isinstance(operation, Add)]
        embeddings = write.stores.embeddings
        for add in adds:
            embeddings.cache(merges.cacheable(add.ref), self.model_id, write.now)
        embeddings.store(rows, self.model_id, write.entries.position)


def _being_forgotten(stores: Stores, batch: Batch) -> set[UUID]:
    """Return the memories of subjects whose forgetting has begun, whatever keys are still there."""
    subjects = {subject for memory in batch.memories for subject in memory.audience.data_subjects}
    if not subjects:
        return set()
    gone = set(stores.subjects.forgotten(subjects))
    return {
        memory.id for memory in batch.memories if gone.intersection(memory.audience.data_subjects)
    }


def _vectors(plan: Plan, merges: Merges) -> list[NewEmbedding]:
    """Return the vectors of what was merged, each with what a rebuild makes them of again."""
    return [
        NewEmbedding(
            node_id=merged_id(operation.sources),
            vectors=merges.of(operation.ref),
            tokens=merges.tokens_of(operation.ref),
            recipe=Recipe(windows=tuple(merges.windows[operation.ref]), context=()),
        )
        for operation in plan.operations
        if isinstance(operation, Add)
    ]


def _append(
    write: Write,
    entries: Sequence[Applied],
    vectors: Sequence[NewEmbedding],
    model_id: int,
) -> None:
    rows = {row.node_id: row for row in vectors}
    position = write.entries.position + len(entries)
    for entry in entries:
        own = [rows[node] for node in entry.made if node in rows]
        write.entries.add(
            "consolidation.applied",
            entry.meta,
            {**entry.body, "vectors": written(own, model_id, position)} if own else entry.body,
            data_subjects=entry.data_subjects,
            occurred_at=write.now,
        )
    write.append()


def _applied_operations(
    write: Write,
    run_id: UUID,
    batch: Batch,
    standing: Mapping[UUID, Standing],
    plan: Plan,
) -> Sequence[Applied]:
    return applied(
        plan,
        batch,
        workspace_id=write.entries.workspace_id,
        run_id=run_id,
        now=write.now,
        metadata={node_id: each.metadata for node_id, each in standing.items()},
    )


def _repeated(stores: Stores, plan: Plan, entries: Sequence[Applied]) -> Collection[str]:
    """Return the merges whose very text an active memory of their identity has already."""
    sources = {
        merged_id(operation.sources): operation
        for operation in plan.operations
        if isinstance(operation, Add)
    }
    keys = {
        meta["node_id"]: body["dedup_key"]
        for entry in entries
        for meta, body in zip(entry.meta["added"], entry.body["added"], strict=True)
    }
    if not keys:
        return ()
    memories = stores.memories.known(set(keys.values()))
    return [
        add.ref
        for node_id, add in sources.items()
        for item in memories.get(keys.get(str(node_id), ""), ())
        if item.active and item.id not in add.sources
    ]


def _stands(memory: BatchMemory, now: Standing | None) -> bool:
    """Return whether a memory is as it was when the plan was made."""
    if now is None or now.position != memory.position:
        return False
    return memory.known or not now.consolidated


def _progress(plan: Plan, counts: Mapping[str, int]) -> Progress:
    return Progress(
        counts=counts,
        provider=plan.provider,
        model=plan.model,
        cost_usd=plan.cost_usd,
        undone=plan.undone,
    )
