"""Projectors of nodes and edges that callers write. Pure, like the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.graph.edge import Edge, EdgeStrength, View
from cairn.graph.node import Node, NodeChange
from cairn.graph.projection import EdgeRow, NodeRow, Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import parse_timestamp
from cairn.writing.row_fields import deletions, edge_fields, node_fields, origin_fields

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def deleted(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A node is hidden."""
    return Projection(nodes=tuple(deletions(entry, [meta["node_id"]])))


def edge_rows(entry: Entry, edges: Sequence[Mapping[str, Any]]) -> tuple[EdgeRow, ...]:
    """Return the rows of stated edges: those with a strength grow, the others hold."""
    return tuple(
        _strength(entry, one) if one["strengthens"] else _edge(entry, one) for one in edges
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
