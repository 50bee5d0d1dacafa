"""Every table, and whether the ledger says what is in it. Not the tables: those are migrations.

A test reads the catalogue: a new table must be named here, and a projection in `post-apply.sql` and
`queries/checksum.sql` too.
"""

from collections.abc import Mapping
from types import MappingProxyType

PROJECTIONS = (
    "edge_version",
    "edge",
    "node_version",
    "node",
    "embedding",
    "entity_alias",
    "data_subject",
    "subscription",
    "key_conversation",
    "purged_node",
    "taint",
    "taint_node",
    "workspace_settings",
)
"""Rows follow from ledger entries (vectors: and the cache), in the order of replacing."""

NO_PROJECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "ledger": "what projections are made from",
        "ledger_head": "where the ledger ends",
        "workspace": "tenants; they come before any entry",
        "principal": "accounts: made with their keys",
        "api_key": "accounts: secrets' hashes are not in the ledger",
        "agent": "accounts: who may call as what; each change is in the ledger too",
        "claim": "the first run's token; there is no workspace yet",
        "rate_limit": "lost in a crash on purpose",
        "idempotency": "answers given in the last 24 hours",
        "outbox": "work under way; gone when done",
        "upload": "files under way; gone after a day",
        "ingestion": "how the reading of documents goes; its outcome is in the ledger",
        "embedding_model": "the same for every workspace",
        "embedding_cache": "survives a rebuild on purpose, but no forgetting",
        "search_run": "what searches considered; they write no entry",
        "search_feedback": "what readers said of searches; says nothing about the world",
        "search_index_state": "how far an index outside the database has followed",
        "pending_message": "messages before their conversation has an entry",
        "rebuild": "rebuilds under way and their outcomes",
        "webhook": "where to tell what happened; endpoints and their secrets",
        "webhook_delivery": "what is being told and how it goes",
        "incoming_webhook": "who may send memories without a key; names and their secrets",
        "forgetting": "forgettings under way; what was forgotten is in the ledger",
        "llm_call": "what calls of models cost; says nothing about the world",
        "llm_spend": "the same, added up",
        "consolidation_run": "how consolidations go; what they decide is in the ledger",
        "investigation": "how far investigations are; what happened in them is in the ledger",
        "investigation_step": "their timelines, by lines of ledger entries",
        "approval": "questions under way; how people decided is in the ledger",
        "tool_call": "calls under way and records of them; what came of each is in the ledger",
        "investigation_slot": "how many investigations run at once",
        "standing_grant": "what people allowed in advance; each grant is in the ledger too",
        "standing_grant_use": "which actions used grants; each use is in the ledger too",
        "escalation": "calls of people under way; each is in the ledger too",
        "escalation_channel": "where people are called; addresses that are secrets",
        "investigation_opinion": "the last word of each person; every word is in the ledger",
        "kb_candidate": "the review queue; what was staged and decided is in the ledger",
        "connector": "what agents act through; settings and their secrets",
        "connector_state": "how connectors are, and what they listed last",
        "ticket": "the queue; what tickets say is in the ledger",
        "ticket_source": "where tickets come from; help desks and their secrets",
        "ticket_delivery": "webhook deliveries of the last week, so that none counts twice",
        "ticket_write_back": "how far write-backs are",
        "ticket_message": "what requesters wrote later; they are in the ledger too",
        "ticket_reply": "answers to tickets; they are in the ledger too",
        "chat_turn": "turns under way and the last month's; what was said is in the ledger",
        "chat_event": "what is told of turns; gone after a day",
        "chat_action": "what waits for a person's yes; what it did is in the ledger",
        "checkpoint": "states that programs go on from; a program's own, deleted by it",
        "checkpoint_write": "what their tasks wrote meanwhile",
        "workflow": "what admins defined; each change is in the ledger too",
        "workflow_run": "how far runs are; what came of their steps is in the ledger",
        "persona": "how agents are to work; each change is in the ledger too",
    }
)
"""Why the ledger does not say what is in the others."""
