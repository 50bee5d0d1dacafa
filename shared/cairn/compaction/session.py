"""What a session's assistant is told of its earlier turns: kept in the graph, a node a session.

The node is a summary of the conversation, derived of the messages it was made of: it goes when they
go, each time it is made anew is an entry of the ledger, and no search finds it that does not ask
for summaries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import NotFound
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.hashes import content_hash
from cairn.safety.screening import screen
from cairn.summaries.entries import RELATIONS
from cairn.summaries.ports import fingerprint
from cairn.writing.subjects import resolve
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.compaction.compact import Compacted
    from cairn.conversations.read import ConversationView
    from cairn.conversations.transcript import SaidMessage
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

KIND = "compaction"


def briefing_id(conversation_id: UUID) -> UUID:
    """Return the id of a conversation's briefing."""
    return derived_id(conversation_id, KIND)


@dataclass(frozen=True, slots=True)
class KeepBriefing:
    """Keeps the summary of a compaction in the graph, in the place of the one before."""

    platform: Platform

    def __call__(
        self, principal: Principal, compacted: Compacted, *, since: datetime | None = None
    ) -> UUID | None:
        """Write it and return its id; None where nothing was left out, or what was is gone.

        `since`: the briefing stands for all that was said before, for who reads both.
        """
        if not compacted.summary:
            return None
        node_id = briefing_id(compacted.conversation_id)
        sources = list(
            dict.fromkeys(each for brief in compacted.briefs for each in brief.message_ids)
        )
        with self.platform.transactions.reading(principal) as stores:
            seen = self._sources(stores, compacted.conversation_id, sources)
        if not seen:
            return None
        subjects = tuple(sorted({subject for message in seen for subject in message.data_subjects}))
        keys = resolve(self.platform, principal, (), subjects).keys
        with open_write(self.platform, principal, keys=keys, data_subjects=subjects) as write:
            conversation = write.stores.conversation_views.conversation(compacted.conversation_id)
            if conversation is None:
                raise NotFound("There is no such conversation.")
            meta, body = _entry(write.stores, conversation, compacted, seen)
            body["summaries"][0]["metadata"]["since"] = since and format_timestamp(since)
            write.note("summary.written", meta, body)
        return node_id

    def _sources(
        self, stores: Stores, conversation_id: UUID, ids: Sequence[UUID]
    ) -> list[SaidMessage]:
        unique = set(ids)
        return [each for each in stores.conversations.said(conversation_id) if each.id in unique]


def _entry(
    stores: Stores,
    conversation: ConversationView,
    compacted: Compacted,
    seen: Sequence[SaidMessage],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return meta and body of the entry; the edges of sources that are none any more close."""
    node_id = briefing_id(conversation.id)
    held = stores.summaries.edges([node_id])
    edges = {(relation, each.id) for each in seen for relation in RELATIONS}
    has = {(edge.relation, edge.target_id) for edge in held}
    summary = {
        "id": str(node_id),
        "kind": KIND,
        "text": compacted.summary,
        "content_hash": content_hash(compacted.summary),
        "importance": 5,
        "occurred_at": format_timestamp(min(each.occurred_at for each in seen)),
        "observed_by": [conversation.source_agent],
        "source_agent": conversation.source_agent,
        "session_id": str(conversation.id),
        "trace_id": None,
        "parent_id": str(conversation.id),
        "screening": screen(compacted.summary).verdict.value.lower(),
        "metadata": _described(conversation, compacted, seen),
        "stands": node_id in stores.summaries.stored([node_id]),
        "edges": [[relation, str(target)] for relation, target in sorted(edges - has, key=str)],
    }
    meta = {"scope": conversation.scope, "node_ids": [str(node_id)], "dropped": []}
    body = {
        "agents": list(conversation.agents) or None,
        "client_id": conversation.client_id,
        "summaries": [summary],
        "closed": [str(e.id) for e in held if (e.relation, e.target_id) not in edges],
    }
    return meta, body


def _described(
    conversation: ConversationView, compacted: Compacted, seen: Sequence[SaidMessage]
) -> dict[str, Any]:
    moments = [each.occurred_at for each in seen]
    made_of = fingerprint((each.id, each.content_hash) for each in seen)
    return {
        "scope": KIND,
        "scope_id": str(conversation.id),
        "event_count": len(seen),
        "time_range": [format_timestamp(min(moments)), format_timestamp(max(moments))],
        "provider": compacted.method.value,
        "model": compacted.method.value,
        "is_extract": not any(brief.reworded for brief in compacted.briefs),
        "covers": made_of,
        "made_of": made_of,
    }
