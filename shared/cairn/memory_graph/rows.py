"""The entries of the memory graph: their bodies, and from them to rows. Pure; not the planning.

A node's natural key is its `key`; its properties and provenance are its metadata. Edges stand in
the view of knowledge, whatever their relation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.edge import Edge, View
from cairn.graph.node import Node, NodeChange, State
from cairn.graph.projection import NodeRow, Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.kernel.text.hashes import content_hash
from cairn.safety.screening import screen
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.row_fields import closures, edge_fields, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.graph.memory_records import EdgeDump, NodeDump
    from cairn.ledger.entry import Entry

MAX_CONTEXT_CHARS = 8_000
_TEXTS = ("text", "summary", "title", "name")


def node_body(node: NodeDump, owners: tuple[tuple[str, str], ...], writer: str) -> dict[str, Any]:
    """Return what of a node is encrypted into its entry.

    Its text is the first of text, summary, title and name among the properties, else its key; the
    other texts are found by their words too. One client's node is in that client's view.
    """
    clients = [key for kind, key in owners if kind == "client"]
    fields = {name: value for name, value in node.properties.items() if isinstance(value, str)}
    text = next((fields[name] for name in _TEXTS if fields.get(name, "").strip()), node.natural_key)
    context = "\n".join([node.natural_key, *(f"{name}: {value}" for name, value in fields.items())])
    context = context[:MAX_CONTEXT_CHARS]
    return {
        "label": node.label[0].upper() + node.label[1:],
        "natural_key": node.natural_key,
        "text": text,
        "content_hash": content_hash(text),
        "context_text": context,
        "metadata": {"properties": dict(node.properties), "provenance": node.provenance.value},
        "screening": screen(f"{text}\n{context}").verdict.value.lower(),
        "agents": None,
        "client_id": clients[0] if len(clients) == 1 else GLOBAL_CLIENT,
        "source_agent": writer,
    }


def edge_body(edge: EdgeDump, source_id: UUID, target_id: UUID) -> dict[str, Any]:
    """Return what of an edge is encrypted into its entry."""
    return {
        "source": str(source_id),
        "target": str(target_id),
        "relation": edge.relation,
        "weight": edge.weight,
        "properties": dict(edge.properties),
        "observed_at": format_timestamp(edge.observed_at),
    }


def edge_id(entry_id: UUID) -> UUID:
    """Return the id of the edge that an entry writes."""
    return derived_id(entry_id, "memory-edge")


def node_upserted(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return a new node, or what becomes of one there is; nothing without the key of the body."""
    if not body:
        return Projection()
    node_id, state = UUID(meta["node_id"]), State(meta["status"])
    if meta["new"]:
        return Projection(nodes=(_node(entry, meta, body, node_id, state),))
    rows: list[NodeRow] = []
    if meta["revives"]:
        rows.append(
            NodeChange(
                workspace_id=entry.workspace_id, id=node_id, position=entry.position, revive=True
            )
        )
    rows.append(
        NodeChange(
            workspace_id=entry.workspace_id,
            id=node_id,
            position=entry.position,
            state=state,
            text=body["text"],
            content_hash=body["content_hash"],
            context_text=body["context_text"],
            metadata=body["metadata"],
            screening=body["screening"],
        )
    )
    return Projection(nodes=tuple(rows))


def edge_upserted(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return an edge; the one it replaces stops holding."""
    if not body:
        return Projection()
    closed = closures(entry, [meta["replaces"]] if meta["replaces"] else [])
    edge = Edge(
        **edge_fields(entry, valid_from=parse_timestamp(body["observed_at"])),
        id=edge_id(entry.id),
        view=View.KNOWLEDGE,
        relation=body["relation"],
        source_id=UUID(body["source"]),
        target_id=UUID(body["target"]),
        weight=body["weight"],
        properties=body["properties"],
    )
    return Projection(edges=(*closed, edge))


def _node(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], node_id: UUID, state: State
) -> Node:
    return Node(
        **node_fields(entry, meta, body, state=state),
        id=node_id,
        label=body["label"],
        key=body["natural_key"],
        text=body["text"],
        content_hash=body["content_hash"],
        context_text=body["context_text"],
        observed_by=(body["source_agent"],),
        observation_count=1,
        screening=body["screening"],
        metadata=body["metadata"],
    )
