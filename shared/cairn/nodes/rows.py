"""Projectors of nodes, edges and entities that callers write. Pure, like the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.graph.edge import Edge, EdgeStrength, View
from cairn.graph.entity_names import name_key
from cairn.graph.node import Label, Node, NodeChange, State
from cairn.graph.projection import Alias, AliasRemoval, EdgeRow, NodeRow, Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import parse_timestamp
from cairn.kernel.text.hashes import content_hash
from cairn.writing.row_fields import (
    agents_of,
    closures,
    deletions,
    edge_fields,
    node_fields,
    origin_fields,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.ledger.entry import Entry


def written(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A node with its edges; an entity that was deleted comes back."""
    rows: list[NodeRow] = [_node(entry, meta, body)]
    if meta["revives"]:
        rows.append(
            NodeChange(
                workspace_id=entry.workspace_id,
                id=UUID(meta["node_id"]),
                position=entry.position,
                summary=body["summary"],
                compiled_truth=body["compiled_truth"],
                metadata=body["metadata"],
                extra_labels=tuple(body.get("labels", ())),
                revive=True,
            )
        )
    return Projection(nodes=tuple(rows), edges=edge_rows(entry, body["edges"]))


def related(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Edges between nodes that stand already."""
    return Projection(edges=edge_rows(entry, body["edges"]))


def compiled(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """What is held true of a node now."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["node_id"]),
        position=entry.position,
        compiled_truth=body["compiled_truth"],
    )
    return Projection(nodes=(change,))


def labelled(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """The labels of a node beside its first."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["node_id"]),
        position=entry.position,
        extra_labels=tuple(body["labels"]),
    )
    return Projection(nodes=(change,))


def deleted(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A node is hidden."""
    return Projection(nodes=tuple(deletions(entry, [meta["node_id"]])))


def edge_rows(entry: Entry, edges: Sequence[Mapping[str, Any]]) -> tuple[EdgeRow, ...]:
    """Return the rows of stated edges: those with a strength grow, the others hold."""
    return tuple(
        _strength(entry, edge) if edge["strengthens"] else _edge(entry, edge) for edge in edges
    )


def _edge(entry: Entry, edge: Mapping[str, Any]) -> Edge:
    return Edge(
        **edge_fields(entry),
        id=_edge_id(entry, edge),
        view=View(edge["view"]),
        relation=edge["relation"],
        source_id=UUID(edge["source"]),
        target_id=UUID(edge["target"]),
        weight=edge["weight"],
        properties=cast("Mapping[str, Any]", edge["properties"]),
    )


def _strength(entry: Entry, edge: Mapping[str, Any]) -> EdgeStrength:
    return EdgeStrength(
        workspace_id=entry.workspace_id,
        id=_edge_id(entry, edge),
        view=View(edge["view"]),
        relation=edge["relation"],
        source_id=UUID(edge["source"]),
        target_id=UUID(edge["target"]),
        amount=edge["weight"],
        recorded_at=entry.recorded_at,
        position=entry.position,
    )


def _edge_id(entry: Entry, edge: Mapping[str, Any]) -> UUID:
    return derived_id(entry.id, edge["view"], edge["relation"], edge["source"], edge["target"])


def _node(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Node:
    valid_to = meta["valid_to"]
    return Node(
        **node_fields(entry, meta, body, valid_from=parse_timestamp(meta["valid_from"])),
        id=UUID(meta["node_id"]),
        label=body["label"],
        extra_labels=tuple(body.get("labels", ())),
        kind=body["kind"],
        text=body["text"],
        title=body["title"],
        summary=body["summary"],
        context_text=body["context_text"],
        slug=body["slug"],
        canonical_name=body["name"],
        content_hash=body["content_hash"],
        dedup_key=body["dedup_key"],
        keywords=tuple(body["keywords"]),
        compiled_truth=body["compiled_truth"],
        observed_by=(body["source_agent"],),
        observation_count=1,
        **origin_fields(entry, body),
        importance=body["importance"],
        confidence=body["confidence"],
        screening=body["screening"],
        metadata=body["metadata"],
        valid_to=parse_timestamp(valid_to) if valid_to else None,
    )


def entity_node(
    entry: Entry,
    *,
    entity_id: UUID,
    name: str,
    type: str,
    scope: str,
    agents: tuple[str, ...] | None,
    data_subjects: tuple[UUID, ...] = (),
    occurred_at: datetime | None = None,
) -> Node:
    """Return the row of an entity that an entry is the first to name."""
    moment = occurred_at or entry.occurred_at
    return Node(
        workspace_id=entry.workspace_id,
        id=entity_id,
        label=Label.ENTITY,
        kind=type,
        text=name,
        canonical_name=name,
        content_hash=content_hash(name),
        scope=scope,
        agents=agents,
        client_id=name if type == "client" else "global",
        data_subjects=data_subjects,
        state=State.ACTIVE,
        occurred_at=moment,
        valid_from=moment,
        recorded_at=entry.recorded_at,
        entry_id=entry.id,
        position=entry.position,
    )


def alias_added(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """An entity has one more name in its audience."""
    return Projection(aliases=(_alias(entry, meta, body, body["alias"], "manual"),))


def alias_removed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A name means nothing more in its audience."""
    return Projection(aliases=(_alias_removal(entry, meta, body, body["alias"]),))


def merged(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """An entity and its edges become part of another; its names lead there."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["entity_id"]),
        position=entry.position,
        state=State.SUPERSEDED,
        superseded_by=UUID(meta["into_id"]),
        superseded_at=entry.recorded_at,
    )
    aliases = [_alias(entry, meta, body, alias, "merge") for alias in body["aliases"]]
    return Projection(nodes=(change,), edges=_moved(entry, body), aliases=tuple(aliases))


def unmerged(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A merged entity stands for itself again, with the edges it had."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["entity_id"]),
        position=entry.position,
        revive=True,
    )
    removals = [_alias_removal(entry, meta, body, alias) for alias in body["aliases"]]
    return Projection(nodes=(change,), edges=_moved(entry, body), aliases=tuple(removals))


def split(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Some mentions of an entity were of another one, which may be new."""
    nodes: list[NodeRow] = []
    if body["new"]:
        nodes.append(
            entity_node(
                entry,
                entity_id=UUID(meta["to_id"]),
                name=body["name"],
                type=body["type"],
                scope=meta["scope"],
                agents=agents_of(body),
                data_subjects=entry.data_subjects,
            )
        )
    return Projection(nodes=tuple(nodes), edges=_moved(entry, body))


def _moved(entry: Entry, body: Mapping[str, Any]) -> tuple[EdgeRow, ...]:
    """Return closed edges, then those that hold instead, then those that grow."""
    return (*closures(entry, body["closed"]), *edge_rows(entry, body["edges"]))


def _alias(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], alias: str, origin: str
) -> Alias:
    return Alias(
        workspace_id=entry.workspace_id,
        scope=meta["scope"],
        agents=agents_of(body),
        alias=name_key(alias),
        canonical_name=body["name"],
        entity_type=body["type"],
        origin=origin,
        position=entry.position,
    )


def _alias_removal(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], alias: str
) -> AliasRemoval:
    return AliasRemoval(
        workspace_id=entry.workspace_id,
        scope=meta["scope"],
        agents=agents_of(body),
        alias=name_key(alias),
        position=entry.position,
    )
