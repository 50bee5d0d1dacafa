"""From the entries of conversations to rows. Pure: replaying the ledger gives the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from cairn.conversations.messages import OWN_METADATA
from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node
from cairn.graph.projection import Projection
from cairn.writing.row_fields import edge_fields, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cairn.ledger.entry import Entry


def opened(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], _: Mapping[UUID, str]
) -> Projection:
    """Return the conversation's node. Its text names the channel only: it holds nothing said."""
    text = f"{meta['channel']} conversation"
    node = Node(
        **node_fields(entry, meta, body),
        id=UUID(meta["conversation_id"]),
        label=Label.CONVERSATION,
        kind=meta["channel"],
        text=text,
        content_hash="",
        dedup_key=body["dedup_key"],
        session_id=body["session_id"],
    )
    return Projection(nodes=(node,))


def recorded(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], texts: Mapping[UUID, str]
) -> Projection:
    """Return the message's node, its place in the conversation, and what it follows."""
    message_id = UUID(meta["message_id"])
    node = Node(
        **node_fields(entry, meta, body),
        id=message_id,
        label=Label.MESSAGE,
        kind=meta["role"],
        text=body["text"],
        context_text="\n".join(texts[UUID(one)] for one in meta["context"]) or None,
        content_hash=body["content_hash"],
        session_id=body["session_id"],
        sequence=meta["sequence"],
        parent_id=UUID(meta["conversation_id"]),
        screening=body["screening"],
        metadata=_metadata(meta, body),
    )
    return Projection(nodes=(node,), edges=tuple(_edges(entry, meta, message_id)))


def _metadata(meta: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the caller gave, beside what Cairn says of the message under its own name."""
    told: dict[str, Any] = {"channel": meta["channel"], "accepted": meta["accepted"]}
    if body["sender"] is not None:
        told["sender"] = body["sender"]
    if not meta["accepted"]:
        told["gated"] = body["gate_reason"]
    return {**body["metadata"], OWN_METADATA: told}


def _edges(entry: Entry, meta: Mapping[str, Any], message_id: UUID) -> list[Edge]:
    part_of = Edge(
        **edge_fields(entry),
        id=UUID(meta["part_of"]),
        view=View.DOCUMENT,
        relation=Relation.PART_OF,
        source_id=message_id,
        target_id=UUID(meta["conversation_id"]),
    )
    follows = meta["follows"]
    if follows is None:
        return [part_of]
    after = Edge(
        **edge_fields(entry),
        id=UUID(follows["id"]),
        view=View.TEMPORAL,
        relation=Relation.FOLLOWS,
        source_id=message_id,
        target_id=UUID(follows["message_id"]),
        properties={"delta_ms": follows["delta_ms"]},
    )
    return [part_of, after]
