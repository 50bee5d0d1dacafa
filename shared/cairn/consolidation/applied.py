"""From a checked plan to the entries that carry it out: meta and body, one a set of data subjects.

Pure: not the appending, and no check. What an entry does to rows is `consolidation_rows.applied`'s.
Ids of what is made follow from what it is made of, so a run that is resumed makes the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.consolidation.plan import (
    SOURCE_AGENT,
    Add,
    AddEntity,
    Batch,
    BatchMemory,
    EntityName,
    Flag,
    Link,
    Operation,
    Plan,
    Recategorise,
    Relate,
    Supersede,
    domain_of,
)
from cairn.graph.edge import Role
from cairn.graph.entities import entity_id
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.hashes import content_hash
from cairn.memories.draft import MemoryDraft
from cairn.memories.kinds import DEFAULT_CATEGORY, MemoryKind, importance_number
from cairn.memories.rows import memory_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from cairn.writing.audience import Audience

MAX_CONNECTIONS = 20
"""Connections a memory keeps in its metadata; the newest stay."""

QUOTED_CHARS = 400
"""Of each memory a contradiction event quotes so much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """One `consolidation.applied` entry to append; `made` are new nodes, which need vectors."""

    data_subjects: tuple[UUID, ...]
    meta: Mapping[str, Any]
    body: Mapping[str, Any]
    made: tuple[UUID, ...]


def merged_id(sources: Iterable[UUID]) -> UUID:
    """Return the id of the memory that is made of these: as young as the youngest of them."""
    ordered = sorted(sources)
    return derived_id(ordered[-1], "merged", *ordered)


def contradiction_id(id_: UUID, other: UUID) -> UUID:
    """Return the id of the event that says these two contradict each other."""
    first, second = sorted((id_, other))
    return derived_id(second, "contradiction", first, second)


def applied(
    plan: Plan,
    batch: Batch,
    *,
    workspace_id: UUID,
    run_id: UUID,
    now: datetime,
    metadata: Mapping[UUID, Mapping[str, Any]],
) -> tuple[Applied, ...]:
    """Return the entries that carry out a checked plan over the batch it was checked against.

    Every memory of the batch that is not `known` counts as consolidated afterwards. `metadata` is
    what the linked memories hold now, read under the same lock; `now` is when the entries occur.
    """
    memories = {memory.id: memory for memory in batch.memories}
    groups: dict[tuple[UUID, ...], _Entry] = {}
    for memory in batch.memories:
        entry = _group(groups, memory, workspace_id, run_id, now)
        if not memory.known:
            entry.memories.append(memory.id)
    replaced = {
        operation.by: operation.sources
        for operation in plan.operations
        if isinstance(operation, Supersede)
    }
    for operation in plan.operations:
        if isinstance(operation, Add) and operation.ref not in replaced:
            continue
        of = [memories[item] for item in _named_memories(operation)]
        if of:
            _group(groups, of[0], workspace_id, run_id, now).take(operation, of, metadata)
    results = (groups[subjects].entry(subjects) for subjects in sorted(groups))
    return tuple(item for item in results if item.meta["memories"] or item.made)


def _group(
    groups: dict[tuple[UUID, ...], _Entry],
    memory: BatchMemory,
    workspace_id: UUID,
    run_id: UUID,
    now: datetime,
) -> _Entry:
    subjects = tuple(sorted(memory.audience.data_subjects))
    if subjects not in groups:
        groups[subjects] = _Entry(workspace_id=workspace_id, run_id=run_id, now=now)
    return groups[subjects]


def _named_memories(operation: Operation) -> Sequence[UUID]:
    match operation:
        case Add(sources=sources):
            return sources
        case Flag(one=first, other=other):
            return (first, other)
        case Link(memories=memories) | Relate(memories=memories) | AddEntity(memories=memories):
            return memories
        case Recategorise(memory=memory):
            return (memory,)
        case Supersede():
            return ()


@dataclass(slots=True, kw_only=True)
class _Entry:
    """One entry in the making. Entities are named once and referred to by their place."""

    workspace_id: UUID
    run_id: UUID
    now: datetime
    memories: list[UUID] = field(default_factory=list["UUID"])
    added: list[tuple[dict[str, Any], dict[str, Any]]] = field(
        default_factory=list[tuple[dict[str, Any], dict[str, Any]]]
    )
    flagged: list[tuple[dict[str, Any], dict[str, Any]]] = field(
        default_factory=list[tuple[dict[str, Any], dict[str, Any]]]
    )
    categories: dict[str, str] = field(default_factory=dict[str, str])
    metadata: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    related: list[list[str]] = field(default_factory=list[list[str]])
    places: dict[UUID, int] = field(default_factory=dict["UUID", int])
    entities: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    aliases: list[list[Any]] = field(default_factory=list[list[Any]])
    references: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    strengths: defaultdict[tuple[int, int, str], int] = field(
        default_factory=lambda: defaultdict[tuple[int, int, str], int](int)
    )

    def take(
        self,
        operation: Operation,
        of: Sequence[BatchMemory],
        metadata: Mapping[UUID, Mapping[str, Any]],
    ) -> None:
        """Take in what one operation changes; `of` are the memories it names."""
        match operation:
            case Add():
                self.added.append(_added(operation, of))
            case Flag():
                self.flagged.append(_flagged(operation, of, self.now))
            case Link():
                self._connect(operation, of, metadata)
            case Relate():
                self._relate(operation, of)
            case Recategorise():
                self.categories[str(operation.memory)] = operation.category.value
            case AddEntity():
                self._name(operation, of)
            case Supersede():
                pass

    def _connect(
        self, link: Link, of: Sequence[BatchMemory], metadata: Mapping[UUID, Mapping[str, Any]]
    ) -> None:
        ids = [str(memory.id) for memory in of]
        for memory in of:
            name = str(memory.id)
            held = self.metadata.setdefault(name, dict(metadata.get(memory.id, {})))
            others = [
                *_strings(held.get("connections")),
                *(other for other in ids if other != name),
            ]
            held["connections"] = list(dict.fromkeys(others))[-MAX_CONNECTIONS:]
            held["connection_description"] = link.description
        self.related += [
            [max(text, other), min(text, other), link.description]
            for text, other in combinations(ids, 2)
        ]

    def _relate(self, relate: Relate, of: Sequence[BatchMemory]) -> None:
        source, target = (self._place(item, of) for item in (relate.source, relate.target))
        self.strengths[source, target, relate.relation.value] += relate.strength

    def _name(self, operation: AddEntity, of: Sequence[BatchMemory]) -> None:
        place = self._place(operation.entity, of)
        self.aliases += [[place, alias] for alias in operation.aliases]
        for memory in of:
            if operation.entity not in memory.entities:
                self.references[str(memory.id), place] = format_timestamp(memory.occurred_at)

    def _place(self, entity: EntityName, of: Sequence[BatchMemory]) -> int:
        audience = of[0].audience
        agents = _agents(audience)
        id_ = entity_id(self.workspace_id, audience.scope, agents, entity.type, entity.name)
        if id_ not in self.places:
            self.places[id_] = len(self.entities)
            self.entities.append(
                {
                    "id": str(id_),
                    "name": entity.name,
                    "type": entity.type,
                    "scope": audience.scope,
                    "agents": agents,
                    "at": format_timestamp(min(memory.occurred_at for memory in of)),
                }
            )
        return self.places[id_]

    def entry(self, subjects: tuple[UUID, ...]) -> Applied:
        """Return the entry for these data subjects."""
        meta = {
            "run_id": str(self.run_id),
            "memories": [str(memory) for memory in self.memories],
            "added": [item for item, _ in self.added],
            "flagged": [item for item, _ in self.flagged],
        }
        body = {
            "added": [item for _, item in self.added],
            "flagged": [item for _, item in self.flagged],
            "categories": self.categories,
            "metadata": self.metadata,
            "related": self.related,
            "entities": self.entities,
            "aliases": self.aliases,
            "references": [
                [node, place, Role.MENTIONED.value, at]
                for (node, place), at in self.references.items()
            ],
            "strengths": [[*key, amount] for key, amount in self.strengths.items()],
        }
        ids = [UUID(item["node_id"]) for item, _ in (*self.added, *self.flagged)]
        return Applied(data_subjects=subjects, meta=meta, body=body, made=tuple(ids))


def _added(add: Add, of: Sequence[BatchMemory]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (meta, body) of a merged memory: it holds from when the youngest source does."""
    node_id, youngest = merged_id(add.sources), max(of, key=lambda memory: memory.occurred_at)
    since, until = max(memory.valid_from for memory in of), of[0].valid_to
    draft = MemoryDraft(
        text=add.text,
        kind=add.kind,
        content_hash=content_hash(add.text),
        audience=of[0].audience,
        source_agent=SOURCE_AGENT,
        occurred_at=youngest.occurred_at,
        valid_from=since,
        valid_to=until,
        client_id=of[0].client_id,
        key=add.key,
        subject=add.subject,
        status_value=add.status_value,
        importance=max(memory.importance for memory in of),
        **domain_of(of),
        confidence=min(memory.confidence for memory in of),
        screening=max((memory.screening for memory in of), key=_SCREENINGS.index),
    )
    meta = {
        "node_id": str(node_id),
        "kind": add.kind.value,
        "scope": draft.audience.scope,
        "occurred_at": format_timestamp(draft.occurred_at),
        "valid_from": format_timestamp(since),
        "valid_to": format_timestamp(until) if until else None,
        "supersedes": _predecessor(add, of),
        "sources": [str(source) for source in add.sources],
    }
    return meta, memory_body(draft)


def _predecessor(add: Add, of: Sequence[BatchMemory]) -> str | None:
    """Return the source whose place in its chain (by key or subject) the merged memory takes."""
    name = add.key if add.kind is MemoryKind.FACT else add.subject
    chained = [
        memory
        for memory in of
        if name is not None
        and name == (memory.key if memory.kind is MemoryKind.FACT else memory.subject)
    ]
    latest = max(chained, key=lambda item: (item.valid_from, item.position), default=None)
    return str(latest.id) if latest else None


def _flagged(
    flag: Flag, of: Sequence[BatchMemory], now: datetime
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (meta, body) of the event that says two memories contradict each other."""
    first, other = of
    quoted = "\n".join(f"- {_quote(memory.text)}" for memory in of)
    text = f"Contradiction ({flag.clash.value}): {flag.why}\n{quoted}"
    draft = MemoryDraft(
        text=text,
        kind=MemoryKind.EVENT,
        content_hash=content_hash(text),
        audience=first.audience,
        source_agent=SOURCE_AGENT,
        occurred_at=now,
        valid_from=now,
        client_id=first.client_id,
        category=DEFAULT_CATEGORY[MemoryKind.EVENT].value,
        importance=importance_number("high"),
        **domain_of(of),
        screening=max((memory.screening for memory in of), key=_SCREENINGS.index),
        metadata={"contradiction": flag.clash.value, "memories": [str(first.id), str(other.id)]},
    )
    meta = {
        "node_id": str(contradiction_id(first.id, other.id)),
        "scope": first.audience.scope,
        "one": str(first.id),
        "other": str(other.id),
        "clash": flag.clash.value,
    }
    return meta, memory_body(draft)


_SCREENINGS = ("clean", "suspicious", "discard")


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED_CHARS else flat[: QUOTED_CHARS - 1] + "…"


def _agents(audience: Audience) -> list[str] | None:
    return None if audience.agents is None else sorted(set(audience.agents))


def _strings(value: object) -> list[str]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]
