"""From a ledger entry to rows: pure, so that replaying the ledger gives the same rows again.

No clock, id, embedder, model or index is asked here. What had to be looked up when the entry was
made (the place in a chain, the neighbours) stands in its `meta` as ids.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from cairn.graph.node import Label, Node, NodeChange, State
from cairn.graph.projection import NodeRow, Projection
from cairn.ingestion import (
    access_rows,
    consolidation_rows,
    document_rows,
    entity_rows,
    event_rows,
    forget_rows,
    graph_rows,
    lifecycle_rows,
    memory_graph_rows,
    messages_rows,
    node_rows,
    reports_rows,
    summary_rows,
    taint_rows,
    task_rows,
)
from cairn.ingestion.ports import Subject
from cairn.ingestion.row_fields import deletions, node_fields
from cairn.ledger.entry import Entry
from cairn.memory.draft import MemoryDraft
from cairn.memory.identity import chain_key, dedup_key
from cairn.text.canonical import parse_timestamp

Texts = Mapping[UUID, str]
"""The texts of nodes an entry refers to as context."""

Meta = Mapping[str, Any]


def memory_body(draft: MemoryDraft) -> dict[str, Any]:
    """Return what of a memory is encrypted into its entry: all that a reader could recognise."""
    return {
        "text": draft.text,
        "content_hash": draft.content_hash,
        "dedup_key": dedup_key(draft),
        "chain_key": chain_key(draft),
        "agents": list(draft.audience.agents) if draft.audience.agents is not None else None,
        "client_id": draft.client_id,
        "source_agent": draft.source_agent,
        "key": draft.key,
        "subject": draft.subject,
        "status_value": draft.status_value,
        "category": draft.category.value,
        "importance": draft.importance,
        "knowledge_category": draft.knowledge_category.value,
        "sequence": draft.sequence,
        "confidence": draft.confidence,
        "screening": draft.screening,
        "metadata": dict(draft.metadata),
    }


def project(entry: Entry, body: Mapping[str, Any], texts: Texts) -> Projection:
    """Return the rows of an entry; nothing for types that have no node projection.

    `body` is the decrypted body, {} when its key was destroyed (its rows then do not come back).
    """
    projector = _PROJECTORS.get(entry.type)
    return projector(entry, entry.meta, body, texts) if projector else Projection()


def registered_subject(entry: Entry, body: Mapping[str, Any]) -> Subject:
    """Return the data subject that a `data_subject.registered` entry names."""
    return Subject(
        id=UUID(cast("str", entry.meta["subject_id"])),
        kind=body["kind"],
        natural_key=body["natural_key"],
    )


def _remembered(entry: Entry, meta: Meta, body: Mapping[str, Any], texts: Texts) -> Projection:
    node_id = UUID(meta["node_id"])
    texts = {**texts, node_id: body["text"]}
    rows: list[NodeRow] = [*_chain_changes(entry, meta), _memory(entry, meta, body, texts)]
    rows += _recontexted(entry, meta, texts)
    maker = meta.get("produced_by")
    edges = (task_rows.produced(entry, UUID(maker), node_id),) if maker else ()
    return Projection(nodes=tuple(rows), edges=edges)


def _chain_changes(entry: Entry, meta: Meta) -> list[NodeRow]:
    rows: list[NodeRow] = []
    if meta["supersedes"]:
        rows.append(
            NodeChange(
                workspace_id=entry.workspace_id,
                id=UUID(meta["supersedes"]),
                position=entry.position,
                state=State.SUPERSEDED,
                valid_to=_time(meta["previous_valid_to"]),
                superseded_by=UUID(meta["node_id"]),
                superseded_at=entry.recorded_at if meta["replaces"] else None,
            )
        )
    if meta["superseded_by"]:
        rows.append(
            NodeChange(
                workspace_id=entry.workspace_id,
                id=UUID(meta["superseded_by"]),
                position=entry.position,
                supersedes=UUID(meta["node_id"]),
            )
        )
    return rows


def _memory(entry: Entry, meta: Meta, body: Mapping[str, Any], texts: Texts) -> Node:
    superseded = meta["superseded_by"]
    return Node(
        **node_fields(
            entry,
            meta,
            body,
            state=State.SUPERSEDED if superseded else State.ACTIVE,
            valid_from=parse_timestamp(meta["valid_from"]),
        ),
        id=UUID(meta["node_id"]),
        label=Label.MEMORY,
        kind=meta["kind"],
        text=body["text"],
        context_text=_context(meta["context"], texts),
        content_hash=body["content_hash"],
        dedup_key=body["dedup_key"],
        chain_key=body["chain_key"],
        observed_by=(body["source_agent"],),
        observation_count=1,
        session_id=entry.session_id,
        sequence=body["sequence"],
        trace_id=entry.trace_id,
        category=body["category"],
        importance=body["importance"],
        knowledge_category=body["knowledge_category"],
        key=body["key"],
        subject=body["subject"],
        status_value=body["status_value"],
        metadata=body["metadata"],
        parent_id=entry.parent_id,
        supersedes=_id(meta["supersedes"]),
        superseded_by=_id(superseded),
        superseded_at=entry.recorded_at if superseded else None,
        confidence=body["confidence"],
        screening=body["screening"],
        valid_to=_time(meta["valid_to"]),
    )


def _recontexted(entry: Entry, meta: Meta, texts: Texts) -> list[NodeChange]:
    """Return the changed contexts of later messages of the session."""
    return [
        NodeChange(
            workspace_id=entry.workspace_id,
            id=UUID(node_id),
            position=entry.position,
            context_text=_context(context, texts) or "",
        )
        for node_id, context in cast("list[tuple[str, list[str]]]", meta["recontexted"])
    ]


def _corroborated(entry: Entry, meta: Meta, body: Mapping[str, Any], _: Texts) -> Projection:
    observers = tuple(body["observed_by"])
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["node_id"]),
        position=entry.position,
        observed_by=observers,
        observation_count=len(observers),
    )
    return Projection(nodes=(change,))


def _deleted(entry: Entry, meta: Meta, _: Mapping[str, Any], texts: Texts) -> Projection:
    gone = deletions(entry, meta["node_ids"])
    return Projection(nodes=(*gone, *_recontexted(entry, meta, texts)))


def _context(ids: list[str], texts: Texts) -> str | None:
    return "\n".join(texts[UUID(one)] for one in ids) or None


def _id(value: str | None) -> UUID | None:
    return UUID(value) if value else None


def _time(value: str | None) -> datetime | None:
    return parse_timestamp(value) if value else None


Projector = Callable[[Entry, Meta, Mapping[str, Any], Texts], Projection]


def _without_texts(projector: Callable[[Entry, Meta, Mapping[str, Any]], Projection]) -> Projector:
    return lambda entry, meta, body, _: projector(entry, meta, body)


_PROJECTORS: Mapping[str, Projector] = {
    "memory.remembered": _remembered,
    "memory.corroborated": _corroborated,
    "memory.deleted": _deleted,
    "memory.accessed": _without_texts(access_rows.accessed),
    "node.enriched": _without_texts(graph_rows.enriched),
    "event.observed": _without_texts(event_rows.observed),
    "conversation.opened": messages_rows.opened,
    "message.recorded": messages_rows.recorded,
    "report.written": _without_texts(reports_rows.written),
    "node.written": _without_texts(node_rows.written),
    "node.compiled": _without_texts(node_rows.compiled),
    "node.deleted": _without_texts(node_rows.deleted),
    "summary.written": _without_texts(summary_rows.written),
    "truth.compiled": _without_texts(summary_rows.compiled),
    "node.expired": _without_texts(lifecycle_rows.expired),
    "node.archived": _without_texts(lifecycle_rows.archived),
    "node.restored": _without_texts(lifecycle_rows.restored),
    "node.purged": _without_texts(lifecycle_rows.purged),
    "edge.written": _without_texts(node_rows.related),
    "graph.node_upserted": _without_texts(memory_graph_rows.node_upserted),
    "graph.edge_upserted": _without_texts(memory_graph_rows.edge_upserted),
    "entity.alias_added": _without_texts(entity_rows.alias_added),
    "entity.alias_removed": _without_texts(entity_rows.alias_removed),
    "entity.merged": _without_texts(entity_rows.merged),
    "entity.unmerged": _without_texts(entity_rows.unmerged),
    "entity.split": _without_texts(entity_rows.split),
    "consolidation.applied": _without_texts(consolidation_rows.applied),
    "document.received": _without_texts(document_rows.received),
    "document.chunks_stored": _without_texts(document_rows.chunks_stored),
    "document.stored": _without_texts(document_rows.stored),
    "document.deleted": _without_texts(document_rows.deleted),
    "subject.forgotten": _without_texts(forget_rows.forgotten),
    "source.forgotten": _without_texts(forget_rows.forgotten),
    "taint.applied": _without_texts(taint_rows.applied),
    "taint.extended": _without_texts(taint_rows.extended),
    "taint.lifted": _without_texts(taint_rows.lifted),
    "task.started": _without_texts(task_rows.started),
    "task.updated": _without_texts(task_rows.changed),
    "task.completed": _without_texts(task_rows.changed),
}
