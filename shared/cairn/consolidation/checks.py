"""What a plan may do: everything else is dropped and counted, whoever proposed it. Pure.

A planner may be a model that was told lies by the very memories it reads. So an id must be of the
batch, audiences and clients never meet, and a merge loses nothing (`merge_checks`). What is wrong
in part (one unknown id of three linked memories) keeps its sound part; a merge does not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from cairn.consolidation.merge_checks import (
    Refused,
    checked_merge,
    cyclic,
    is_text,
    same_audience,
)
from cairn.consolidation.plan import (
    MAX_OPERATIONS,
    Add,
    AddEntity,
    Batch,
    BatchMemory,
    Flag,
    Link,
    Operation,
    Plan,
    Recategorise,
    Refusal,
    Relate,
    Supersede,
)
from cairn.consolidation.tokens import ORDINARY_WORDS
from cairn.graph.edge import Relation
from cairn.graph.entity_names import name_key, tidy_name
from cairn.graph.node import KnowledgeCategory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from cairn.consolidation.plan import EntityName

MAX_WHY_CHARS = 500
MAX_LINKED = 6
"""Memories one link may join: each pair of them becomes an edge."""

MAX_ALIASES = 10

RELATIONS = frozenset(
    {
        Relation.CONTACT_OF,
        Relation.SAME_OWNER,
        Relation.USES,
        Relation.WORKS_ON,
        Relation.COMPETITOR_OF,
    }
)
"""What a plan may say of two entities; co-occurrence is counted elsewhere."""


_Kept = TypeVar("_Kept", bound=Operation)


def checked(plan: Plan, batch: Batch) -> Plan:
    """Return the part of a plan that may be applied to the batch, in an order of its own.

    `refused` counts what was dropped, by reason. Contradicting sources of a refused merge are
    flagged. Checking a checked plan changes nothing.
    """
    checking = _Checking(batch=batch, memories={memory.id: memory for memory in batch.memories})
    checking.take(plan.operations)
    operations = checking.operations()
    refused = {reason: count for reason, count in checking.refused.items() if count}
    return replace(plan, operations=operations, refused=MappingProxyType(refused))


@dataclass(slots=True, kw_only=True)
class _Checking:
    batch: Batch
    memories: dict[UUID, BatchMemory]
    refused: Counter[Refusal] = field(default_factory=Counter[Refusal])
    merges: list[tuple[Add, Supersede]] = field(default_factory=list[tuple[Add, Supersede]])
    flags: dict[frozenset[UUID], Flag] = field(default_factory=dict[frozenset["UUID"], Flag])
    others: list[Operation] = field(default_factory=list[Operation])

    def take(self, operations: Sequence[Operation]) -> None:
        """Sort out one plan's operations."""
        for operation in operations:
            if isinstance(operation, Flag):
                self._flag(operation)
        self._merge(operations)
        merged = {source: add.ref for add, _ in self.merges for source in add.sources}
        seen: set[object] = set()
        for operation in operations:
            checked = self._other(operation, merged)
            if checked is None:
                continue
            if _identity(checked) in seen:
                self.refused[Refusal.REPEATED] += 1
                continue
            seen.add(_identity(checked))
            self.others.append(checked)

    def operations(self) -> tuple[Operation, ...]:
        """Return what may be applied: merges, flags, the rest, each in the order of its ids."""
        merges = sorted(self.merges, key=lambda merge: merge[0].sources)
        results: list[Operation] = [item for pair in merges for item in pair]
        results += sorted(self.flags.values(), key=lambda flag: (flag.one, flag.other))
        results += sorted(
            self.others, key=lambda other: (type(other).__name__, repr(_identity(other)))
        )
        operations = results[:MAX_OPERATIONS]
        if operations and isinstance(operations[-1], Add):
            operations.pop()
        if len(operations) < len(results):
            self.refused[Refusal.TOO_MANY] += len(results) - len(operations)
        return tuple(operations)

    def _flag(self, flag: Flag) -> None:
        pair = frozenset((flag.one, flag.other))
        reason = self._apart(pair) or (None if is_text(flag.why, MAX_WHY_CHARS) else Refusal.TEXT)
        if reason is None and (
            pair in self.flags or all(self.memories[item].known for item in pair)
        ):
            reason = Refusal.REPEATED
        if reason is not None:
            self.refused[reason] += 1
            return
        first, other = sorted(pair)
        self.flags[pair] = replace(flag, one=first, other=other)

    def _apart(self, ids: Iterable[UUID]) -> Refusal | None:
        """Return why these may not be named together, None when they may."""
        unique = list(ids)
        if any(item not in self.memories for item in unique):
            return Refusal.UNKNOWN_ID
        if len(unique) < 2:
            return Refusal.TOO_FEW
        of = [self.memories[item] for item in unique]
        if any(item.client_id != of[0].client_id for item in of):
            return Refusal.CLIENT
        if not all(same_audience(item.audience, of[0].audience) for item in of):
            return Refusal.AUDIENCE
        return None

    def _merge(self, operations: Sequence[Operation]) -> None:
        """Keep merges whose two halves agree, and whose memories are in no other merge."""
        adds: dict[str, Add] = {}
        for operation in operations:
            if isinstance(operation, Add):
                self.refused[Refusal.DUPLICATE_REF] += operation.ref in adds
                adds.setdefault(operation.ref, operation)
        supersedes = self._supersedes(operations, adds)
        used: set[UUID] = set()
        for ref in sorted(adds, key=lambda ref: (sorted(adds[ref].sources), ref)):
            add, supersede = adds[ref], supersedes.get(ref)
            if supersede is None or set(supersede.sources) != set(add.sources):
                self.refused[Refusal.SOURCES] += 1
                continue
            checked = checked_merge(add, self.batch, self.memories)
            if isinstance(checked, Refused):
                self._refuse(checked)
            elif used & set(checked.sources):
                self.refused[Refusal.USED_TWICE] += 1
            elif any(pair <= set(checked.sources) for pair in self.flags):
                self.refused[Refusal.CONTRADICTS] += 1
            else:
                used |= set(checked.sources)
                self.merges.append((checked, replace(supersede, sources=checked.sources)))

    def _supersedes(
        self, operations: Sequence[Operation], adds: dict[str, Add]
    ) -> dict[str, Supersede]:
        """Return what supersedes by what it names; cycles and repeats are refused."""
        supersedes = [operation for operation in operations if isinstance(operation, Supersede)]
        rings = cyclic(supersedes)
        record: dict[str, Supersede] = {}
        for at, supersede in enumerate(supersedes):
            if at in rings:
                self.refused[Refusal.CYCLE] += 1
            elif supersede.by not in adds:
                self.refused[Refusal.UNKNOWN_REF] += 1
            elif supersede.by in record:
                self.refused[Refusal.REPEATED] += 1
            else:
                record[supersede.by] = supersede
        return record

    def _refuse(self, merge: Refused) -> None:
        self.refused[merge.reason] += 1
        for flag in merge.flags:
            pair = frozenset((flag.one, flag.other))
            if not all(self.memories[item].known for item in pair):
                self.flags.setdefault(pair, flag)

    def _other(self, operation: Operation, merged: dict[UUID, str]) -> Operation | None:
        match operation:
            case Link():
                return self._link(operation, merged)
            case Relate():
                return self._relate(operation)
            case Recategorise():
                return self._recategorise(operation)
            case AddEntity():
                return self._entity(operation)
            case Add() | Supersede() | Flag():
                return None

    def _link(self, link: Link, merged: dict[UUID, str]) -> Link | None:
        ids = self._ids_of_batch(link.memories)
        reason = self._apart(ids)
        if reason is None and len(ids) > MAX_LINKED:
            reason = Refusal.TOO_MANY
        if reason is None and not is_text(link.description, MAX_WHY_CHARS):
            reason = Refusal.TEXT
        together = {merged.get(id_, str(id_)) for id_ in ids}
        if reason is None and (len(together) < 2 or all(self.memories[id_].known for id_ in ids)):
            reason = Refusal.REPEATED
        return self._count_refusal(reason, replace(link, memories=ids))

    def _relate(self, relate: Relate) -> Relate | None:
        ids = self._ids_of_batch(relate.memories)
        reason = self._spoken(ids, (relate.source, relate.target))
        if relate.relation not in RELATIONS or name_key(relate.source.name) == name_key(
            relate.target.name
        ):
            reason = Refusal.RELATION
        strength = max(1, min(relate.strength, len(ids)))
        return self._count_refusal(reason, replace(relate, memories=ids, strength=strength))

    def _entity(self, operation: AddEntity) -> AddEntity | None:
        ids = self._ids_of_batch(operation.memories)
        reason = self._spoken(ids, (operation.entity,))
        if reason is not None:
            return self._count_refusal(reason, operation)
        aliases = tuple(
            fromkey
            for fromkey in dict.fromkeys(operation.aliases[:MAX_ALIASES])
            if self._is_alias(fromkey, operation.entity, ids)
        )
        self.refused[Refusal.REPEATED] += len(operation.aliases) - len(aliases)
        return replace(operation, memories=ids, aliases=aliases)

    def _is_alias(self, alias: str, entity: EntityName, ids: Sequence[UUID]) -> bool:
        """Return whether a name is new, stands in the texts, and is no other entity's."""
        key = name_key(alias) if tidy_name(alias) else ""
        audience = self.memories[ids[0]].audience
        taken = {
            name_key(entity.name) for each in self.memories.values() for entity in each.entities
        }
        return (
            any(item.isalpha() for item in key)
            and key not in ORDINARY_WORDS
            and key != name_key(entity.name)
            and key not in taken
            and key not in self.batch.aliases_of(audience)
            and any(key in name_key(self.memories[id_].text) for id_ in ids)
        )

    def _spoken(self, ids: Sequence[UUID], names: Sequence[EntityName]) -> Refusal | None:
        """Return why these memories do not speak of these entities, None when they do."""
        if not ids:
            return Refusal.UNKNOWN_ID
        reason = self._apart(ids) if len(ids) > 1 else None
        if reason is not None:
            return reason
        if any(tidy_name(name.name) != name.name or not tidy_name(name.type) for name in names):
            return Refusal.TEXT
        if not all(any(self._speaks(self.memories[id_], name) for id_ in ids) for name in names):
            return Refusal.INVENTED
        return None

    def _speaks(self, memory: BatchMemory, entity: EntityName) -> bool:
        key, text = name_key(entity.name), name_key(memory.text)
        aliases = self.batch.aliases_of(memory.audience).items()
        return (
            key in text
            or entity in memory.entities
            or key in (name_key(memory.client_id), name_key(memory.source_agent or ""))
            or any(alias in text for alias, (name, _) in aliases if name == entity.name)
        )

    def _recategorise(self, operation: Recategorise) -> Recategorise | None:
        memory = self.memories.get(operation.memory)
        general = KnowledgeCategory.GENERAL
        if memory is None:
            return self._count_refusal(Refusal.UNKNOWN_ID, operation)
        wrong = memory.domain is not general or operation.category is general
        return self._count_refusal(Refusal.CATEGORY if wrong else None, operation)

    def _ids_of_batch(self, ids: Iterable[UUID]) -> tuple[UUID, ...]:
        """Return the ids of the batch among these, each once, in order; others are counted."""
        unique = sorted(set(ids))
        results = tuple(item for item in unique if item in self.memories)
        self.refused[Refusal.UNKNOWN_ID] += len(unique) - len(results)
        return results

    def _count_refusal(self, reason: Refusal | None, operation: _Kept) -> _Kept | None:
        if reason is None:
            return operation
        self.refused[reason] += 1
        return None


def _identity(operation: Operation) -> object:
    """Return what makes an operation the same as another: what it says without its words."""
    match operation:
        case Link(memories=ids):
            return ("link", ids)
        case Relate():
            return (operation.relation.value, str(operation.source), str(operation.target))
        case Recategorise(memory=memory):
            return ("category", memory)
        case AddEntity(entity=entity, memories=ids):
            return (name_key(entity.name), entity.type, ids)
        case _:
            return operation
