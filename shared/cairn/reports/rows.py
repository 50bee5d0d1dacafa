"""From the entries of reports to rows. Pure: replaying the ledger gives the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node
from cairn.graph.projection import Projection
from cairn.nodes.rows import entity_node
from cairn.writing.row_fields import agents_of, edge_fields, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.graph.projection import NodeRow
    from cairn.ledger.entry import Entry

ADMIN_TYPE, ADMIN_NAME = "user", "admin"
"""Who produced what came of no conversation: one entity for each audience of a workspace."""


def written(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the report, the edge from what produced it, and the admin when nobody else did."""
    report = Node(
        **node_fields(entry, meta, body),
        id=UUID(meta["report_id"]),
        label=Label.REPORT,
        title=body["title"],
        text=body["body"],
        content_hash=body["content_hash"],
        dedup_key=body["dedup_key"],
        keywords=tuple(body["keywords"]),
        session_id=body["session_id"],
        screening=body["screening"],
        parent_id=UUID(meta["parent_id"]),
        metadata={"source_workflow": body["source_workflow"]},
    )
    rows: list[NodeRow] = [report]
    if meta["parent"] == "admin":
        rows.insert(0, _admin(entry, meta, agents_of(body)))
    return Projection(nodes=tuple(rows), edges=(_produced(entry, meta),))


def _admin(entry: Entry, meta: Mapping[str, Any], agents: tuple[str, ...] | None) -> Node:
    """Return the admin's entity; where it is known already, its row stays as it is."""
    return entity_node(
        entry,
        entity_id=UUID(meta["parent_id"]),
        name=ADMIN_NAME,
        type=ADMIN_TYPE,
        scope=meta["scope"],
        agents=agents,
    )


def _produced(entry: Entry, meta: Mapping[str, Any]) -> Edge:
    return Edge(
        **edge_fields(entry),
        id=UUID(meta["edge_id"]),
        view=View.PROVENANCE,
        relation=Relation.PRODUCED,
        source_id=UUID(meta["parent_id"]),
        target_id=UUID(meta["report_id"]),
    )
