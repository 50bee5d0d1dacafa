"""Projectors of tasks: pieces of work, what raised them, what they produced. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node, NodeChange
from cairn.graph.projection import Projection
from cairn.kernel.ids import derived_id
from cairn.writing.row_fields import edge_fields, node_fields, origin_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry


def started(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A task, and the conversation it was raised during where there is one."""
    task_id, raised = UUID(meta["node_id"]), meta["raised_during"]
    node = Node(
        **node_fields(entry, meta, body),
        id=task_id,
        label=Label.TASK,
        kind=body["kind"],
        title=body["title"],
        text=body["title"],
        content_hash=body["content_hash"],
        **origin_fields(entry, body),
        metadata=body["metadata"],
    )
    edges = [_edge(entry, Relation.RAISED_DURING, task_id, UUID(raised))] if raised else []
    return Projection(nodes=(node,), edges=tuple(edges))


def changed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """How a task stands after a step or at its end, and what it produced."""
    task_id = UUID(meta["node_id"])
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=task_id,
        position=entry.position,
        text=body["text"],
        content_hash=body["content_hash"],
        metadata=body["metadata"],
    )
    made = [produced(entry, task_id, UUID(one)) for one in meta["produced"]]
    return Projection(nodes=(change,), edges=tuple(made))


def produced(entry: Entry, maker_id: UUID, node_id: UUID) -> Edge:
    """Return the edge from a task, conversation or message to what it made."""
    return _edge(entry, Relation.PRODUCED, maker_id, node_id)


def _edge(entry: Entry, relation: Relation, source_id: UUID, target_id: UUID) -> Edge:
    return Edge(
        **edge_fields(entry),
        id=derived_id(source_id, relation, target_id),
        view=View.PROVENANCE,
        relation=relation,
        source_id=source_id,
        target_id=target_id,
    )
