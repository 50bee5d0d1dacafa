"""Projectors of what is derived of sources: summaries, and what is held true of entities. Pure.

Everything stands in the body, which is empty when its key was destroyed: nothing comes back then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node, NodeChange
from cairn.graph.projection import EdgeRow, NodeRow, Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import parse_timestamp
from cairn.writing.row_fields import closures, deletions, edge_fields, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry

_VIEWS = {Relation.SUMMARIZES: View.HIERARCHICAL, Relation.DERIVED_FROM: View.PROVENANCE}


def written(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Summaries with their edges to what they are made of, and those that are made of nothing."""
    if not body:
        return Projection()
    nodes: list[NodeRow] = []
    edges: list[EdgeRow] = [*closures(entry, body["closed"])]
    for summary in body["summaries"]:
        nodes.append(
            _changed(entry, summary) if summary["stands"] else _node(entry, meta, body, summary)
        )
        edges += _edges(entry, UUID(summary["id"]), summary["edges"])
    nodes += deletions(entry, meta["dropped"])
    return Projection(nodes=tuple(nodes), edges=tuple(edges))


def compiled(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """What is held true of an entity, with edges to what says so; "" when nothing does any more."""
    if not body:
        return Projection()
    node_id = UUID(meta["node_id"])
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=node_id,
        position=entry.position,
        compiled_truth=body["compiled_truth"],
        metadata=body["metadata"],
    )
    edges = (*closures(entry, body["closed"]), *_edges(entry, node_id, body["edges"]))
    return Projection(nodes=(change,), edges=edges)


def described(entry: Entry, _: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Documents and sections that a model summed up; one without a summary keeps what it has."""
    changes = tuple(
        NodeChange(
            workspace_id=entry.workspace_id,
            id=UUID(name["id"]),
            position=entry.position,
            text=name["summary"],
            summary=name["summary"],
            metadata=name["metadata"],
        )
        for name in body.get("parts", ())
    )
    return Projection(nodes=changes)


def _node(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], item: Mapping[str, Any]
) -> Node:
    moment = parse_timestamp(item["occurred_at"])
    record = {**body, "source_agent": item["source_agent"]}
    fields = node_fields(entry, meta, record, valid_from=moment)
    fields["occurred_at"] = moment
    return Node(
        **fields,
        id=UUID(item["id"]),
        label=Label.SUMMARY,
        kind=item["kind"],
        text=item["text"],
        content_hash=item["content_hash"],
        observed_by=tuple(item["observed_by"]),
        observation_count=len(item["observed_by"]),
        session_id=item["session_id"],
        trace_id=item["trace_id"],
        parent_id=UUID(item["parent_id"]) if item["parent_id"] else None,
        category="episodic",
        importance=item["importance"],
        screening=item["screening"],
        metadata=item["metadata"],
        consolidated=True,
    )


def _changed(entry: Entry, item: Mapping[str, Any]) -> NodeChange:
    """The summary that stands says something else now; one that was dropped comes back."""
    moment = parse_timestamp(item["occurred_at"])
    return NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(item["id"]),
        position=entry.position,
        text=item["text"],
        content_hash=item["content_hash"],
        observed_by=tuple(item["observed_by"]),
        observation_count=len(item["observed_by"]),
        importance=item["importance"],
        screening=item["screening"],
        metadata=item["metadata"],
        occurred_at=moment,
        valid_from=moment,
        revive=True,
    )


def _edges(entry: Entry, source: UUID, edges: list[list[str]]) -> list[Edge]:
    return [
        Edge(
            **edge_fields(entry),
            id=derived_id(entry.id, relation, source, target),
            view=_VIEWS[Relation(relation)],
            relation=relation,
            source_id=source,
            target_id=UUID(target),
        )
        for relation, target in edges
    ]
