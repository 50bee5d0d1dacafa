"""From the entries of conversations to rows. Pure: replaying the ledger gives the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node, State
from cairn.graph.projection import Projection
from cairn.ingestion.messages import OWN_METADATA

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
        workspace_id=entry.workspace_id,
        id=UUID(meta["conversation_id"]),
        label=Label.CONVERSATION,
        kind=meta["channel"],
        text=text,
        content_hash="",
        dedup_key=body["dedup_key"],
        scope=meta["scope"],
        agents=_agents(body),
        client_id=body["client_id"],
        data_subjects=entry.data_subjects,
        source_agent=body["source_agent"],
        session_id=body["session_id"],
        state=State.ACTIVE,
        occurred_at=entry.occurred_at,
        valid_from=entry.occurred_at,
        recorded_at=entry.recorded_at,
        entry_id=entry.id,
        position=entry.position,
    )
    return Projection(nodes=(node,))


def recorded(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any], texts: Mapping[UUID, str]
) -> Projection:
    """Return the message's node, its place in the conversation, and what it follows."""
    message_id = UUID(meta["message_id"])
    node = Node(
        workspace_id=entry.workspace_id,
        id=message_id,
        label=Label.MESSAGE,
        kind=meta["role"],
        text=body["text"],
        context_text="\n".join(texts[UUID(one)] for one in meta["context"]) or None,
        content_hash=body["content_hash"],
        scope=meta["scope"],
        agents=_agents(body),
        client_id=body["client_id"],
        data_subjects=entry.data_subjects,
        source_agent=body["source_agent"],
        session_id=body["session_id"],
        sequence=meta["sequence"],
        parent_id=UUID(meta["conversation_id"]),
        screening=body["screening"],
        metadata=_metadata(meta, body),
        state=State.ACTIVE,
        occurred_at=entry.occurred_at,
        valid_from=entry.occurred_at,
        recorded_at=entry.recorded_at,
        entry_id=entry.id,
        position=entry.position,
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
    common: dict[str, Any] = {
        "workspace_id": entry.workspace_id,
        "source_id": message_id,
        "valid_from": entry.occurred_at,
        "recorded_at": entry.recorded_at,
        "position": entry.position,
    }
    part_of = Edge(
        id=UUID(meta["part_of"]),
        view=View.DOCUMENT,
        relation=Relation.PART_OF,
        target_id=UUID(meta["conversation_id"]),
        **common,
    )
    follows = meta["follows"]
    if follows is None:
        return [part_of]
    after = Edge(
        id=UUID(follows["id"]),
        view=View.TEMPORAL,
        relation=Relation.FOLLOWS,
        target_id=UUID(follows["message_id"]),
        properties={"delta_ms": follows["delta_ms"]},
        **common,
    )
    return [part_of, after]


def _agents(body: Mapping[str, Any]) -> tuple[str, ...] | None:
    return tuple(body["agents"]) if body["agents"] is not None else None
