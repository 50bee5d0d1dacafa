"""What is left of a plan when some of its memories may no longer be touched. Pure.

A memory that was changed, deleted, forgotten or consolidated by another since the plan was made
takes with it what was planned with it; the memories it was planned with stay for the next batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.consolidation.plan import (
    Add,
    AddEntity,
    Flag,
    Link,
    Operation,
    Plan,
    Recategorise,
    Relate,
    Supersede,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from uuid import UUID


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
    kept = [one for operation in plan.operations if (one := _shrunk(operation, left))]
    return Reduced(
        plan=replace(plan, operations=tuple(_with_their_merge(kept))),
        gone=left,
        dropped=len(plan.operations) - len(kept),
    )


def without_merges(plan: Plan, refs: Collection[str]) -> Plan:
    """Return the plan without the added memories of these names and what they would replace."""
    kept = [
        one
        for one in plan.operations
        if not (isinstance(one, Add) and one.ref in refs)
        and not (isinstance(one, Supersede) and one.by in refs)
    ]
    return replace(plan, operations=tuple(kept))


def _partners(operations: Sequence[Operation], gone: frozenset[UUID]) -> set[UUID]:
    """Return the memories that were to be merged with, or flagged against, one that is gone."""
    found: set[UUID] = set()
    for operation in operations:
        named = _bound(operation)
        if gone.intersection(named):
            found.update(named)
    return found


def _bound(operation: Operation) -> tuple[UUID, ...]:
    match operation:
        case Add(sources=sources) | Supersede(sources=sources):
            return sources
        case Flag(one=one, other=other):
            return (one, other)
        case _:
            return ()


def _shrunk(operation: Operation, gone: frozenset[UUID]) -> Operation | None:
    match operation:
        case Link(memories=memories):
            left = tuple(one for one in memories if one not in gone)
            return replace(operation, memories=left) if len(left) > 1 else None
        case Relate(memories=memories) | AddEntity(memories=memories):
            left = tuple(one for one in memories if one not in gone)
            return replace(operation, memories=left) if left else None
        case Recategorise(memory=memory):
            return None if memory in gone else operation
        case _:
            return None if gone.intersection(_bound(operation)) else operation


def _with_their_merge(operations: Sequence[Operation]) -> list[Operation]:
    """Leave out what is said to be replaced by a memory that is not added any more."""
    refs = {one.ref for one in operations if isinstance(one, Add)}
    return [one for one in operations if not isinstance(one, Supersede) or one.by in refs]
