"""What recording messages means, decided in order and in memory. Pure; no store is asked.

A conversation's messages are numbered as they arrive, under the lock of the ledger, so each follows
the one recorded before it; `occurred_at` says when it was written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.conversations.messages import OWN_METADATA
from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node, NodeChange
from cairn.graph.projection import Projection
from cairn.kernel.ids import derived_id
from cairn.memories.identity import CONTEXT_MESSAGES, Message
from cairn.memories.plan import texts_of
from cairn.writing.row_fields import edge_fields, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from cairn.conversations.messages import MessageDraft
    from cairn.ledger.entry import Entry
    from cairn.writing.entries import Entries


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConversation:
    """A conversation about to go on: its id, whose it is, and its last two messages, in order."""

    id: UUID
    data_subjects: tuple[UUID, ...]
    last: tuple[LastMessage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingMessage:
    """A message that waits for its conversation to come about. `body` is sealed for `id`."""

    id: UUID
    conversation_id: UUID
    identity: str
    sequence: int
    by_user: bool
    data_subjects: tuple[UUID, ...]
    body: bytes
    created_at: datetime
    expires_at: datetime


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


def changed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the conversation with whether memories are drawn from it, and how far by a model."""
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=UUID(meta["conversation_id"]),
        position=entry.position,
        metadata={OWN_METADATA: {name: meta[name] for name in ("infer", "drawn") if name in meta}},
    )
    return Projection(nodes=(change,))


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
        context_text="\n".join(texts[UUID(item)] for item in meta["context"]) or None,
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
    fields: dict[str, Any] = {"channel": meta["channel"], "accepted": meta["accepted"]}
    if body["sender"] is not None:
        fields["sender"] = body["sender"]
    if not meta["accepted"]:
        fields["gated"] = body["gate_reason"]
    fields |= {name: body[name] for name in ("infer", "utc_offset", "labels") if name in body}
    return {**body["metadata"], OWN_METADATA: fields}


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


OPENED = "conversation.opened"
CHANGED = "conversation.changed"
RECORDED = "message.recorded"


def changing(conversation_id: UUID, *, infer: bool, drawn: int) -> dict[str, Any]:
    """Return the meta of an entry that changes a conversation: all that it says of one.

    `drawn` is the number of the last message that a model drew memories from.
    """
    return {"conversation_id": str(conversation_id), "infer": infer, "drawn": drawn}


@dataclass(frozen=True, slots=True, kw_only=True)
class LastMessage:
    """One of the last messages of a conversation: what the next one has to know of it."""

    id: UUID
    sequence: int
    text: str
    occurred_at: datetime
    data_subjects: tuple[UUID, ...]


@dataclass(slots=True, kw_only=True)
class ConversationPlan:
    """Plans one write to one conversation. `last` are its last messages."""

    entries: Entries
    conversation_id: UUID
    last: tuple[LastMessage, ...] = ()
    recorded: list[UUID] = field(default_factory=list["UUID"])

    def open(self, draft: MessageDraft) -> None:
        """Plan the conversation of its first message."""
        meta = {
            "conversation_id": str(self.conversation_id),
            "channel": draft.channel.value,
            "scope": draft.audience.scope,
        }
        body = {
            "session_id": draft.session_id,
            "agents": _agents(draft),
            "client_id": draft.client_id,
            "source_agent": draft.source_agent,
            "dedup_key": draft.identity(),
        }
        self._append(OPENED, meta, body, draft)

    def record(self, draft: MessageDraft, message_id: UUID) -> None:
        """Plan one message after those planned before."""
        previous = self.last[-1] if self.last else None
        context = self._context(draft)
        message = LastMessage(
            id=message_id,
            sequence=previous.sequence + 1 if previous else 1,
            text=draft.text,
            occurred_at=draft.occurred_at,
            data_subjects=draft.audience.data_subjects,
        )
        meta = {
            "message_id": str(message_id),
            "conversation_id": str(self.conversation_id),
            "role": draft.role.value,
            "channel": draft.channel.value,
            "scope": draft.audience.scope,
            "accepted": draft.accepted,
            "sequence": message.sequence,
            "part_of": str(derived_id(message_id, "PART_OF")),
            "context": [str(item.id) for item in context],
            "follows": _follows(message, previous),
        }
        self._append(RECORDED, meta, _body(draft), draft, texts_of(context))
        self.last = (*self.last, message)[-CONTEXT_MESSAGES:]
        self.recorded.append(message_id)

    def _context(self, draft: MessageDraft) -> tuple[Message, ...]:
        """Return the messages indexed with it: the last ones, of the same data subjects only."""
        return tuple(
            Message(id=item.id, sequence=item.sequence, text=item.text)
            for item in self.last
            if item.data_subjects == draft.audience.data_subjects
        )

    def _append(
        self,
        type_: str,
        meta: Mapping[str, Any],
        body: Mapping[str, Any],
        draft: MessageDraft,
        texts: Mapping[UUID, str] | None = None,
    ) -> None:
        self.entries.add(
            type_,
            meta,
            body,
            data_subjects=draft.audience.data_subjects,
            occurred_at=draft.occurred_at,
            # not the channel's session id, which may be somebody's telephone number
            session_id=str(self.conversation_id),
            texts=texts,
        )


def _follows(message: LastMessage, previous: LastMessage | None) -> dict[str, Any] | None:
    if previous is None:
        return None
    passed = message.occurred_at - previous.occurred_at
    return {
        "id": str(derived_id(message.id, "FOLLOWS")),
        "message_id": str(previous.id),
        "delta_ms": round(passed.total_seconds() * 1000),
    }


def _body(draft: MessageDraft) -> dict[str, Any]:
    return {
        "text": draft.text,
        "content_hash": draft.content_hash,
        "session_id": draft.session_id,
        "agents": _agents(draft),
        "client_id": draft.client_id,
        "sender": draft.sender,
        "source_agent": draft.source_agent,
        "gate_reason": draft.gate_reason.value if draft.gate_reason else None,
        "screening": draft.screening,
        "labels": dict(draft.labels),
        "metadata": dict(draft.metadata),
        **({} if draft.infer else {"infer": False}),
        **({"utc_offset": draft.utc_offset} if draft.utc_offset else {}),
    }


def _agents(draft: MessageDraft) -> list[str] | None:
    agents = draft.audience.agents
    return list(agents) if agents is not None else None
