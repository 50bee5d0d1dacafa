"""Projector of `profile.derived`: what the graph holds of a person, as rows. Pure.

Everything stands in the body, which is empty when its key was destroyed: nothing comes back then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import Label, Node, NodeChange
from cairn.graph.projection import NodeRow, Projection
from cairn.kernel.text.hashes import content_hash
from cairn.nodes.rows import edge_rows
from cairn.writing.row_fields import closures, deletions, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry


def derived(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A profile and its patterns, with the edges that lead to them and from them."""
    if not body:
        return Projection()
    nodes: list[NodeRow] = [
        _changed(entry, part) if part["stands"] else _node(entry, meta, body, part)
        for part in body["parts"]
    ]
    nodes += deletions(entry, meta["dropped"])
    edges = (*closures(entry, body["closed"]), *edge_rows(entry, body["edges"]))
    return Projection(nodes=tuple(nodes), edges=edges)


def _node(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], part: Mapping[str, Any]
) -> Node:
    return Node(
        **node_fields(entry, meta, body),
        id=UUID(part["id"]),
        label=Label.SUMMARY,
        kind=part["kind"],
        text=part["text"],
        content_hash=content_hash(part["text"]),
        metadata=part["metadata"],
        consolidated=True,
    )


def _changed(entry: Entry, part: Mapping[str, Any]) -> NodeChange:
    """The part that stands was derived again; one that was dropped comes back."""
    return NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(part["id"]),
        position=entry.position,
        text=part["text"],
        content_hash=content_hash(part["text"]),
        metadata=part["metadata"],
        revive=True,
    )
