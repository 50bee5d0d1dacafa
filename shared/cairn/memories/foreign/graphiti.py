"""Reads Graphiti's graph: dumps of its episodes, entity nodes and entity edges. Pure.

A record is what `model_dump(mode="json")` of graphiti_core's classes gives, in lists under
`episodes`, `nodes` and `edges` (or the classes' names), or one a line:
- EpisodicNode: uuid, name, group_id, content, source, source_description, valid_at, created_at;
- EntityNode: uuid, name, group_id, labels, summary, created_at;
- EntityEdge: uuid, group_id, source_node_uuid, target_node_uuid, name, fact, episodes, valid_at,
  invalid_at, created_at, expired_at.

Episodes become events, facts of edges and summaries of entities become facts. A fact that ended
when another with a shared end began is in one chain with it, and is superseded by it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.errors import ValidationFailed
from cairn.memories.foreign.items import (
    Defaults,
    ExportValue,
    Fields,
    ForeignMemory,
    Item,
    Lost,
    Skipped,
    Unreadable,
    a_kind,
)
from cairn.memories.items import NewMemory
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

_LISTS = (
    "episodes", "episodic_nodes", "EpisodicNode", "nodes", "entities", "entity_nodes", "EntityNode",
    "edges", "facts", "entity_edges", "EntityEdge", "episodic_edges", "communities",
    "community_nodes",
)  # fmt: skip
_NO_GROUP = ("", "_", "default", "main")
"""Groups Graphiti and its server make when nobody names one: nobody's data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edge:
    """A fact between two entities, with when it holds."""

    item: ForeignMemory
    ends: tuple[str, str]
    episodes: tuple[str, ...]
    begins: datetime | None
    invalid_at: datetime | None


@dataclass(slots=True)
class _Graph:
    """What was read so far. Edges wait for the rest: a chain and an end may come later."""

    defaults: Defaults
    nodes: set[str] = field(default_factory=set[str])
    episodes: set[str] = field(default_factory=set[str])
    edges: list[_Edge] = field(default_factory=list[_Edge])


def read_graphiti(items: Iterable[ExportValue | Unreadable], defaults: Defaults) -> Iterator[Item]:
    """Yield episodes and entities as they are read, then facts by when they began to hold."""
    graph = _Graph(defaults)
    for item in items:
        if isinstance(item, Unreadable):
            yield item
        else:
            for record in _records(item):
                yield from _read(record, graph)
    yield from _facts(graph)


def _records(item: ExportValue) -> Iterator[ExportValue | Unreadable]:
    value = item.value
    if isinstance(value, list):
        yield from _items(item.name, cast("list[Any]", value))
        return
    if isinstance(value, dict) and "uuid" not in value:
        holder = cast("dict[str, Any]", value)
        lists = [name for name in _LISTS if name in holder]
        for name in lists:
            items = holder[name]
            if isinstance(items, list):
                yield from _items(name, cast("list[Any]", items))
            elif items is not None:
                yield Unreadable(name=name, why=f"is {a_kind(items)}, not a list")
        if lists:
            return
    yield item


def _items(name: str, items: list[Any]) -> Iterator[ExportValue]:
    return (ExportValue(name=f"{name}[{at}]", value=item) for at, item in enumerate(items))


def _read(record: ExportValue | Unreadable, graph: _Graph) -> Iterator[Item]:
    if isinstance(record, Unreadable):
        yield record
        return
    try:
        item = _taken(record, Fields(record), graph)
    except ValidationFailed as refused:
        item = Unreadable(name=record.name, why=refused.detail)
    if item is not None:
        yield item


def _taken(item: ExportValue, fields: Fields, graph: _Graph) -> Item | None:
    """Return what a record becomes, by the fields it has; edges are kept and return nothing."""
    record = fields.name("uuid")
    if record is None:
        raise ValidationFailed("uuid is missing")
    if fields.optional("fact") is not None:
        graph.edges.append(_edge(item, fields, record, graph.defaults))
        return None
    if fields.optional("source_node_uuid") is not None:
        return Skipped(name=item.name, why="an edge without a fact says nothing by itself")
    if fields.optional("content") is not None:
        graph.episodes.add(record)
        return _episode(item, fields, record, graph.defaults)
    if fields.optional("name") is None:
        raise ValidationFailed("is no episode, entity or edge: content, name and fact are missing")
    graph.nodes.add(record)
    if "Community" in fields.texts("labels"):
        return Skipped(name=item.name, why="a community is a summary; Cairn makes its own")
    if not (fields.optional("summary") or "").strip():
        return Skipped(name=item.name, why="an entity without a summary; facts name it")
    return _entity(item, fields, record, graph.defaults)


def _episode(item: ExportValue, fields: Fields, record: str, defaults: Defaults) -> ForeignMemory:
    at = fields.time("valid_at") or fields.time("created_at")
    if at is None:
        raise ValidationFailed("valid_at and created_at are missing: when it happened is not known")
    new = replace(
        _new(fields, record, fields.text("content"), MemoryKind.EVENT, defaults), occurred_at=at
    )
    return _item(item, fields, record, new)


def _entity(item: ExportValue, fields: Fields, record: str, defaults: Defaults) -> ForeignMemory:
    text = f"{fields.text('name')}: {fields.text('summary')}"
    at = fields.time("created_at")
    new = _new(fields, record, text, MemoryKind.FACT, defaults)
    new = replace(new, key=f"graphiti:{record}", occurred_at=at, valid_from=at)
    return _item(item, fields, record, new)


def _edge(item: ExportValue, fields: Fields, record: str, defaults: Defaults) -> _Edge:
    begins = fields.time("valid_at") or fields.time("created_at")
    invalid_at = fields.time("invalid_at")
    if begins and invalid_at and invalid_at < begins:
        raise ValidationFailed("invalid_at is before valid_at")
    new = _new(fields, record, fields.text("fact"), MemoryKind.FACT, defaults)
    relation = {"relation": fields.name("name"), "expired_at": fields.optional("expired_at")}
    imported = {**new.metadata["imported"], **{k: v for k, v in relation.items() if v}}
    new = replace(
        new,
        occurred_at=begins,
        valid_from=begins,
        valid_to=invalid_at,
        metadata={**new.metadata, "imported": imported},
    )
    return _Edge(
        item=_item(item, fields, record, new),
        ends=(fields.text("source_node_uuid"), fields.text("target_node_uuid")),
        episodes=fields.texts("episodes"),
        begins=begins,
        invalid_at=invalid_at,
    )


def _new(fields: Fields, record: str, text: str, kind: MemoryKind, defaults: Defaults) -> NewMemory:
    group = fields.name("group_id") or ""
    imported = {"graphiti_uuid": record, "group_id": group or None}
    described = fields.optional("source_description")
    return NewMemory(
        text=text,
        type=kind,
        client_id=defaults.client_id,
        importance=None,
        scope=defaults.scope,
        source_agent="graphiti",
        data_subjects=() if group in _NO_GROUP else (group,),
        metadata={
            "imported": {name: value for name, value in imported.items() if value},
            **({"source_description": described} if described else {}),
        },
    )


def _item(item: ExportValue, fields: Fields, record: str, new: NewMemory) -> ForeignMemory:
    return ForeignMemory(
        name=f"{item.name} ({record})",
        record=record,
        new=new,
        recorded_at=fields.time("created_at"),
    )


def _facts(graph: _Graph) -> Iterator[Item]:
    edges = sorted(graph.edges, key=lambda edge: (_moment(edge.begins), edge.item.record))
    keys = _chains(edges)
    for edge in edges:
        yield from _lost(edge, graph)
        key = keys.get(edge.item.record)
        new = replace(edge.item.new, key=key) if key else edge.item.new
        yield replace(edge.item, new=new, ended=edge.invalid_at is not None)


def _chains(edges: list[_Edge]) -> dict[str, str]:
    """Return the key of each fact that replaced one or was replaced, by its id.

    Graphiti ends a fact at the moment the one that contradicts it begins: so the two share that
    moment and an end.
    """
    beginning: defaultdict[tuple[datetime, str], list[_Edge]] = defaultdict(list)
    for edge in edges:
        if edge.begins is not None:
            for end in edge.ends:
                beginning[edge.begins, end].append(edge)
    keys: dict[str, str] = {}
    for edge in edges:
        following = _following(edge, beginning, keys)
        if following is not None:
            key = keys.setdefault(edge.item.record, f"graphiti:{edge.item.record}")
            keys[following.item.record] = key
    return keys


def _following(
    edge: _Edge, beginning: dict[tuple[datetime, str], list[_Edge]], keys: dict[str, str]
) -> _Edge | None:
    """Return the fact that replaced this one, if exactly one can have; each replaces one only."""
    if edge.invalid_at is None:
        return None
    record = {
        item.item.record: item
        for end in edge.ends
        for item in beginning.get((edge.invalid_at, end), ())
        if item.item.record != edge.item.record and item.item.record not in keys
    }
    same = [item for item in record.values() if item.ends[0] == edge.ends[0]]
    choice = same or list(record.values())
    return choice[0] if len(choice) == 1 else None


def _lost(edge: _Edge, graph: _Graph) -> Iterator[Lost]:
    """Yield what the edge refers to and the export does not hold, where it holds such at all."""
    for end in edge.ends:
        if graph.nodes and end not in graph.nodes:
            yield Lost(record=edge.item.record, why=f"its entity {end} is not there")
    for episode in edge.episodes:
        if graph.episodes and episode not in graph.episodes:
            yield Lost(record=edge.item.record, why=f"its episode {episode} is not there")


def _moment(at: datetime | None) -> float:
    return at.timestamp() if at else float("-inf")
