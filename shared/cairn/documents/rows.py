"""Projectors of documents: from their ledger entries to nodes and edges. Pure, like the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.graph.edge import Edge, View
from cairn.graph.node import Label, Node, NodeChange
from cairn.graph.projection import DocumentRemoval, EdgeRow, NodeRow, Projection
from cairn.tasks.draft import produced
from cairn.writing.row_fields import closures, deletions, edge_fields, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry


def received(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A document exists from its acceptance on: by name, before anything of it is read."""
    document_id = UUID(meta["document_id"])
    title = body["title"] or body["source_uri"]
    node = Node(
        **node_fields(entry, meta, body),
        id=document_id,
        label=Label.DOCUMENT,
        title=title,
        text=title,
        content_hash="",
        dedup_key=body["identity"],
        source_uri=body["source_uri"],
        document_id=document_id,
        metadata={**body["metadata"], "media_type": body["media_type"]},
    )
    maker = meta.get("produced_by")
    edges = (produced(entry, UUID(maker), document_id),) if maker else ()
    return Projection(nodes=(node,), edges=edges)


def chunks_stored(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """New chunks, found by keyword from here on."""
    document = body["document"]
    nodes = [_part(entry, meta, document, Label.CHUNK, chunk) for chunk in body["chunks"]]
    return Projection(nodes=tuple(nodes))


def stored(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """The document as a whole: its sections, what moved, what went, how it hangs together."""
    document = body["document"]
    nodes: list[NodeRow] = [_document(entry, meta, body)]
    nodes += [_part(entry, meta, document, Label.SECTION, item) for item in body["sections_added"]]
    nodes += [_moved(entry, document, item) for item in body["sections_kept"]]
    nodes += [_moved(entry, document, item) for item in body["chunks_kept"]]
    nodes += deletions(entry, body["removed"])
    return Projection(nodes=tuple(nodes), edges=_edges(entry, body))


def deleted(entry: Entry, meta: Mapping[str, Any], _: Mapping[str, Any]) -> Projection:
    """A document goes with all its parts."""
    removal = DocumentRemoval(
        workspace_id=entry.workspace_id,
        document_id=UUID(meta["document_id"]),
        deleted_at=entry.recorded_at,
        position=entry.position,
    )
    return Projection(removals=(removal,))


def _document(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> NodeChange:
    return NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["document_id"]),
        position=entry.position,
        title=body["title"],
        text=body["summary"] or body["title"],
        summary=body["summary"],
        content_hash=body["content_hash"],
        metadata={**body["document"]["metadata"], "media_type": body["document"]["media_type"]},
        revive=True,
    )


def _part(
    entry: Entry,
    meta: Mapping[str, Any],
    document: Mapping[str, Any],
    label: Label,
    part: Mapping[str, Any],
) -> Node:
    return Node(
        **node_fields(entry, meta, document),
        id=UUID(part["id"]),
        label=label,
        text=part["text"],
        summary=part["summary"],
        screening=part["screening"],
        context_text=_path(document, part),
        content_hash=part["content_hash"],
        source_uri=document["source_uri"],
        document_id=UUID(meta["document_id"]),
        parent_id=UUID(part["parent_id"]),
        ordinal=part["ordinal"],
        headings=tuple(part["headings"]),
        line_from=part["line_from"],
        line_to=part["line_to"],
        page_from=part["page_from"],
        page_to=part["page_to"],
        token_count=part.get("token_count"),
    )


def _moved(entry: Entry, document: Mapping[str, Any], part: Mapping[str, Any]) -> NodeChange:
    """A kept part at its new place; its text only when it is a section's (a summary)."""
    return NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(part["id"]),
        position=entry.position,
        text=part.get("text"),
        summary=part.get("summary"),
        content_hash=part["content_hash"],
        context_text=_path(document, part),
        headings=tuple(part["headings"]),
        parent_id=UUID(part["parent_id"]),
        ordinal=part["ordinal"],
        line_from=part["line_from"],
        line_to=part["line_to"],
        page_from=part["page_from"],
        page_to=part["page_to"],
        revive=True,
    )


def _edges(entry: Entry, body: Mapping[str, Any]) -> tuple[EdgeRow, ...]:
    added = [
        Edge(
            **edge_fields(entry),
            id=UUID(edge_id),
            view=View.DOCUMENT,
            relation=relation,
            source_id=UUID(source),
            target_id=UUID(target),
        )
        for edge_id, relation, source, target in cast("list[list[str]]", body["edges_added"])
    ]
    return (*closures(entry, body["edges_closed"]), *added)


def _path(document: Mapping[str, Any], part: Mapping[str, Any]) -> str:
    return " > ".join([document["title"], *part["headings"]])
