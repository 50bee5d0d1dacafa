"""Projector of `consolidation.applied`: what a consolidation made of memories, as rows. Pure.

Not the plan and not its checks (`consolidation`). One entry speaks of memories with one set of
data subjects, so that destroying a person's key takes all that was made of them.

`meta` holds ids, enums and times:

    run_id    the run
    memories  ids that count as consolidated from now on; those that are superseded among them
    added     [{node_id, kind, scope, occurred_at, valid_from, valid_to, supersedes, sources}]
    flagged   [{node_id, scope, one, other, clash}]

`body` holds what is encrypted; {} when its key was destroyed, and nothing comes back then:

    added       one `memory_body` for each of meta.added, in its order
    flagged     one `memory_body` for each of meta.flagged, in its order
    categories  {memory id: knowledge category}
    metadata    {memory id: its whole metadata, connections among it}
    related     [[memory id, memory id, description]]
    entities    [{id, name, type, scope, agents, at}], named by their place below
    aliases     [[place, other name]]
    references  [[memory id, place, role, since]]
    strengths   [[place, place, relation, amount]]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.enrichment.rows import derived_edge, entity_ids, named_entity, references
from cairn.graph.edge import SYMMETRIC, Edge, EdgeStrength, Relation, View
from cairn.graph.entity_names import name_key
from cairn.graph.node import Node, NodeChange, State
from cairn.graph.projection import Alias, EdgeRow, NodeRow, Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import parse_timestamp
from cairn.memories.kinds import MemoryKind
from cairn.memories.rows import memory_fields
from cairn.writing.row_fields import agents_of, node_fields

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.ledger.entry import Entry

Fields = Mapping[str, Any]


def applied(entry: Entry, meta: Fields, body: Fields) -> Projection:
    """Merged memories and contradictions, what they replace or name, and what links the rest."""
    if not body:
        return Projection()
    added = list(zip(meta["added"], body["added"], strict=True))
    flagged = list(zip(meta["flagged"], body["flagged"], strict=True))
    nodes: list[NodeRow] = [named_entity(entry, entity) for entity in body["entities"]]
    nodes += _changes(entry, meta, body)  # first: what is replaced gives up its identity
    nodes += [_merged(entry, item, its) for item, its in added]
    nodes += [_contradiction(entry, item, its) for item, its in flagged]
    edges: list[EdgeRow] = [edge for item, _ in added for edge in _replacing(entry, item)]
    edges += [edge for item, _ in flagged for edge in _contradicting(entry, item)]
    edges += _related(entry, body)
    edges += references(entry, body)
    edges += _strengths(entry, body)
    return Projection(nodes=tuple(nodes), edges=tuple(edges), aliases=_aliases(entry, body))


def _merged(entry: Entry, meta: Fields, body: Fields) -> Node:
    """A merged memory is as old as the youngest of its sources, and consolidated from birth."""
    return _memory(
        entry,
        meta,
        body,
        kind=meta["kind"],
        occurred_at=parse_timestamp(meta["occurred_at"]),
        valid_from=parse_timestamp(meta["valid_from"]),
        valid_to=_time(meta["valid_to"]),
        supersedes=_id(meta["supersedes"]),
    )


def _contradiction(entry: Entry, meta: Fields, body: Fields) -> Node:
    return _memory(
        entry,
        meta,
        body,
        kind=MemoryKind.EVENT.value,
        occurred_at=entry.occurred_at,
        valid_from=entry.occurred_at,
    )


def _memory(
    entry: Entry,
    meta: Fields,
    body: Fields,
    *,
    kind: str,
    occurred_at: datetime,
    valid_from: datetime,
    valid_to: datetime | None = None,
    supersedes: UUID | None = None,
) -> Node:
    fields = node_fields(entry, meta, body, valid_from=valid_from)
    fields["occurred_at"] = occurred_at
    return Node(
        **fields,
        **memory_fields(body),
        id=UUID(meta["node_id"]),
        kind=kind,
        supersedes=supersedes,
        valid_to=valid_to,
        consolidated=True,
    )


def _changes(entry: Entry, meta: Fields, body: Fields) -> list[NodeRow]:
    """Return one change a memory: rows of one entry are applied together."""
    by = {source: item for item in meta["added"] for source in item["sources"]}
    touched = dict.fromkeys([*meta["memories"], *by, *body["metadata"], *body["categories"]])
    consolidated = {*meta["memories"], *by}
    return [
        NodeChange(
            workspace_id=entry.workspace_id,
            id=UUID(item),
            position=entry.position,
            consolidated=True if item in consolidated else None,
            knowledge_category=body["categories"].get(item),
            metadata=body["metadata"].get(item),
            state=State.SUPERSEDED if item in by else None,
            valid_to=_time(by[item]["valid_from"]) if item in by else None,
            superseded_by=UUID(by[item]["node_id"]) if item in by else None,
            superseded_at=entry.recorded_at if item in by else None,
        )
        for item in touched
    ]


def _replacing(entry: Entry, meta: Fields) -> list[Edge]:
    new, since = UUID(meta["node_id"]), parse_timestamp(meta["valid_from"])
    sources = [UUID(source) for source in meta["sources"]]
    replaced = [
        derived_edge(
            entry, View.TEMPORAL, Relation.SUPERSEDES, (new, source), properties={}, since=since
        )
        for source in sources
    ]
    return [*replaced, *_derived(entry, new, sources)]


def _contradicting(entry: Entry, meta: Fields) -> list[Edge]:
    event, first, other = (UUID(meta[name]) for name in ("node_id", "one", "other"))
    edge = derived_edge(
        entry,
        View.KNOWLEDGE,
        Relation.CONTRADICTS,
        (first, other),
        properties={"clash": meta["clash"], "flagged_by": str(event)},
    )
    return [edge, *_derived(entry, event, [first, other])]


def _derived(entry: Entry, node_id: UUID, sources: list[UUID]) -> list[Edge]:
    return [
        derived_edge(
            entry, View.PROVENANCE, Relation.DERIVED_FROM, (node_id, source), properties={}
        )
        for source in sources
    ]


def _related(entry: Entry, body: Fields) -> list[Edge]:
    return [
        derived_edge(
            entry,
            View.KNOWLEDGE,
            Relation.RELATED_TO,
            (UUID(text), UUID(other)),
            properties={"description": description},
        )
        for text, other, description in cast("list[tuple[str, str, str]]", body["related"])
    ]


def _strengths(entry: Entry, body: Fields) -> list[EdgeStrength]:
    """Return what typed relationships gain; those that hold both ways go from the lesser id."""
    ids = entity_ids(body)
    strengths: list[EdgeStrength] = []
    for first, other, name, amount in cast("list[tuple[int, int, str, int]]", body["strengths"]):
        relation, source, target = Relation(name), ids[first], ids[other]
        if relation in SYMMETRIC:
            source, target = min(source, target), max(source, target)
        strength = EdgeStrength(
            workspace_id=entry.workspace_id,
            id=derived_id(entry.id, relation, source, target),
            view=View.ENTITY,
            relation=relation,
            source_id=source,
            target_id=target,
            amount=float(amount),
            recorded_at=entry.recorded_at,
            position=entry.position,
        )
        strengths.append(strength)
    return strengths


def _aliases(entry: Entry, body: Fields) -> tuple[Alias, ...]:
    entities = cast("list[Fields]", body["entities"])
    return tuple(
        Alias(
            workspace_id=entry.workspace_id,
            scope=entities[place]["scope"],
            agents=agents_of(entities[place]),
            alias=name_key(alias),
            canonical_name=entities[place]["name"],
            entity_type=entities[place]["type"],
            origin="consolidation",
            position=entry.position,
        )
        for place, alias in cast("list[tuple[int, str]]", body["aliases"])
    )


def _id(value: str | None) -> UUID | None:
    return UUID(value) if value else None


def _time(value: str | None) -> datetime | None:
    return parse_timestamp(value) if value else None
