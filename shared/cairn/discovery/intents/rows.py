"""Rows of intents, and the nodes that intents, profiles and premises are. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import Label, Node, NodeChange
from cairn.graph.node import State as NodeState
from cairn.graph.projection import Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.hashes import content_hash
from cairn.writing.row_fields import deletions, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry

MOST_AS_OF = 1_000
"""Texts of one member at a moment, archived ones counted."""

CREATED = "intent.created"
UPDATED = "intent.updated"
CHANGED = "intent.changed"
PROFILE_WRITTEN = "member.profile_written"
PREMISE_ADDED = "premise.added"
PREMISES_RETRACTED = "premise.retracted"


class IntentState(StrEnum):
    """How an intent stands. active <-> paused; both and expired -> archived; expired -> active."""

    ACTIVE = "active"  # looked for, and shown to the networks it belongs to
    PAUSED = "paused"  # kept, neither looked for nor shown
    EXPIRED = "expired"  # past its time, or said to be over; refreshing brings it back
    ARCHIVED = "archived"  # deleted


OPEN = (IntentState.ACTIVE, IntentState.PAUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentRow:
    """How an intent stands; its text is its node's."""

    id: UUID
    member_id: UUID
    side: str
    state: IntentState
    version: int
    created_at: datetime
    changed_at: datetime
    expires_at: datetime | None = None
    discovered_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRow:
    """What a node of a member says; `at` is the position of its last change."""

    id: UUID
    client_id: str
    text: str
    kind: str | None
    title: str | None
    state: str
    metadata: Mapping[str, Any]
    position: int
    recorded_at: datetime
    expires_at: datetime | None = None


def profile_id(member_id: UUID) -> UUID:
    """Return the id of the node that a member's profile is."""
    return derived_id(member_id, "profile")


def created(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the intent as a node."""
    node = Node(
        **node_fields(entry, meta, body),
        id=UUID(meta["intent_id"]),
        label=Label.INTENT,
        kind=meta["side"],
        text=body["text"],
        content_hash=content_hash(body["text"]),
        metadata=body["metadata"] | _standing(meta),
    )
    return Projection(nodes=(node,))


def updated(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the change of what an intent says."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["intent_id"]),
        position=entry.position,
        text=body["text"],
        content_hash=content_hash(body["text"]),
        metadata=body["metadata"] | _standing(meta),
    )
    return Projection(nodes=(change,))


def changed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the change of how an intent stands; what is over is found by nobody."""
    is_open = meta["state"] in OPEN
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["intent_id"]),
        position=entry.position,
        state=NodeState.ACTIVE if is_open else NodeState.ARCHIVED,
        metadata=body["metadata"] | _standing(meta),
    )
    return Projection(nodes=(change,))


def profile_written(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the profile of a member as a node, or the change of it."""
    node_id = UUID(meta["profile_id"])
    texts = {"text": body["text"], "title": body["title"], "metadata": body["metadata"]}
    if meta["new"]:
        node = Node(
            **node_fields(entry, meta, body),
            id=node_id,
            label=Label.MEMBER,
            content_hash=content_hash(body["text"]),
            **texts,
        )
        return Projection(nodes=(node,))
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=node_id,
        position=entry.position,
        content_hash=content_hash(body["text"]),
        **texts,
    )
    return Projection(nodes=(change,))


def premise_added(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return what a member says of themselves as a node."""
    until = meta["expires_at"]
    node = Node(
        **node_fields(entry, meta, body),
        id=UUID(meta["premise_id"]),
        label=Label.PREMISE,
        text=body["text"],
        content_hash=content_hash(body["text"]),
        parent_id=UUID(meta["profile_id"]),
        expires_at=datetime.fromisoformat(until) if until else None,
        metadata={"by": meta["by"]},
    )
    return Projection(nodes=(node,))


def premises_retracted(
    entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]
) -> Projection:
    """Return the deletion of what a member no longer says of themselves."""
    del body
    return Projection(nodes=tuple(deletions(entry, meta["premise_ids"])))


def _standing(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {name: meta[name] for name in ("side", "state", "expires_at", "version")}
