"""Projector of `node.enriched`: from what was derived to rows of the graph. Pure, like the others.

Everything stands in the body, which is empty when its key was destroyed: nothing comes back then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.graph.edge import Edge, EdgeStrength, Relation, View
from cairn.graph.node import NodeChange
from cairn.graph.projection import EdgeRow, NodeRow, Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import parse_timestamp
from cairn.nodes.rows import entity_node
from cairn.writing.row_fields import agents_of, closures, edge_fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.graph.node import Node
    from cairn.ledger.entry import Entry


def enriched(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Keywords and importance of nodes, the entities they name, and the edges between all these."""
    if not body:
        return Projection()
    nodes: list[NodeRow] = [named_entity(entry, entity) for entity in body["entities"]]
    nodes += [_change(entry, node) for node in body["nodes"]]
    edges: list[EdgeRow] = [*closures(entry, body["closed"])]
    edges += references(entry, body)
    edges += _follows(entry, body)
    edges += _causes(entry, body)
    edges += _similar(entry, body)
    edges += _strengths(entry, body)
    edges += _stated(entry, body)
    return Projection(nodes=tuple(nodes), edges=tuple(edges))


def named_entity(entry: Entry, entity: Mapping[str, Any]) -> Node:
    """An entity as it is first written. It is nobody's data by itself: its names are in texts."""
    return entity_node(
        entry,
        entity_id=UUID(entity["id"]),
        name=entity["name"],
        type=entity["type"],
        scope=entity["scope"],
        agents=agents_of(entity),
        occurred_at=parse_timestamp(entity["at"]),
    )


def _change(entry: Entry, change: Mapping[str, Any]) -> NodeChange:
    words = change.get("keywords")
    return NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(change["id"]),
        position=entry.position,
        keywords=tuple(words) if words is not None else None,
        importance=change.get("importance"),
        summary=change.get("summary"),
        consolidated=change.get("drawn"),
    )


def references(entry: Entry, body: Mapping[str, Any]) -> list[Edge]:
    """Return the edges from nodes to what they name: [node, place in `entities`, role, since]."""
    ids = entity_ids(body)
    return [
        derived_edge(
            entry,
            View.ENTITY,
            Relation.REFERENCES,
            (UUID(node), ids[place]),
            since=parse_timestamp(at),
            properties={"role": role},
        )
        for node, place, role, at in cast("list[tuple[str, int, str, str]]", body["references"])
    ]


def entity_ids(body: Mapping[str, Any]) -> list[UUID]:
    """Return the ids of a body's entities, which its other lists name by their place."""
    return [UUID(item["id"]) for item in cast("list[dict[str, str]]", body["entities"])]


def _follows(entry: Entry, body: Mapping[str, Any]) -> list[Edge]:
    return [
        derived_edge(
            entry,
            View.TEMPORAL,
            Relation.FOLLOWS,
            (UUID(node), UUID(before)),
            since=parse_timestamp(at),
            properties={"delta_ms": delta_ms, "session_id": session_id},
        )
        for node, before, delta_ms, session_id, at in body["follows"]
    ]


def _causes(entry: Entry, body: Mapping[str, Any]) -> list[Edge]:
    return [
        derived_edge(
            entry,
            View.CAUSAL,
            Relation.CAUSED_BY,
            (UUID(node), UUID(cause)),
            weight=weight,
            properties={"mechanism": mechanism},
        )
        for node, cause, mechanism, weight in body["causes"]
    ]


def _similar(entry: Entry, body: Mapping[str, Any]) -> list[Edge]:
    return [
        derived_edge(
            entry,
            View.SEMANTIC,
            Relation.SIMILAR_TO,
            (UUID(source), UUID(target)),
            weight=score,
            properties={"score": score},
        )
        for source, target, score in body["similar"]
    ]


HELD = (Relation.HAS_FACT, Relation.HAS_PREFERENCE, Relation.HAS_SKILL)
"""What somebody has: these edges lead from the entity to the memory."""

STATED = (Relation.PREFERS, Relation.USES, Relation.ABOUT, *HELD)
"""What drawn memories state of entities; in a body under their names in lower case."""


def _stated(entry: Entry, body: Mapping[str, Any]) -> list[Edge]:
    """Return the edges between drawn memories and entities: [node, place in `entities`]."""
    ids = entity_ids(body)
    relations = [
        (relation, UUID(node), ids[place])
        for relation in STATED
        for node, place in cast("list[tuple[str, int]]", body.get(relation.lower(), []))
    ]
    return [
        derived_edge(
            entry,
            View.KNOWLEDGE,
            relation,
            (entity, node) if relation in HELD else (node, entity),
            properties={},
        )
        for relation, node, entity in relations
    ]


def _strengths(entry: Entry, body: Mapping[str, Any]) -> list[EdgeStrength]:
    """Return what entities named together gain: stored once, from the lesser id to the greater."""
    ids = entity_ids(body)
    counted = [
        (ids[first], ids[other], count)
        for first, other, count in cast("list[tuple[int, int, int]]", body["strengths"])
    ]
    return [
        EdgeStrength(
            workspace_id=entry.workspace_id,
            id=derived_id(entry.id, Relation.CO_OCCURRENCE, first, other),
            view=View.ENTITY,
            relation=Relation.CO_OCCURRENCE,
            source_id=min(first, other),
            target_id=max(first, other),
            amount=float(count),
            recorded_at=entry.recorded_at,
            position=entry.position,
        )
        for first, other, count in counted
    ]


def derived_edge(
    entry: Entry,
    view: View,
    relation: Relation,
    ends: tuple[UUID, UUID],
    *,
    properties: Mapping[str, Any],
    weight: float = 1.0,
    since: datetime | None = None,
) -> Edge:
    """Return an edge that an entry derived; its id follows from the entry, relation and ends."""
    source, target = ends
    return Edge(
        **edge_fields(entry, valid_from=since),
        id=derived_id(entry.id, relation, source, target),
        view=view,
        relation=relation,
        source_id=source,
        target_id=target,
        weight=weight,
        properties=properties,
    )
