"""Forgettings: what goes with a subject, and how it leaves the projections, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store
from cairn.forgetting.ports import Doomed, Forgetting, KnownSubject, OutsideName

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.projection import Purge
    from cairn.writing.checks import Owner


ERASED = {
    "search_run": "forgetting.erase_searches",
    "search_feedback": "forgetting.erase_feedback",
    "idempotency": "forgetting.erase_answers",
    "embedding_cache": "forgetting.erase_cached_vectors",
    "pending_message": "forgetting.erase_pending_messages",
    "chat_turn": "forgetting.erase_chats",
    "chat_session": "forgetting.erase_chat_sessions",
    "handoff": "forgetting.erase_hand_offs",
    "channel_inbound": "forgetting.erase_channel_inbound",
    "checkpoint": "forgetting.erase_checkpoints",
    "checkpoint_write": "forgetting.erase_checkpoint_writes",
    "workflow_run": "forgetting.erase_workflow_runs",
    "opportunity": "forgetting.erase_opportunities",
    "hyde_document": "forgetting.erase_hyde_documents",
    "feed_wording": "forgetting.erase_feed_wordings",
    "feed_health": "forgetting.erase_feed_health",
    "contact": "forgetting.erase_contacts",
    "contact_integration": "forgetting.erase_contact_integrations",
    "negotiation": "forgetting.erase_negotiations",
    "negotiation_turn": "forgetting.erase_negotiation_turns",
    "negotiation_private": "forgetting.erase_negotiation_privates",
    "negotiator": "forgetting.erase_negotiators",
    "intent_network": "forgetting.erase_intent_networks",
    "network_member": "forgetting.erase_places",
    "network_invite": "forgetting.close_invites",
    "network": "forgetting.leave_networks",
    "person_member": "forgetting.erase_ties",
    "member": "forgetting.erase_member",
    "key_conversation": "forgetting.erase_key_conversations",
    "outbox": "forgetting.erase_ingestions",
    "publication": "forgetting.erase_publications",
    "investigation": "forgetting.erase_investigations",
    "approval": "forgetting.erase_approvals",
    "tool_call": "forgetting.erase_tool_calls",
    "standing_grant": "forgetting.erase_grants",
    "escalation": "forgetting.erase_escalations",
    "investigation_opinion": "forgetting.erase_opinions",
    "kb_candidate": "forgetting.erase_candidates",
    "ticket": "forgetting.erase_tickets",
    "ticket_message": "forgetting.erase_ticket_messages",
    "ticket_reply": "forgetting.erase_ticket_replies",
    "agent": "forgetting.erase_owners",
    "intent": "forgetting.erase_intents",
    "knowledge_source": "forgetting.erase_sources",
    "source_report": "forgetting.erase_source_reports",
    "source_item": "forgetting.erase_source_items",
    "data_subject": "forgetting.erase_subject",
}
"""Statements by what they count, in order: they read nodes that are purged after them."""


class PostgresForgetting(Store):
    """Everything a forgetting reads and erases of one workspace, whatever its scope."""

    def subject(
        self, *, owner: Owner | None = None, subject_id: UUID | None = None
    ) -> KnownSubject | None:
        """Return a data subject by its name or by its id."""
        kind, name = owner or (None, None)
        parameters = {"id": subject_id, "kind": kind, "natural_key": name}
        with self.connection.cursor(row_factory=class_row(KnownSubject)) as cursor:
            return cursor.execute(query("forgetting.subject"), self._here(parameters)).fetchone()

    def find(
        self,
        *,
        forgetting_id: UUID | None = None,
        subject_id: UUID | None = None,
        mark: bytes | None = None,
    ) -> Forgetting | None:
        """Return a forgetting; of several of one name the newest."""
        parameters = {"id": forgetting_id, "subject_id": subject_id, "mark": mark}
        rows = self._forgettings("forgetting.find", parameters)
        return rows[0] if rows else None

    def unfinished(self) -> Sequence[Forgetting]:
        """Return those that are not done, the oldest first."""
        return self._forgettings("forgetting.unfinished", {})

    def newest(self, *, limit: int, offset: int) -> Sequence[Forgetting]:
        """Return a page of all, the newest first."""
        return self._forgettings("forgetting.newest", {"limit": limit, "offset": offset})

    def begin(self, forgetting: Forgetting) -> None:
        """Keep a new one; one of the same subject stays as it is."""
        self.write("forgetting.begin", forgetting)

    def advance(
        self,
        forgetting_id: UUID,
        status: str,
        *,
        now: datetime,
        purged_position: int | None = None,
        object_keys: Sequence[str] = (),
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Move one on; `now` is kept when it is done, counts are added to those there are."""
        self.run(
            "forgetting.advance",
            id=forgetting_id,
            status=status,
            now=now,
            purged_position=purged_position,
            object_keys=list(object_keys),
            counts=Jsonb(dict(counts or {})),
        )

    def documents(self, source_uri: str) -> Sequence[UUID]:
        """Return the documents of a source, deleted ones too."""
        return self.values("forgetting.documents", source_uri=source_uri)

    def without(self, subject_id: UUID, document_ids: Collection[UUID]) -> int:
        """Return how many nodes of these documents do not name the subject."""
        parameters = {"subject_id": subject_id, "document_ids": list(document_ids)}
        return self.value("forgetting.without", **parameters)

    def doomed(self, subject_id: UUID, document_ids: Collection[UUID]) -> Doomed:
        """Return what goes with the subject and these documents."""
        parameters = {"subject_id": subject_id, "document_ids": list(document_ids)}
        rows = self.run("forgetting.doomed", **parameters).fetchall()
        ids = [node_id for node_id, is_described in rows if not is_described]
        revived = self.values("forgetting.revived", ids=ids) if ids else ()
        return Doomed(
            node_ids=tuple(ids),
            revived=tuple(revived),
            cleared=tuple(node_id for node_id, is_described in rows if is_described),
        )

    def tied(self, subject_id: UUID, doomed: Doomed) -> Sequence[UUID]:
        """Return what speaks of the subject by an edge of the memory graph only, and is visible.

        Facts, observations, resolutions, tickets and investigations at nodes of the subject, with
        no edge to another customer or user; what goes anyway is left out.
        """
        return self.values("forgetting.tied", subject_id=subject_id, ids=list(doomed.node_ids))

    def sources(self, subject_id: UUID, doomed: Doomed) -> Sequence[KnownSubject]:
        """Return the sources of the subject's documents of which no other document is left."""
        parameters = self._here({"subject_id": subject_id, "ids": list(doomed.node_ids)})
        with self.connection.cursor(row_factory=class_row(KnownSubject)) as cursor:
            return cursor.execute(query("forgetting.sources"), parameters).fetchall()

    def acquaintances(self, subject_id: UUID) -> Sequence[KnownSubject]:
        """Return the people among a member's contacts of whom nobody else holds anything."""
        parameters = self._here({"subject_id": subject_id})
        with self.connection.cursor(row_factory=class_row(KnownSubject)) as cursor:
            return cursor.execute(query("forgetting.acquaintances"), parameters).fetchall()

    def outside_names(self, subject_id: UUID) -> Sequence[OutsideName]:
        """Return the names of tickets and messages about the subject, or erased before."""
        parameters = self._here({"subject_id": subject_id})
        with self.connection.cursor(row_factory=class_row(OutsideName)) as cursor:
            return cursor.execute(query("forgetting.outside_names"), parameters).fetchall()

    def rename(self, names: Mapping[UUID, str]) -> None:
        """Replace names of tickets and messages by row, and what help desks call the answers."""
        parameters = {"ids": list(names), "names": list(names.values())}
        for item in ("rename_tickets", "rename_ticket_messages", "erase_write_backs"):
            self.run(f"forgetting.{item}", **parameters)

    def count(
        self, subject_id: UUID, document_ids: Collection[UUID], doomed: Doomed
    ) -> Mapping[str, int]:
        """Return how many rows of each kind would go."""
        rows = self.run("forgetting.count", **_parameters(subject_id, document_ids, doomed))
        counts = {what: number for what, number in rows if number}
        extra = {"revived": len(doomed.revived), "compiled_truth": len(doomed.cleared)}
        return counts | {what: number for what, number in extra.items() if number}

    def object_keys(
        self, subject_id: UUID, document_ids: Collection[UUID], doomed: Doomed
    ) -> Sequence[str]:
        """Return the prefixes under which bytes of the documents, and what sites show, may lie."""
        parameters = _parameters(subject_id, document_ids, doomed)
        return self.values("forgetting.object_keys", **parameters)

    def erase(
        self, subject_id: UUID, document_ids: Collection[UUID], doomed: Doomed
    ) -> Mapping[str, int]:
        """Delete the rows that are no projection, and return how many by table."""
        parameters = _parameters(subject_id, document_ids, doomed)
        self.run("forgetting.discard_replay")
        return {what: self.run(name, **parameters).rowcount for what, name in ERASED.items()}

    def _forgettings(self, name: str, parameters: dict[str, Any]) -> list[Forgetting]:
        with self.connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(query(name), self._here(parameters)).fetchall()
        return [_forgetting(row) for row in rows]

    def _here(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return {"workspace_id": self.principal.workspace_id, **parameters}


def _forgetting(row: dict[str, Any]) -> Forgetting:
    lists = {item: tuple(row[item]) for item in ("document_ids", "object_keys")}
    values: dict[str, Any] = row | lists
    return Forgetting(**values)


def _parameters(
    subject_id: UUID, document_ids: Collection[UUID], doomed: Doomed
) -> dict[str, UUID | list[UUID]]:
    return {
        "subject_id": subject_id,
        "document_ids": list(document_ids),
        "ids": list(doomed.node_ids),
    }


_STATEMENTS = (
    "purge.aliases",
    "purge.edges",
    "purge.edge_versions",
    "purge.embeddings",
    "purge.nodes",
    "purge.node_versions",
    "purge.outbox",
    "purge.remember",
)
_AT_ONCE = 1_000


class PostgresPurge(Store):
    """Applies purges. What is not there is left alone, so one may be applied again."""

    def apply(self, purge: Purge) -> None:
        """Delete the nodes' rows everywhere; the search index follows by `purged_node`."""
        for start in range(0, len(purge.node_ids), _AT_ONCE):
            ids = list(purge.node_ids[start : start + _AT_ONCE])
            for statement in _STATEMENTS:
                self.run(statement, ids=ids, position=purge.position)
        if purge.cleared:
            ids = list(purge.cleared)
            self.run("purge.clear_truths", ids=ids, position=purge.position)
            self.run("purge.clear_past_truths", ids=ids)
