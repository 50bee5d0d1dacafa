"""The stores of one transaction: what a use case reads and writes, by name.

The one module below the adapters that names PostgreSQL's classes, and for the type checker alone:
so a use case says `Stores`, and whoever follows a method of a part lands at its query. Nothing
of an adapter is imported when this runs (docs/decisions/0038-stores-and-platform.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.adapters.postgres.accounts import PostgresKeys
    from cairn.adapters.postgres.agents.approvals import PostgresApprovals, PostgresGrants
    from cairn.adapters.postgres.agents.chat import PostgresChats
    from cairn.adapters.postgres.agents.checkpoints import PostgresCheckpoints
    from cairn.adapters.postgres.agents.connectors import PostgresConnectors
    from cairn.adapters.postgres.agents.handoffs import PostgresHandOffs
    from cairn.adapters.postgres.agents.investigations import (
        PostgresEntries,
        PostgresInvestigations,
        PostgresSlots,
    )
    from cairn.adapters.postgres.agents.knowledge import PostgresKnowledge
    from cairn.adapters.postgres.agents.messaging import PostgresMessaging
    from cairn.adapters.postgres.agents.model_calls import PostgresCosts
    from cairn.adapters.postgres.agents.oauth_sign_ins import PostgresOAuthSignIns
    from cairn.adapters.postgres.agents.people import (
        PostgresCandidates,
        PostgresChannels,
        PostgresEscalations,
        PostgresOpinions,
    )
    from cairn.adapters.postgres.agents.personas import PostgresPersonas
    from cairn.adapters.postgres.agents.registry import PostgresAgents
    from cairn.adapters.postgres.agents.session_logs import PostgresSessionLogs
    from cairn.adapters.postgres.agents.sources import PostgresSources
    from cairn.adapters.postgres.agents.ticket_sources import PostgresTicketSources
    from cairn.adapters.postgres.agents.tickets import (
        PostgresTicketMessages,
        PostgresTickets,
        PostgresWriteBacks,
    )
    from cairn.adapters.postgres.agents.tool_calls import PostgresActions
    from cairn.adapters.postgres.agents.widget import PostgresChatSessions, PostgresWidgets
    from cairn.adapters.postgres.agents.workflows import PostgresWorkflows
    from cairn.adapters.postgres.discovery.contacts import PostgresContacts
    from cairn.adapters.postgres.discovery.feeds import PostgresFeeds
    from cairn.adapters.postgres.discovery.intents import PostgresIntents
    from cairn.adapters.postgres.discovery.matches import PostgresMatches
    from cairn.adapters.postgres.discovery.members import PostgresMembers
    from cairn.adapters.postgres.discovery.negotiations import PostgresNegotiations
    from cairn.adapters.postgres.discovery.networks import PostgresNetworks
    from cairn.adapters.postgres.discovery.opportunities import PostgresOpportunities
    from cairn.adapters.postgres.discovery.retries import PostgresRetries
    from cairn.adapters.postgres.ledger.forgetting import PostgresForgetting
    from cairn.adapters.postgres.ledger.replay import PostgresRebuilds, PostgresReplica
    from cairn.adapters.postgres.ledger.taints import PostgresTaints
    from cairn.adapters.postgres.memory.ageing import PostgresAgeing
    from cairn.adapters.postgres.memory.consolidation import PostgresRuns, PostgresUnconsolidated
    from cairn.adapters.postgres.memory.conversations import (
        PostgresConversations,
        PostgresConversationViews,
    )
    from cairn.adapters.postgres.memory.documents import (
        PostgresDocuments,
        PostgresIngestions,
        PostgresUploads,
    )
    from cairn.adapters.postgres.memory.embeddings import PostgresEmbeddings, PostgresGraphState
    from cairn.adapters.postgres.memory.events import PostgresEvents, PostgresEventViews
    from cairn.adapters.postgres.memory.graph_reader import PostgresGraph
    from cairn.adapters.postgres.memory.memory_graph import PostgresMemoryGraph
    from cairn.adapters.postgres.memory.nodes import (
        PostgresAliases,
        PostgresGraphNodes,
        PostgresNodeViews,
    )
    from cairn.adapters.postgres.memory.profiles import PostgresProfiles
    from cairn.adapters.postgres.memory.recall import PostgresNodeReader
    from cairn.adapters.postgres.memory.reembed import PostgresModelVectors, PostgresVectorGaps
    from cairn.adapters.postgres.memory.reports import (
        PostgresReports,
        PostgresReportViews,
        PostgresTasks,
    )
    from cairn.adapters.postgres.memory.search_runs import PostgresAccessLog
    from cairn.adapters.postgres.memory.subscriptions import PostgresSubscriptions
    from cairn.adapters.postgres.memory.summaries import PostgresSummaries
    from cairn.adapters.postgres.memory.views import PostgresViews
    from cairn.adapters.postgres.publications import PostgresPublications
    from cairn.adapters.postgres.scim import PostgresScim
    from cairn.adapters.postgres.sign_in import PostgresPeople
    from cairn.adapters.postgres.stats import PostgresStats
    from cairn.adapters.postgres.stores import (
        PostgresIdempotency,
        PostgresLedger,
        PostgresMemories,
        PostgresNodes,
        PostgresOutbox,
        PostgresSubjects,
    )
    from cairn.adapters.postgres.webhooks import PostgresIncomingWebhooks, PostgresWebhooks
    from cairn.adapters.postgres.workspaces import PostgresSettings


class Stores:
    """The stores of one transaction; each part is made when it is first asked for."""

    accesses: PostgresAccessLog
    actions: PostgresActions
    ageing: PostgresAgeing
    agents: PostgresAgents
    aliases: PostgresAliases
    approvals: PostgresApprovals
    candidates: PostgresCandidates
    channels: PostgresChannels
    chat_sessions: PostgresChatSessions
    chats: PostgresChats
    checkpoints: PostgresCheckpoints
    session_logs: PostgresSessionLogs
    connectors: PostgresConnectors
    contacts: PostgresContacts
    conversation_views: PostgresConversationViews
    conversations: PostgresConversations
    costs: PostgresCosts
    documents: PostgresDocuments
    embeddings: PostgresEmbeddings
    entries: PostgresEntries
    escalations: PostgresEscalations
    event_views: PostgresEventViews
    events: PostgresEvents
    feeds: PostgresFeeds
    forgetting: PostgresForgetting
    grants: PostgresGrants
    hand_offs: PostgresHandOffs
    graph: PostgresGraph
    graph_nodes: PostgresGraphNodes
    graph_state: PostgresGraphState
    idempotency: PostgresIdempotency
    incoming_webhooks: PostgresIncomingWebhooks
    ingestions: PostgresIngestions
    intents: PostgresIntents
    investigations: PostgresInvestigations
    keys: PostgresKeys
    knowledge: PostgresKnowledge
    ledger: PostgresLedger
    members: PostgresMembers
    matches: PostgresMatches
    memories: PostgresMemories
    memory_graph: PostgresMemoryGraph
    messaging: PostgresMessaging
    model_vectors: PostgresModelVectors
    negotiations: PostgresNegotiations
    networks: PostgresNetworks
    node_reader: PostgresNodeReader
    node_views: PostgresNodeViews
    nodes: PostgresNodes
    oauth_sign_ins: PostgresOAuthSignIns
    opinions: PostgresOpinions
    opportunities: PostgresOpportunities
    outbox: PostgresOutbox
    people: PostgresPeople
    personas: PostgresPersonas
    profiles: PostgresProfiles
    publications: PostgresPublications
    rebuilds: PostgresRebuilds
    replica: PostgresReplica
    report_views: PostgresReportViews
    reports: PostgresReports
    retries: PostgresRetries
    runs: PostgresRuns
    scim: PostgresScim
    settings: PostgresSettings
    slots: PostgresSlots
    sources: PostgresSources
    stats: PostgresStats
    subjects: PostgresSubjects
    subscriptions: PostgresSubscriptions
    summaries: PostgresSummaries
    taints: PostgresTaints
    tasks: PostgresTasks
    ticket_messages: PostgresTicketMessages
    ticket_sources: PostgresTicketSources
    tickets: PostgresTickets
    unconsolidated: PostgresUnconsolidated
    uploads: PostgresUploads
    vector_gaps: PostgresVectorGaps
    views: PostgresViews
    webhooks: PostgresWebhooks
    workflows: PostgresWorkflows
    widgets: PostgresWidgets
    write_backs: PostgresWriteBacks
