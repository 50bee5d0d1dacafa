"""The transaction port, and the stores of a transaction, each imported when it is asked for."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.database import Connection, Database, bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import scalar
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.stores import Stores

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from cairn.kernel.access import Principal

PREPARED_LOCK_TIMEOUT_MS = 800
"""Less than PostgreSQL's deadlock_timeout: should the head's holder wait for a prepared row after
all, the one that prepared gives way."""


PARTS = {
    "accesses": "memory.search_runs.PostgresAccessLog",
    "actions": "agents.tool_calls.PostgresActions",
    "ageing": "memory.ageing.PostgresAgeing",
    "agents": "agents.registry.PostgresAgents",
    "aliases": "memory.nodes.PostgresAliases",
    "approvals": "agents.approvals.PostgresApprovals",
    "candidates": "agents.people.PostgresCandidates",
    "channels": "agents.people.PostgresChannels",
    "chat_sessions": "agents.widget.PostgresChatSessions",
    "chats": "agents.chat.PostgresChats",
    "checkpoints": "agents.checkpoints.PostgresCheckpoints",
    "session_logs": "agents.session_logs.PostgresSessionLogs",
    "connectors": "agents.connectors.PostgresConnectors",
    "contacts": "discovery.contacts.PostgresContacts",
    "conversation_views": "memory.conversations.PostgresConversationViews",
    "conversations": "memory.conversations.PostgresConversations",
    "costs": "agents.model_calls.PostgresCosts",
    "documents": "memory.documents.PostgresDocuments",
    "embeddings": "memory.embeddings.PostgresEmbeddings",
    "entries": "agents.investigations.PostgresEntries",
    "escalations": "agents.people.PostgresEscalations",
    "event_views": "memory.events.PostgresEventViews",
    "events": "memory.events.PostgresEvents",
    "feeds": "discovery.feeds.PostgresFeeds",
    "forgetting": "ledger.forgetting.PostgresForgetting",
    "grants": "agents.approvals.PostgresGrants",
    "hand_offs": "agents.handoffs.PostgresHandOffs",
    "graph": "memory.graph_reader.PostgresGraph",
    "graph_nodes": "memory.nodes.PostgresGraphNodes",
    "graph_state": "memory.embeddings.PostgresGraphState",
    "idempotency": "stores.PostgresIdempotency",
    "incoming_webhooks": "webhooks.PostgresIncomingWebhooks",
    "ingestions": "memory.documents.PostgresIngestions",
    "intents": "discovery.intents.PostgresIntents",
    "investigations": "agents.investigations.PostgresInvestigations",
    "keys": "accounts.PostgresKeys",
    "knowledge": "agents.knowledge.PostgresKnowledge",
    "ledger": "stores.PostgresLedger",
    "members": "discovery.members.PostgresMembers",
    "matches": "discovery.matches.PostgresMatches",
    "memories": "stores.PostgresMemories",
    "memory_graph": "memory.memory_graph.PostgresMemoryGraph",
    "messaging": "agents.messaging.PostgresMessaging",
    "model_vectors": "memory.reembed.PostgresModelVectors",
    "negotiations": "discovery.negotiations.PostgresNegotiations",
    "networks": "discovery.networks.PostgresNetworks",
    "node_reader": "memory.recall.PostgresNodeReader",
    "node_views": "memory.nodes.PostgresNodeViews",
    "nodes": "stores.PostgresNodes",
    "oauth_sign_ins": "agents.oauth_sign_ins.PostgresOAuthSignIns",
    "opinions": "agents.people.PostgresOpinions",
    "opportunities": "discovery.opportunities.PostgresOpportunities",
    "outbox": "stores.PostgresOutbox",
    "people": "sign_in.PostgresPeople",
    "personas": "agents.personas.PostgresPersonas",
    "profiles": "memory.profiles.PostgresProfiles",
    "publications": "publications.PostgresPublications",
    "rebuilds": "ledger.replay.PostgresRebuilds",
    "replica": "ledger.replay.PostgresReplica",
    "report_views": "memory.reports.PostgresReportViews",
    "reports": "memory.reports.PostgresReports",
    "retries": "discovery.retries.PostgresRetries",
    "runs": "memory.consolidation.PostgresRuns",
    "scim": "scim.PostgresScim",
    "settings": "workspaces.PostgresSettings",
    "slots": "agents.investigations.PostgresSlots",
    "sources": "agents.sources.PostgresSources",
    "stats": "stats.PostgresStats",
    "subjects": "stores.PostgresSubjects",
    "subscriptions": "memory.subscriptions.PostgresSubscriptions",
    "summaries": "memory.summaries.PostgresSummaries",
    "taints": "ledger.taints.PostgresTaints",
    "tasks": "memory.reports.PostgresTasks",
    "ticket_messages": "agents.tickets.PostgresTicketMessages",
    "ticket_sources": "agents.ticket_sources.PostgresTicketSources",
    "tickets": "agents.tickets.PostgresTickets",
    "unconsolidated": "memory.consolidation.PostgresUnconsolidated",
    "uploads": "memory.documents.PostgresUploads",
    "vector_gaps": "memory.reembed.PostgresVectorGaps",
    "views": "memory.views.PostgresViews",
    "webhooks": "webhooks.PostgresWebhooks",
    "workflows": "agents.workflows.PostgresWorkflows",
    "widgets": "agents.widget.PostgresWidgets",
    "write_backs": "agents.tickets.PostgresWriteBacks",
}
"""Where the class of each part of `Stores` is, below this package."""


class PostgresStores(Stores):
    """Implements `Stores` on a connection that is bound to the principal."""

    def __init__(self, connection: Connection, principal: Principal) -> None:
        self.connection = connection
        self.principal = principal

    def __getattr__(self, name: str) -> Any:
        """Make a part, imported when the first transaction asks for it: vectors load numpy."""
        if name not in PARTS:
            raise AttributeError(name)
        module, _, part = PARTS[name].rpartition(".")
        store_class = getattr(import_module(f"{__package__}.{module}"), part)
        store = store_class(self.connection, self.principal)
        setattr(self, name, store)
        return store


class StoreTransactions:
    """Implements `PreparingTransactions` of `Stores`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def reading(self, principal: Principal, *, timeout_ms: int | None = None) -> Generator[Stores]:
        """Open a read-only transaction bound to the principal."""
        with bound(self._database, principal, timeout_ms=timeout_ms) as connection:
            yield PostgresStores(connection, principal)

    @contextmanager
    def writing(self, principal: Principal, *, once: str | None = None) -> Generator[Stores]:
        """Open a writing transaction that holds the workspace's ledger head.

        Conflict while another with the same `once` is open; NotFound without the workspace.
        """
        with bound(self._database, principal, read_only=False, sees_deleted=True) as connection:
            if once is not None:
                take(connection, principal, once)
            lock_head(connection, principal)
            yield PostgresStores(connection, principal)

    @contextmanager
    def preparing(self, principal: Principal) -> Generator[tuple[Stores, Callable[[], None]]]:
        """Open a writing transaction with what takes the head; NotFound without the workspace."""
        with bound(
            self._database,
            principal,
            read_only=False,
            sees_deleted=True,
            lock_timeout_ms=PREPARED_LOCK_TIMEOUT_MS,
        ) as connection:
            yield PostgresStores(connection, principal), partial(lock_head, connection, principal)


def lock_head(connection: Connection, principal: Principal) -> None:
    """Hold the end of the principal's chain until the transaction ends; NotFound without one."""
    head = connection.execute(
        query("ledger.lock_head"), {"workspace_id": principal.workspace_id}
    ).fetchone()
    if head is None:
        raise NotFound("There is no such workspace.", reason="workspace")


def take(connection: Connection, principal: Principal, once: str) -> None:
    """Hold an idempotency key until the transaction ends; Conflict while another one does."""
    name = f"{principal.workspace_id}/{principal.principal_id}/{once}"
    if not scalar(connection, "idempotency.try_lock", {"name": name}):
        raise Conflict(
            "A request with this Idempotency-Key is still running.", reason="idempotency-in-flight"
        )
