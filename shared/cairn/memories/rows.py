"""From the entries of memories to rows. Pure: replaying the ledger gives the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.graph.node import PLAIN_NAMES, Label, Node, NodeChange, State
from cairn.graph.projection import Projection
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.memories.identity import chain_key, dedup_key
from cairn.nodes.rows import edge_rows
from cairn.tasks.draft import produced
from cairn.writing.row_fields import deletions, node_fields, origin_fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.graph.projection import NodeRow
    from cairn.ledger.entry import Entry
    from cairn.memories.draft import MemoryDraft

    Meta = Mapping[str, Any]
    Texts = Mapping[UUID, str]


def memory_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a new memory takes from a `memory_body`; its writer is its first observer."""
    observers = tuple(body.get("observed_by") or [body["source_agent"]])
    return {
        "label": Label.MEMORY,
        "text": body["text"],
        "content_hash": body["content_hash"],
        "dedup_key": body["dedup_key"],
        "chain_key": body["chain_key"],
        "observed_by": observers,
        "observation_count": len(observers),
        "importance": body["importance"],
        **{name: body.get(name) for name in PLAIN_NAMES},
        "metadata": body["metadata"],
        "confidence": body["confidence"],
        "screening": body["screening"],
        "pinned": body.get("pinned", False),
        "ttl_seconds": body.get("ttl_seconds"),
        "expires_at": _time(body.get("expires_at")),
    }


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
        **{name: getattr(draft, name) for name in PLAIN_NAMES},
        "importance": draft.importance,
        "sequence": draft.sequence,
        "confidence": draft.confidence,
        "screening": draft.screening,
        "metadata": dict(draft.metadata),
        **({"conversation_id": str(draft.conversation_id)} if draft.conversation_id else {}),
        **_lasting(draft),
    }


def _lasting(draft: MemoryDraft) -> dict[str, Any]:
    if draft.expires_at is None:
        return {}
    return {"ttl_seconds": draft.ttl_seconds, "expires_at": format_timestamp(draft.expires_at)}


def remembered(entry: Entry, meta: Meta, body: Mapping[str, Any], texts: Texts) -> Projection:
    """Return a memory, what it changed of its chain, and later messages it is now context of."""
    node_id = UUID(meta["node_id"])
    texts = {**texts, node_id: body["text"]}
    rows: list[NodeRow] = [*_chain_changes(entry, meta), _memory(entry, meta, body, texts)]
    rows += _recontexted(entry, meta, texts)
    maker = meta.get("produced_by")
    edges = (produced(entry, UUID(maker), node_id),) if maker else ()
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
        **memory_fields(body),
        id=UUID(meta["node_id"]),
        kind=meta["kind"],
        context_text=_context(meta["context"], texts),
        **origin_fields(entry, body),
        sequence=body["sequence"],
        parent_id=entry.parent_id,
        conversation_id=_id(body.get("conversation_id")),
        supersedes=_id(meta["supersedes"]),
        superseded_by=_id(superseded),
        superseded_at=entry.recorded_at if superseded else None,
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


def replaced(entry: Entry, meta: Meta, body: Mapping[str, Any], texts: Texts) -> Projection:
    """Return the memory a person put in the place of others: a correction, a merge, a move."""
    projection = remembered(entry, meta, body, texts)
    sources = {UUID(source): until for source, until in meta["sources"]}
    closed = [
        NodeChange(
            workspace_id=entry.workspace_id,
            id=source,
            position=entry.position,
            state=State.SUPERSEDED,
            valid_to=parse_timestamp(until),
            superseded_by=UUID(meta["node_id"]),
            superseded_at=entry.recorded_at,
        )
        for source, until in sources.items()
    ]
    others = [row for row in projection.nodes if row.id not in sources]
    return Projection(nodes=(*closed, *others), edges=edge_rows(entry, body["edges"]))


def pinned(entry: Entry, meta: Meta, _: Mapping[str, Any]) -> Projection:
    """Return a memory that is pinned, or no longer."""
    return _marked(entry, meta, pinned=meta["pinned"])


def refreshed(entry: Entry, meta: Meta, _: Mapping[str, Any]) -> Projection:
    """Return memories that last for a time, and last longer now."""
    changes = [
        NodeChange(
            workspace_id=entry.workspace_id,
            id=UUID(node_id),
            position=entry.position,
            expires_at=parse_timestamp(until),
        )
        for node_id, until in meta["expires_at"].items()
    ]
    return Projection(nodes=tuple(changes))


def withheld(entry: Entry, meta: Meta, _: Mapping[str, Any]) -> Projection:
    """Return a memory that nothing finds any more; what was made of it goes out of recall too."""
    (memory,) = _marked(entry, meta, state=State.QUARANTINED, never_recall=True).nodes
    cleared = [
        NodeChange(
            workspace_id=entry.workspace_id,
            id=UUID(entity),
            position=entry.position,
            compiled_truth="",
        )
        for entity in meta["cleared"]
    ]
    return Projection(nodes=(memory, *cleared, *deletions(entry, meta["summaries"])))


def restored(entry: Entry, meta: Meta, _: Mapping[str, Any], texts: Texts) -> Projection:
    """Return a deleted memory that is back, and the contexts of it and of the messages after it."""
    context = _context(meta["context"], texts) or ""
    (memory,) = _marked(entry, meta, revive=True, context_text=context).nodes
    return Projection(nodes=(memory, *_recontexted(entry, meta, texts)))


def released(entry: Entry, meta: Meta, _: Mapping[str, Any]) -> Projection:
    """Return a memory that may be found again, in the state it would have had."""
    if meta["superseded"]:
        return _marked(entry, meta, state=State.SUPERSEDED, never_recall=False)
    return _marked(entry, meta, revive=True, never_recall=False)


def _marked(entry: Entry, meta: Meta, **changed: Any) -> Projection:
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["node_id"]),
        position=entry.position,
        **changed,
    )
    return Projection(nodes=(change,))


def corroborated(entry: Entry, meta: Meta, body: Mapping[str, Any]) -> Projection:
    """Return who observed a memory after somebody said it again."""
    observers = tuple(body["observed_by"])
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["node_id"]),
        position=entry.position,
        observed_by=observers,
        observation_count=len(observers),
    )
    return Projection(nodes=(change,))


def deleted(entry: Entry, meta: Meta, _: Mapping[str, Any], texts: Texts) -> Projection:
    """Return the deletions, and the contexts of the messages that followed."""
    gone = deletions(entry, meta["node_ids"])
    if moved := _id(meta.get("moved_to")):
        gone = [replace(row, superseded_by=moved) for row in gone]
    return Projection(nodes=(*gone, *_recontexted(entry, meta, texts)))


def _context(ids: list[str], texts: Texts) -> str | None:
    return "\n".join(texts[UUID(id_)] for id_ in ids) or None


def _id(value: str | None) -> UUID | None:
    return UUID(value) if value else None


def _time(value: str | None) -> datetime | None:
    return parse_timestamp(value) if value else None
