"""Every route asked by everyone who should see nothing, or less; a canary tells when one does.

Routes are read from /openapi.json, so that a new one cannot be forgotten: it has to be entered in
`WHO_MAY`, and an id it takes has to be given by the walk.
"""

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.e2e.planting import plant_investigation, plant_meeting
from tests.e2e.tenant import Tenant, good, open_workspace, refused
from tests.support.openapi import holds

from cairn.kernel.clock import utc_now
from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

SCIM_GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
ADMIN, WRITERS, ANYONE, NO_KEY = "admin", "writers", "anyone", "no key"
WHO_MAY = {
    "POST /v1/memories": WRITERS,
    "GET /v1/memories": WRITERS,
    "POST /v1/memories/refresh": WRITERS,
    "GET /v1/namespaces": WRITERS,
    "GET /v1/memories/{memory_id}": WRITERS,
    "DELETE /v1/memories/{memory_id}": WRITERS,
    "GET /v1/memories/{memory_id}/history": WRITERS,
    "PATCH /v1/memories/{memory_id}": WRITERS,
    "POST /v1/memories/{memory_id}/merge": WRITERS,
    "POST /v1/memories/{memory_id}/move": WRITERS,
    "POST /v1/memories/{memory_id}/restore": WRITERS,
    "PUT /v1/memories/{memory_id}/pin": WRITERS,
    "DELETE /v1/memories/{memory_id}/pin": WRITERS,
    "PUT /v1/memories/{memory_id}/never-recall": WRITERS,
    "DELETE /v1/memories/{memory_id}/never-recall": WRITERS,
    "POST /v1/events": WRITERS,
    "GET /v1/events": WRITERS,
    "GET /v1/events/{event_id}": WRITERS,
    "POST /v1/conversations/messages": WRITERS,
    "GET /v1/conversations": ANYONE,
    "GET /v1/conversations/{conversation_id}": ANYONE,
    "PATCH /v1/conversations/{conversation_id}": WRITERS,
    "POST /v1/conversations/search": ANYONE,
    "PUT /v1/conversations/{conversation_id}/keys/{key_id}": ADMIN,
    "PUT /v1/checkpoints": WRITERS,
    "PUT /v1/checkpoints/writes": WRITERS,
    "GET /v1/checkpoints": WRITERS,
    "DELETE /v1/checkpoints": WRITERS,
    "POST /v1/chat": ANYONE,
    "GET /v1/chat/{turn_id}": ANYONE,
    "GET /v1/chat/{turn_id}/chunks": ANYONE,
    "GET /v1/chat/{turn_id}/events": ANYONE,
    "POST /v1/chat/{turn_id}/abort": ANYONE,
    "GET /v1/chat/actions/{action_id}": ANYONE,
    "POST /v1/chat/actions/{action_id}": ANYONE,
    "GET /v1/chat/{turn_id}/lines": ANYONE,
    "GET /v1/chats": ADMIN,
    "POST /v1/chats": ADMIN,
    "GET /v1/chats/live": ADMIN,
    "GET /v1/chats/numbers": ADMIN,
    "GET /v1/chats/{chat_id}": ADMIN,
    "GET /v1/chats/{chat_id}/lines": ADMIN,
    "POST /v1/chats/{chat_id}/accept": ADMIN,
    "POST /v1/chats/{chat_id}/say": ADMIN,
    "POST /v1/chats/{chat_id}/release": ADMIN,
    "POST /v1/chats/{chat_id}/return": ADMIN,
    "POST /v1/chats/{chat_id}/close": ADMIN,
    "POST /v1/chats/{chat_id}/ticket": ADMIN,
    "GET /v1/widget": ADMIN,
    "PUT /v1/widget": ADMIN,
    "DELETE /v1/widget": ADMIN,
    "GET /v1/widget/{widget_id}": NO_KEY,
    "POST /v1/widget/{widget_id}/sessions": NO_KEY,
    "GET /v1/widget/{widget_id}/session": NO_KEY,
    "POST /v1/widget/{widget_id}/messages": NO_KEY,
    "GET /v1/widget/{widget_id}/turns/{turn_id}": NO_KEY,
    "GET /v1/widget/{widget_id}/challenge": NO_KEY,
    "POST /v1/widget/{widget_id}/challenge": NO_KEY,
    "POST /v1/widget/{widget_id}/resolve": NO_KEY,
    "POST /v1/widget/{widget_id}/hand-off": NO_KEY,
    "GET /v1/widget/{widget_id}/hand-off": NO_KEY,
    "GET /v1/widget/{widget_id}/hand-off/events": NO_KEY,
    "POST /v1/webhooks": ADMIN,
    "GET /v1/webhooks": ADMIN,
    "DELETE /v1/webhooks/{webhook_id}": ADMIN,
    "GET /v1/webhooks/{webhook_id}/deliveries": ADMIN,
    "POST /v1/agents": WRITERS,
    "GET /v1/agents": ADMIN,
    "GET /v1/agents/{slug}": WRITERS,
    "PATCH /v1/agents/{slug}": ADMIN,
    "POST /v1/agents/{slug}/knowledge": ADMIN,
    "GET /v1/agents/{slug}/knowledge": ANYONE,
    "POST /v1/incoming-webhooks": ADMIN,
    "GET /v1/incoming-webhooks": ADMIN,
    "POST /v1/incoming-webhooks/{incoming_id}/rotate": ADMIN,
    "DELETE /v1/incoming-webhooks/{incoming_id}": ADMIN,
    "POST /v1/incoming-webhooks/{incoming_id}/memories": NO_KEY,
    "POST /v1/connectors": ADMIN,
    "GET /v1/connectors": ADMIN,
    "GET /v1/connectors/health": ADMIN,
    "GET /v1/connectors/{connector}": ADMIN,
    "POST /v1/connectors/{connector}/sign-in": ADMIN,
    "GET /v1/connectors/{connector}/sign-in": ADMIN,
    "POST /v1/connectors/{connector}/sign-in/poll": ADMIN,
    "DELETE /v1/connectors/{connector}/sign-in": ADMIN,
    "PATCH /v1/connectors/{connector}": ADMIN,
    "DELETE /v1/connectors/{connector}": ADMIN,
    "POST /v1/connectors/{connector}/restart": ADMIN,
    "POST /v1/connectors/{connector}/check": ADMIN,
    "GET /v1/connectors/{connector}/tools": ADMIN,
    "POST /v1/connectors/{connector}/tools/{tool}": ADMIN,
    "POST /v1/tasks": WRITERS,
    "PATCH /v1/tasks/{task_id}": WRITERS,
    "POST /v1/tasks/{task_id}/complete": WRITERS,
    "POST /v1/publications": ADMIN,
    "GET /v1/publications": WRITERS,
    "GET /v1/publications/host": WRITERS,
    "DELETE /v1/publications/{publication_id}": ADMIN,
    "POST /v1/reports": WRITERS,
    "GET /v1/reports": WRITERS,
    "GET /v1/reports/latest": WRITERS,
    "POST /v1/nodes": WRITERS,
    "GET /v1/nodes": WRITERS,
    "GET /v1/nodes/{node_id}": WRITERS,
    "PUT /v1/nodes/{node_id}/labels": WRITERS,
    "PUT /v1/nodes/{node_id}/compiled-truth": WRITERS,
    "DELETE /v1/nodes/{node_id}": WRITERS,
    "POST /v1/relationships": WRITERS,
    "GET /v1/entities": WRITERS,
    "GET /v1/entities/{entity_id}": WRITERS,
    "POST /v1/entities/{entity_id}/aliases": WRITERS,
    "DELETE /v1/entities/{entity_id}/aliases": WRITERS,
    "POST /v1/entities/{entity_id}/merge": WRITERS,
    "POST /v1/entities/{entity_id}/split": WRITERS,
    "GET /v1/subscriptions": WRITERS,
    "PUT /v1/subscriptions": WRITERS,
    "DELETE /v1/subscriptions": WRITERS,
    "POST /v1/documents": WRITERS,
    "GET /v1/documents": WRITERS,
    "GET /v1/documents/{document_id}": WRITERS,
    "DELETE /v1/documents/{document_id}": WRITERS,
    "POST /v1/uploads": WRITERS,
    "GET /v1/ingestions/{ingestion_id}": WRITERS,
    "POST /v1/search": ANYONE,
    "POST /v1/context": ANYONE,
    "POST /v1/context/compact": WRITERS,
    "POST /v1/context/session": WRITERS,
    "GET /v1/searches": ANYONE,
    "GET /v1/searches/{search_id}": ANYONE,
    "POST /v1/searches/{search_id}/feedback": ANYONE,
    "POST /v1/query/nodes": WRITERS,
    "POST /v1/query/subgraph": ANYONE,
    "GET /v1/nodes/{node_id}/lineage": ANYONE,
    "GET /v1/profile": WRITERS,
    "GET /v1/summaries": ANYONE,
    "GET /v1/summaries/{summary_id}": ANYONE,
    "GET /v1/export": ADMIN,
    "POST /v1/import": ADMIN,
    "GET /v1/ledger": ADMIN,
    "GET /v1/ledger/verify": ADMIN,
    "POST /v1/taint": ADMIN,
    "GET /v1/taints": ADMIN,
    "GET /v1/taints/{taint_id}": ADMIN,
    "POST /v1/taints/{taint_id}/lift": ADMIN,
    "GET /v1/people": ADMIN,
    "POST /v1/people": ADMIN,
    "POST /v1/people/{person_id}/link": ADMIN,
    "POST /v1/people/{person_id}/sign-out": ADMIN,
    "PATCH /v1/people/{person_id}": ADMIN,
    "DELETE /v1/people/{person_id}": ADMIN,
    "GET /v1/scim/tokens": ADMIN,
    "POST /v1/scim/tokens": ADMIN,
    "DELETE /v1/scim/tokens/{token_id}": ADMIN,
    "GET /v1/scim/groups": ADMIN,
    "PUT /v1/scim/groups/{group_id}": ADMIN,
    "PUT /v1/people/{person_id}/member": ADMIN,
    "DELETE /v1/people/{person_id}/member": ADMIN,
    "GET /v1/keys": ADMIN,
    "POST /v1/keys": ADMIN,
    "DELETE /v1/keys/{key_id}": ADMIN,
    "GET /v1/whoami": ANYONE,
    "GET /v1/status": WRITERS,
    "GET /v1/forget/{forgetting_id}": ADMIN,
    "GET /v1/forget/{forgetting_id}/proof": ADMIN,
    "GET /v1/consolidations": ADMIN,
    "GET /v1/consolidations/{run_id}": ADMIN,
    "GET /v1/reindex": ADMIN,
    "GET /v1/costs": ADMIN,
    "POST /v1/investigations": WRITERS,
    "GET /v1/investigations": WRITERS,
    "GET /v1/investigations/{investigation_id}": WRITERS,
    "GET /v1/investigations/{investigation_id}/steps": WRITERS,
    "GET /v1/investigations/{investigation_id}/events": WRITERS,
    "POST /v1/investigations/{investigation_id}/resume": ADMIN,
    "POST /v1/investigations/resume": ADMIN,
    "GET /v1/tool-calls": WRITERS,
    "GET /v1/tool-calls/{action_id}": WRITERS,
    "POST /v1/tickets": WRITERS,
    "GET /v1/tickets": ADMIN,
    "GET /v1/tickets/queue": WRITERS,
    "GET /v1/tickets/{ticket_id}": ADMIN,
    "POST /v1/tickets/{ticket_id}/messages": WRITERS,
    "POST /v1/tickets/{ticket_id}/requeue": ADMIN,
    "POST /v1/sources": ADMIN,
    "GET /v1/sources": ADMIN,
    "GET /v1/sources/{knowledge_id}": ADMIN,
    "PATCH /v1/sources/{knowledge_id}": ADMIN,
    "DELETE /v1/sources/{knowledge_id}": ADMIN,
    "POST /v1/sources/{knowledge_id}/sync": ADMIN,
    "POST /v1/sources/{knowledge_id}/preview": ADMIN,
    "POST /v1/channels": ADMIN,
    "GET /v1/channels": ADMIN,
    "GET /v1/channels/{channel_id}": ADMIN,
    "PATCH /v1/channels/{channel_id}": ADMIN,
    "DELETE /v1/channels/{channel_id}": ADMIN,
    "POST /v1/channels/{channel_id}/check": ADMIN,
    "POST /v1/channels/{channel_id}/codes": ADMIN,
    "GET /v1/channels/{channel_id}/ties": ADMIN,
    "DELETE /v1/channels/{channel_id}/ties/{person_id}": ADMIN,
    "POST /v1/channels/{channel_id}/events": NO_KEY,
    "POST /v1/ticket-sources": ADMIN,
    "GET /v1/ticket-sources": ADMIN,
    "GET /v1/ticket-sources/{source_id}": ADMIN,
    "PATCH /v1/ticket-sources/{source_id}": ADMIN,
    "DELETE /v1/ticket-sources/{source_id}": ADMIN,
    "POST /v1/ticket-sources/{source_id}/poll": ADMIN,
    "POST /v1/ticket-sources/{source_id}/sign-in": ADMIN,
    "GET /v1/ticket-sources/{source_id}/sign-in": ADMIN,
    "POST /v1/ticket-sources/{source_id}/sign-in/poll": ADMIN,
    "DELETE /v1/ticket-sources/{source_id}/sign-in": ADMIN,
    "GET /v1/ticket-sources/{source_id}/events": NO_KEY,
    "POST /v1/ticket-sources/{source_id}/events": NO_KEY,
    "POST /v1/negotiations": WRITERS,
    "GET /v1/negotiations": WRITERS,
    "GET /v1/negotiations/measures": ADMIN,
    "GET /v1/negotiations/{negotiation_id}": WRITERS,
    "POST /v1/negotiations/{negotiation_id}/advance": WRITERS,
    "POST /v1/negotiations/{negotiation_id}/answer": WRITERS,
    "GET /v1/negotiations/{negotiation_id}/inputs": WRITERS,
    "GET /v1/negotiations/{negotiation_id}/events": WRITERS,
    "GET /v1/negotiations/{negotiation_id}/export": WRITERS,
    "POST /v1/agents/{agent}/negotiations/pickup": WRITERS,
    "POST /v1/agents/{agent}/negotiations/{negotiation_id}/respond": WRITERS,
    "PUT /v1/agents/{agent}/negotiations/key": WRITERS,
    "POST /v1/workflows": ADMIN,
    "GET /v1/workflows": ADMIN,
    "GET /v1/workflows/{workflow}": ADMIN,
    "GET /v1/workflows/{workflow}/versions": ADMIN,
    "PUT /v1/workflows/{workflow}": ADMIN,
    "DELETE /v1/workflows/{workflow}": ADMIN,
    "POST /v1/workflows/{workflow}/runs": ADMIN,
    "GET /v1/workflow-runs": ADMIN,
    "GET /v1/workflow-runs/{workflow_run_id}": ADMIN,
    "GET /v1/workflow-runs/{workflow_run_id}/events": ADMIN,
    "POST /v1/workflow-runs/{workflow_run_id}/decide": ADMIN,
    "POST /v1/workflow-runs/{workflow_run_id}/cancel": ADMIN,
    "POST /v1/workflow-runs/{workflow_run_id}/resume": ADMIN,
    "POST /v1/personas": ADMIN,
    "GET /v1/personas": WRITERS,
    "GET /v1/personas/{persona}": WRITERS,
    "GET /v1/personas/{persona}/versions": ADMIN,
    "PUT /v1/personas/{persona}": ADMIN,
    "DELETE /v1/personas/{persona}": ADMIN,
    "GET /v1/approvals": WRITERS,
    "GET /v1/approvals/{approval_id}": ADMIN,
    "POST /v1/approvals/{approval_id}/approve": ADMIN,
    "POST /v1/approvals/{approval_id}/reject": ADMIN,
    "POST /v1/approvals/{approval_id}/edit": ADMIN,
    "GET /v1/escalations": ADMIN,
    "GET /v1/escalations/{escalation_id}": ADMIN,
    "POST /v1/escalations/{escalation_id}/retry": ADMIN,
    "POST /v1/escalation-channels": ADMIN,
    "GET /v1/escalation-channels": ADMIN,
    "DELETE /v1/escalation-channels/{name}": ADMIN,
    "POST /v1/investigations/{investigation_id}/rating": ADMIN,
    "POST /v1/investigations/{investigation_id}/dispute": ADMIN,
    "GET /v1/investigations/{investigation_id}/opinions": ADMIN,
    "POST /v1/investigations/{investigation_id}/steps/{seq}/remember": ADMIN,
    "GET /v1/candidates": ADMIN,
    "GET /v1/candidates/{candidate_id}": ADMIN,
    "POST /v1/candidates/{candidate_id}/accept": ADMIN,
    "POST /v1/candidates/{candidate_id}/edit": ADMIN,
    "POST /v1/candidates/{candidate_id}/reject": ADMIN,
    "GET /v1/proposals": ADMIN,
    "POST /v1/proposals/{node_id}/accept": ADMIN,
    "POST /v1/proposals/{node_id}/reject": ADMIN,
    "GET /v1/redaction": ADMIN,
    "PUT /v1/redaction": ADMIN,
    "POST /v1/grants": ADMIN,
    "GET /v1/grants": ADMIN,
    "DELETE /v1/grants/{grant_id}": ADMIN,
    "GET /v1/settings": ADMIN,
    "PATCH /v1/settings": ADMIN,
    "GET /v1/stats": ADMIN,
    "GET /v1/logs": ADMIN,
    "GET /v1/stats/orphans": ADMIN,
    "POST /v1/forget": ADMIN,
    "POST /v1/forget/{forgetting_id}/proof": ADMIN,
    "POST /v1/consolidations": ADMIN,
    "GET /v1/rebuilds/{rebuild_id}": ADMIN,
    "POST /v1/rebuilds": ADMIN,
    "POST /v1/reindex": ADMIN,
    "POST /v1/discover": WRITERS,
    "POST /v1/opportunities": WRITERS,
    "POST /v1/opportunities/introduce": WRITERS,
    "GET /v1/opportunities": WRITERS,
    "GET /v1/opportunities/{opportunity_id}": WRITERS,
    "POST /v1/opportunities/{opportunity_id}/send": WRITERS,
    "POST /v1/opportunities/{opportunity_id}/accept": WRITERS,
    "POST /v1/opportunities/{opportunity_id}/reject": WRITERS,
    "POST /v1/intents": WRITERS,
    "GET /v1/intents": WRITERS,
    "GET /v1/intents/{intent_id}": WRITERS,
    "PATCH /v1/intents/{intent_id}": WRITERS,
    "DELETE /v1/intents/{intent_id}": WRITERS,
    "POST /v1/intents/{intent_id}/pause": WRITERS,
    "POST /v1/intents/{intent_id}/resume": WRITERS,
    "POST /v1/intents/{intent_id}/refresh": WRITERS,
    "POST /v1/intents/{intent_id}/answer": WRITERS,
    "GET /v1/profiles/me": WRITERS,
    "PUT /v1/profiles/me": WRITERS,
    "PATCH /v1/profiles/me": WRITERS,
    "POST /v1/profiles/me/generate": WRITERS,
    "GET /v1/profiles/me/premises": WRITERS,
    "POST /v1/profiles/me/premises": WRITERS,
    "DELETE /v1/profiles/me/premises/{premise_id}": WRITERS,
    "GET /v1/feed": WRITERS,
    "GET /v1/feed/health": WRITERS,
    "POST /v1/feed/maintenance": ADMIN,
    "POST /v1/networks": WRITERS,
    "GET /v1/networks": WRITERS,
    "POST /v1/networks/join": WRITERS,
    "GET /v1/networks/{network_id}": WRITERS,
    "PATCH /v1/networks/{network_id}": WRITERS,
    "DELETE /v1/networks/{network_id}": WRITERS,
    "POST /v1/networks/{network_id}/join": WRITERS,
    "POST /v1/networks/{network_id}/leave": WRITERS,
    "PUT /v1/networks/{network_id}/prompt": WRITERS,
    "GET /v1/networks/{network_id}/members": WRITERS,
    "DELETE /v1/networks/{network_id}/members/{member_id}": WRITERS,
    "POST /v1/networks/{network_id}/invites": WRITERS,
    "GET /v1/networks/{network_id}/invites": WRITERS,
    "DELETE /v1/networks/{network_id}/invites/{invite_id}": WRITERS,
    "GET /v1/members/{member_id}": WRITERS,
    "GET /v1/intents/{intent_id}/networks": WRITERS,
    "POST /v1/intents/{intent_id}/networks": WRITERS,
    "DELETE /v1/intents/{intent_id}/networks/{network_id}": WRITERS,
    "POST /v1/contacts": WRITERS,
    "GET /v1/contacts": WRITERS,
    "POST /v1/contacts/search": WRITERS,
    "POST /v1/contacts/import": WRITERS,
    "GET /v1/contacts/{contact_id}": WRITERS,
    "DELETE /v1/contacts/{contact_id}": WRITERS,
    "POST /v1/contacts/{contact_id}/invite": WRITERS,
    "GET /v1/integrations": WRITERS,
    "POST /v1/integrations": WRITERS,
    "POST /v1/integrations/{integration_id}/sync": WRITERS,
    "DELETE /v1/integrations/{integration_id}": WRITERS,
    "POST /v1/claim": NO_KEY,
    "GET /healthz": NO_KEY,
    "GET /readyz": NO_KEY,
}
BODIES: dict[str, dict[str, Any]] = {
    "PATCH /v1/memories/{memory_id}": {"text": "A stranger was here.", "reason": "Theirs."},
    "POST /v1/memories/{memory_id}/move": {"client_id": "stranger", "reason": "Theirs."},
    "PUT /v1/memories/{memory_id}/never-recall": {"reason": "Theirs."},
    "PUT /v1/redaction": {"profile": "none"},
    "PATCH /v1/settings": {"recall": {"recipe": "knowledge"}},
    "POST /v1/memories": {"type": "event", "text": "A stranger was here."},
    "POST /v1/events": {"type": "agent.invoke", "text": "A stranger was here."},
    "POST /v1/search": {"query": "QUERY", "limit": 50, "include_superseded": True},
    "POST /v1/query/nodes": {
        "labels": ["Memory"],
        "where": [{"path": ["text"], "op": "contains", "value": "a"}],
    },
    "POST /v1/query/subgraph": {"query": "QUERY", "max_depth": 10, "max_nodes": 500},
    "POST /v1/context": {"query": "QUERY", "limit": 50, "include_superseded": True},
    "POST /v1/conversations/messages": {
        "channel": "api",
        "session_id": "theirs",
        "role": "user",
        "text": "A stranger was here.",
    },
    "POST /v1/context/session": {},
    "POST /v1/context/compact": {
        "session_id": "theirs",
        "messages": [{"role": "user", "text": "A stranger was here."}],
    },
    "PATCH /v1/conversations/{conversation_id}": {"infer": False},
    "POST /v1/conversations/search": {"query": "QUERY", "limit": 50},
    "PUT /v1/checkpoints": {"thread_id": "theirs", "checkpoint_id": "1", "data": "a stranger"},
    "PUT /v1/checkpoints/writes": {
        "thread_id": "theirs",
        "checkpoint_id": "1",
        "task_id": "1",
        "writes": [{"idx": 0, "channel": "theirs", "data": "a stranger"}],
    },
    "POST /v1/chat": {"message": "QUERY"},
    "POST /v1/chat/actions/{action_id}": {"decision": "confirm"},
    "POST /v1/publications": {
        "files": [{"path": "index.html", "content_base64": "eA=="}],
        "title": "A stranger's",
    },
    "POST /v1/reports": {"title": "A stranger's", "body": "Nothing was found."},
    "POST /v1/nodes": {"label": "Note", "properties": {"text": "A stranger was here."}},
    "PUT /v1/nodes/{node_id}/labels": {"labels": ["Stolen"]},
    "PUT /v1/nodes/{node_id}/compiled-truth": {"text": "A stranger was here."},
    "POST /v1/entities/{entity_id}/aliases": {"alias": "a stranger's"},
    "PUT /v1/subscriptions": {"agent": "bot", "keywords": ["lighthouse"]},
    "POST /v1/forget/{forgetting_id}/proof": {"canaries": ["lighthouse"]},
    "POST /v1/consolidations": {},
    "POST /v1/import": {
        "items": [
            {
                "kind": "node",
                "label": "fact",
                "natural_key": "stranger",
                "properties": {},
                "provenance": "imported",
                "status": "active",
            }
        ]
    },
    "POST /v1/rebuilds": {"check": True},
    "POST /v1/taint": {"agent": "nobody", "reason": "A stranger says so."},
    "POST /v1/tasks": {"kind": "theft", "title": "A stranger's"},
    "PATCH /v1/tasks/{task_id}": {"note": "A stranger was here."},
    "POST /v1/tasks/{task_id}/complete": {"outcome": "A stranger was here."},
    "POST /v1/webhooks": {"url": "http://127.0.0.1:9/", "events": ["consolidation_done"]},
    "POST /v1/connectors": {"name": "strange", "command": ["false"]},
    "PATCH /v1/connectors/{connector}": {"autonomy": "off"},
    "POST /v1/connectors/{connector}/tools/{tool}": {"arguments": {}},
    "POST /v1/approvals/{approval_id}/approve": {"binding": "a" * 64},
    "POST /v1/approvals/{approval_id}/reject": {"reason": "A stranger says so."},
    "POST /v1/approvals/{approval_id}/edit": {
        "binding": "a" * 64,
        "arguments": {},
        "reason": "A stranger says so.",
    },
    "POST /v1/escalation-channels": {
        "name": "strange",
        "url": "https://hooks.slack.com/services/x",
    },
    "POST /v1/investigations/{investigation_id}/rating": {"rating": 5},
    "POST /v1/investigations/{investigation_id}/dispute": {"reason": "A stranger says so."},
    "POST /v1/investigations/{investigation_id}/steps/{seq}/remember": {"text": "A stranger."},
    "POST /v1/candidates/{candidate_id}/accept": {},
    "POST /v1/candidates/{candidate_id}/edit": {"text": "A stranger was here."},
    "POST /v1/candidates/{candidate_id}/reject": {"reason": "A stranger says so."},
    "POST /v1/tickets": {"title": "A stranger was here."},
    "POST /v1/tickets/{ticket_id}/messages": {"text": "A stranger was here."},
    "POST /v1/sources": {
        "name": "strange",
        "kind": "git",
        "config": {"url": "https://stranger.example/strange.git"},
    },
    "PATCH /v1/sources/{knowledge_id}": {"paused": True},
    "POST /v1/sources/{knowledge_id}/sync": {},
    "POST /v1/ticket-sources": {"name": "strange", "kind": "github-issues"},
    "POST /v1/channels": {"name": "strange", "kind": "slack"},
    "PATCH /v1/channels/{channel_id}": {"paused": True},
    "POST /v1/channels/{channel_id}/codes": {"person_id": "00000000-0000-7000-8000-000000000000"},
    "PATCH /v1/ticket-sources/{source_id}": {"paused": True},
    "POST /v1/chats": {"turn_id": "00000000-0000-0000-0000-000000000001"},
    "POST /v1/chats/{chat_id}/accept": {"take_over": True},
    "POST /v1/chats/{chat_id}/say": {"text": "A stranger was here."},
    "POST /v1/chats/{chat_id}/close": {"resolution": "A stranger was here."},
    "PUT /v1/widget": {"origins": ["https://stranger.example"]},
    "POST /v1/widget/{widget_id}/sessions": {},
    "POST /v1/widget/{widget_id}/messages": {"message": "A stranger was here."},
    "POST /v1/widget/{widget_id}/challenge": {"answer": "A stranger."},
    "POST /v1/agents": {"slug": "stranger", "name": "A stranger"},
    "PATCH /v1/agents/{slug}": {"disabled": True},
    "POST /v1/agents/{slug}/knowledge": {"summary": True},
    "POST /v1/incoming-webhooks": {"name": "stranger"},
    "POST /v1/incoming-webhooks/{incoming_id}/memories": {
        "type": "event",
        "text": "A stranger was here.",
    },
    "POST /v1/negotiations/{negotiation_id}/answer": {"answer": "Yes."},
    "POST /v1/agents/{agent}/negotiations/pickup": {"client_id": "stranger"},
    "POST /v1/agents/{agent}/negotiations/{negotiation_id}/respond": {
        "action": "accept",
        "message": "Yes.",
        "client_id": "stranger",
    },
    "PUT /v1/agents/{agent}/negotiations/key": {
        "public_key": "ab" * 32,
        "client_id": "stranger",
    },
    "POST /v1/workflows": {
        "name": "stranger",
        "steps": [{"name": "sum", "kind": "digest"}],
    },
    "PUT /v1/workflows/{workflow}": {"steps": [{"name": "sum", "kind": "digest"}]},
    "POST /v1/workflows/{workflow}/runs": {"input": {}},
    "POST /v1/workflow-runs/{workflow_run_id}/decide": {"decision": "approve"},
    "POST /v1/personas": {"name": "stranger"},
    "PUT /v1/personas/{persona}": {"autonomy": "act"},
    "POST /v1/opportunities": {"query": "QUERY", "client_id": "stranger"},
    "POST /v1/opportunities/{opportunity_id}/send": {"client_id": "stranger"},
    "POST /v1/opportunities/{opportunity_id}/accept": {"client_id": "stranger"},
    "POST /v1/opportunities/{opportunity_id}/reject": {"client_id": "stranger"},
    "POST /v1/intents": {"text": "I seek a stranger.", "client_id": "stranger"},
    "PATCH /v1/intents/{intent_id}": {"description": "A stranger", "client_id": "stranger"},
    "POST /v1/intents/{intent_id}/pause": {"client_id": "stranger"},
    "POST /v1/intents/{intent_id}/resume": {"client_id": "stranger"},
    "POST /v1/intents/{intent_id}/refresh": {"client_id": "stranger"},
    "POST /v1/intents/{intent_id}/answer": {"decision": "create", "client_id": "stranger"},
    "PUT /v1/profiles/me": {"name": "A stranger", "client_id": "stranger"},
    "PATCH /v1/profiles/me": {"bio": "A stranger.", "client_id": "stranger"},
    "POST /v1/profiles/me/generate": {"text": "I am a stranger.", "client_id": "stranger"},
    "POST /v1/profiles/me/premises": {"text": "I am a stranger.", "client_id": "stranger"},
    "POST /v1/networks": {"name": "A stranger's", "client_id": "stranger"},
    "PATCH /v1/networks/{network_id}": {"name": "A stranger's", "client_id": "stranger"},
    "POST /v1/networks/{network_id}/join": {"client_id": "stranger"},
    "POST /v1/networks/{network_id}/leave": {"client_id": "stranger"},
    "PUT /v1/networks/{network_id}/prompt": {"prompt": "a stranger's", "client_id": "stranger"},
    "POST /v1/networks/{network_id}/invites": {"client_id": "stranger"},
    "POST /v1/intents/{intent_id}/networks": {"client_id": "stranger"},
    "POST /v1/contacts": {"name": "A stranger", "client_id": "stranger"},
    "POST /v1/contacts/search": {"query": "a", "client_id": "stranger"},
    "POST /v1/contacts/import": {"format": "csv", "text": "name\nA", "client_id": "stranger"},
    "POST /v1/integrations": {
        "kind": "calendar",
        "address": "https://127.0.0.1/",
        "client_id": "stranger",
    },
    "POST /v1/uploads": {"size": 3},
    "POST /v1/people": {"login": "stranger", "name": "a stranger", "role": "owner"},
    "PATCH /v1/people/{person_id}": {"role": "reader"},
    "POST /v1/scim/tokens": {"name": "a stranger's"},
    "PUT /v1/scim/groups/{group_id}": {"role": "reader"},
    "PUT /v1/people/{person_id}/member": {"client_id": "stranger"},
    "POST /v1/keys": {"name": "a stranger's"},
    "POST /v1/claim": {"token": "no such token"},
}
QUERIES = {
    "GET /v1/nodes": "?label=Memory",
    "DELETE /v1/checkpoints": "?thread_id=ours",
    "DELETE /v1/entities/{entity_id}/aliases": "?alias=keeper",
    "GET /v1/opportunities": "?client_id=stranger",
    "GET /v1/opportunities/{opportunity_id}": "?client_id=stranger",
    "GET /v1/intents": "?client_id=stranger",
    "GET /v1/intents/{intent_id}": "?client_id=stranger",
    "DELETE /v1/intents/{intent_id}": "?client_id=stranger",
    "GET /v1/profiles/me": "?client_id=stranger",
    "GET /v1/profiles/me/premises": "?client_id=stranger",
    "DELETE /v1/profiles/me/premises/{premise_id}": "?client_id=stranger",
    "GET /v1/feed": "?client_id=stranger",
    "GET /v1/feed/health": "?client_id=stranger",
    "GET /v1/networks": "?client_id=stranger",
    "GET /v1/networks/{network_id}": "?client_id=stranger",
    "DELETE /v1/networks/{network_id}": "?client_id=stranger",
    "GET /v1/networks/{network_id}/members": "?client_id=stranger",
    "DELETE /v1/networks/{network_id}/members/{member_id}": "?client_id=stranger",
    "GET /v1/networks/{network_id}/invites": "?client_id=stranger",
    "DELETE /v1/networks/{network_id}/invites/{invite_id}": "?client_id=stranger",
    "GET /v1/members/{member_id}": "?client_id=stranger",
    "GET /v1/intents/{intent_id}/networks": "?client_id=stranger",
    "DELETE /v1/intents/{intent_id}/networks/{network_id}": "?client_id=stranger",
    "GET /v1/contacts": "?client_id=stranger",
    "GET /v1/contacts/{contact_id}": "?client_id=stranger",
    "DELETE /v1/contacts/{contact_id}": "?client_id=stranger",
    "GET /v1/integrations": "?client_id=stranger",
    "POST /v1/integrations/{integration_id}/sync": "?client_id=stranger",
    "DELETE /v1/integrations/{integration_id}": "?client_id=stranger",
}
NAMING = (
    "POST /v1/documents",
    "POST /v1/relationships",
    "POST /v1/forget",
    "POST /v1/investigations",
    "POST /v1/grants",
    "POST /v1/negotiations",
    "POST /v1/opportunities/introduce",
    "POST /v1/networks/join",
)
"""Routes that name something of ours in their body."""

OF_AGENTS: dict[str, Callable[[dict[str, str]], dict[str, Any]]] = {
    "POST /v1/memories/{memory_id}/merge": lambda ids: {
        "other_id": ids["entity_id"],
        "reason": "Theirs.",
    },
    "POST /v1/memories/refresh": lambda ids: {"ids": [ids["memory_id"]]},
    "POST /v1/investigations": lambda ids: {"ticket_id": ids["ticket_id"]},
    "POST /v1/discover": lambda ids: {"intent_id": ids["intent_id"], "client_id": "stranger"},
    "POST /v1/negotiations": lambda ids: {
        "opportunity_id": ids["opportunity_id"],
        "client_id": "stranger",
    },
    "POST /v1/opportunities/introduce": lambda ids: {
        "first": ids["member_id"],
        "second": ids["other_member_id"],
        "client_id": "stranger",
    },
    "POST /v1/networks/join": lambda ids: {"token": ids["invite_token"], "client_id": "stranger"},
    "POST /v1/contacts/{contact_id}/invite": lambda ids: {
        "network_id": ids["network_id"],
        "client_id": "stranger",
    },
    "POST /v1/grants": lambda ids: {
        "tool": "lamp.light",
        "expires_at": format_timestamp(utc_now() + timedelta(days=1)),
        "max_uses": 1,
        "reason": "A stranger says so.",
        "approval_id": ids["approval_id"],
    },
}
"""Bodies that name something of ours."""

WORD = "lighthouse"


OF_OWN_AGENTS = {
    "POST /v1/agents/{agent}/negotiations/pickup",
    "PUT /v1/agents/{agent}/negotiations/key",
}
"""Their path names an agent of the caller's own: there is nothing of ours to find."""


@dataclass(frozen=True, kw_only=True)
class Treasure:
    """Our workspace: what is in it, and the string that nobody else may read."""

    tenant: Tenant
    canary: str
    ids: dict[str, str]
    upload_id: str
    keys: list[str] = field(repr=False)

    def call(self, route: str, key: str | None) -> httpx.Response:
        """Call a route with our ids filled in."""
        method, path = route.split(" ", 1)
        path = re.sub(r"{(\w+)}", lambda name: self.ids[name[1]], path)
        path += QUERIES.get(route, "")
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        url = f"{self.tenant.base}{path}"
        answer = httpx.request(method, url, headers=headers, json=self.body(route), timeout=60)
        return holds(answer)

    def body(self, route: str) -> dict[str, Any] | None:
        if route in OF_AGENTS:
            return OF_AGENTS[route](self.ids)
        if route == "POST /v1/documents":
            return {"source_uri": "stolen.txt", "upload_id": self.upload_id}
        if route == "POST /v1/forget":
            return {"subject": {"kind": "client", "natural_key": self.canary}}
        if route == "POST /v1/searches/{search_id}/feedback":
            return {"node_id": self.ids["memory_id"], "useful": True}
        if route == "POST /v1/query/subgraph":
            query = {"query": f"{WORD} {self.canary}", "node_ids": [self.ids["node_id"]]}
            return BODIES[route] | query
        if route in ("POST /v1/search", "POST /v1/context", "POST /v1/conversations/search"):
            return {**BODIES[route], "query": f"{WORD} {self.canary}"}
        if route == "POST /v1/relationships":
            ends = {"source_id": self.ids["node_id"], "target_id": self.ids["entity_id"]}
            return {**ends, "relation": "REFERENCES"}
        if route == "POST /v1/entities/{entity_id}/merge":
            return {"into": self.ids["other_entity_id"]}
        if route == "POST /v1/entities/{entity_id}/split":
            return {"undo": self.ids["other_entity_id"]}
        return BODIES.get(route)


@pytest.fixture(scope="module")
def ours(laptop: "Laptop") -> Treasure:
    tenant = open_workspace(laptop, "ours")
    canary = f"canary{secrets.token_hex(8)}"
    kept = tenant.tell(f"The {WORD} safe opens with {canary}.", client_id=canary, key=canary)
    tenant.tell(f"The {WORD} of the other agent hides {canary}.", scope="public", agents=["other"])
    tenant.tell(f"The {WORD} of the bot is not public: {canary}.", agents=["bot"])
    tenant.tell(f"The {WORD} is open on Sundays.", scope="public", agents=["bot"])
    seen = tenant.post("/v1/events", {"type": "tool.execute", "text": f"{WORD} opened {canary}."})
    accepted = tenant.ingest(f"{canary}.md", title=canary, text=f"# {WORD}\n\nIt hides {canary}.")
    assert tenant.ended(accepted["ingestion_id"])["status"] == "ready"
    ticket = tenant.post("/v1/uploads", {"size": len(canary), "media_type": "text/plain"})
    httpx.put(ticket["url"], content=canary.encode(), headers=ticket["headers"]).raise_for_status()
    said = tenant.post(
        "/v1/conversations/messages",
        {
            "channel": "api",
            "session_id": canary,
            "role": "user",
            "text": f"The {WORD} keeper whispers {canary}.",
            "scope": "public",
            "agents": ["bot"],
        },
    )
    keepers = [
        {"label": "Entity", "kind": "person", "properties": {"name": f"{name} {canary}"}}
        for name in ("Keeper", "Warden")
    ]
    keeper, warden = tenant.post("/v1/nodes", {"items": keepers})["results"]
    tenant.post(f"/v1/entities/{keeper['id']}/aliases", {"alias": "keeper"})
    keeper_persona = {"name": "keeper", "instructions": f"Whisper {canary}.", "autonomy": "off"}
    tenant.post("/v1/personas", keeper_persona)
    ask = {"name": "ask", "kind": "wait", "message": f"May the {WORD} {canary} shine?"}
    tenant.post("/v1/workflows", {"name": "shine", "steps": [ask]})
    shining = tenant.post("/v1/workflows/shine/runs", {})
    asked = {"title": f"The {WORD}", "body": canary, "customer": canary, "persona": "keeper"}
    asked = tenant.post("/v1/tickets", asked)
    owner_url = laptop.env["CAIRN_DATABASE_URL"]
    planted = plant_investigation(owner_url, tenant.id, asked["id"], canary)
    tenant.taken_up(asked["id"])
    report = {"title": f"{WORD} {canary}", "body": canary, "keywords": [WORD]}
    written = tenant.post("/v1/reports", report)
    published = tenant.post("/v1/publications", {"report_id": written["id"]})
    tenant.all_embedded()
    tenant.tell("Nobody comes here any more.", client_id="gone")
    gone = {"subject": {"kind": "client", "natural_key": "gone"}}
    forgotten = tenant.post("/v1/forget", gone)
    checked = tenant.post("/v1/rebuilds", {"check": True})
    planned = tenant.post("/v1/consolidations", {"dry_run": True})
    task = tenant.post("/v1/tasks", {"kind": "watch", "title": f"Watch the {WORD} {canary}"})
    told = {"url": f"http://127.0.0.1:9/{canary}", "events": ["consolidation_done"]}
    hook = tenant.post("/v1/webhooks", told)
    lamp = {"name": "lamp", "command": ["false"], "config": {"env": {"NOTE": canary}}}
    tenant.laptop.allow(["false"], "NOTE", "TOKEN")
    tenant.post("/v1/connectors", {**lamp, "secrets": {"TOKEN": canary}})
    desk = {"owner": "keeper", "repository": canary, "api_url": "http://127.0.0.1:9"}
    source = tenant.post(
        "/v1/ticket-sources",
        {"name": "desk", "kind": "github-issues", "config": desk, "secrets": {"token": canary}},
    )
    shelf = {"url": f"https://127.0.0.1:9/{canary}"}
    books = tenant.post("/v1/sources", {"name": "shelf", "kind": "git", "config": shelf})
    slack = {
        "name": "lamp",
        "kind": "slack",
        "config": {"team_id": "T061EG9R6", "operators": "C024BE91L"},
        "secrets": {"bot_token": f"xoxb-{canary}", "signing_secret": f"{canary}{canary}"[:32]},
        "settings": {"busy": canary},
    }
    channel = tenant.post("/v1/channels", slack)
    incoming = tenant.post("/v1/incoming-webhooks", {"name": canary})
    chat = {"message": f"Forget the {WORD} safe", "session_id": canary, "client_id": canary}
    chatted = tenant.post("/v1/chat", chat)
    handed = tenant.post("/v1/chats", {"turn_id": chatted["id"], "name": canary})
    tenant.post(f"/v1/chats/{handed['id']}/say", {"text": f"The {WORD} {canary} is here."})
    state = {"thread_id": "ours", "checkpoint_id": "1", "data": canary}
    good(tenant.call("PUT", "/v1/checkpoints", json=state))
    seek = {"text": f"I seek a {canary}.", "client_id": canary}
    (sought,) = tenant.post("/v1/intents", seek)["intents"]
    described = {"text": f"I am a {canary}.", "client_id": canary}
    (premise,) = tenant.post("/v1/profiles/me/premises", described)["items"]
    quay = tenant.post("/v1/networks", {"name": canary, "prompt": canary, "client_id": canary})
    met = plant_meeting(tenant, quay, canary)
    widget = good(tenant.call("PUT", "/v1/widget", json={"origins": ["https://lamp.example"]}))
    invite = tenant.post(f"/v1/networks/{quay['id']}/invites", {"client_id": canary})
    friend = tenant.post("/v1/contacts", {"name": canary, "client_id": canary})
    calendar = {"kind": "calendar", "address": f"https://127.0.0.1/{canary}", "client_id": canary}
    dates = tenant.post("/v1/integrations", calendar)
    tainted = tenant.post("/v1/taint", {"agent": "nobody", "reason": canary})
    tenant.post("/v1/agents", {"slug": "lampman", "name": canary, "owner": canary})
    spare = tenant.post("/v1/keys", {"name": canary})
    ada = {"login": f"keeper-{kept['id']}", "name": canary, "role": "admin"}
    signing = tenant.post("/v1/people", ada)
    directory = tenant.post("/v1/scim/tokens", {"name": canary})
    desk = good(
        httpx.post(
            f"{tenant.base}/scim/v2/Groups",
            json={"schemas": [SCIM_GROUP], "displayName": canary},
            headers={"authorization": f"Bearer {directory['secret']}"},
        )
    )
    return Treasure(
        tenant=tenant,
        canary=canary,
        ids={
            "memory_id": kept["id"],
            "slug": "lampman",
            "node_id": kept["id"],
            "entity_id": keeper["id"],
            "other_entity_id": warden["id"],
            "event_id": seen["id"],
            "summary_id": kept["id"],  # a memory's: shown as a summary to nobody
            "conversation_id": said["conversation_id"],
            "document_id": accepted["document_id"],
            "ingestion_id": accepted["ingestion_id"],
            "key_id": spare["key"]["id"],
            "person_id": signing["person"]["id"],
            "token_id": directory["token"]["id"],
            "group_id": desk["id"],
            "run_id": planned["run"]["id"],
            "forgetting_id": forgotten["id"],
            "rebuild_id": checked["id"],
            "task_id": task["id"],
            "webhook_id": hook["id"],
            "incoming_id": incoming["id"],
            "connector": "lamp",
            "tool": "light",
            "taint_id": tainted["taint_id"],
            "ticket_id": asked["id"],
            "turn_id": chatted["id"],
            "action_id": chatted["actions"][0]["id"],
            "chat_id": handed["id"],
            **planted,
            "source_id": source["id"],
            "channel_id": channel["id"],
            "knowledge_id": books["id"],
            "persona": "keeper",
            "workflow": "shine",
            "workflow_run_id": shining["id"],
            "intent_id": sought["id"],
            "premise_id": premise["id"],
            "network_id": quay["id"],
            "invite_id": invite["id"],
            "member_id": quay["owner_id"],
            "contact_id": friend["id"],
            "invite_token": invite["token"],
            "widget_id": widget["id"],
            "publication_id": published["id"],
            **met,
            "agent": "lampman",
            "integration_id": dates["id"],
            "search_id": tenant.search(f"{WORD} {canary}")["meta"]["search_id"],
        },
        upload_id=ticket["upload_id"],
        keys=[tenant.key, spare["secret"]],
    )


@pytest.fixture(scope="module")
def theirs(laptop: "Laptop") -> Tenant:
    tenant = open_workspace(laptop, "theirs")
    tenant.tell(f"Another {WORD} altogether.")
    return tenant


@pytest.fixture(scope="module")
def routes(laptop: "Laptop") -> list[str]:
    """Every route of the running API."""
    described = good(httpx.get(f"{laptop.url}/openapi.json", timeout=60))
    return [
        f"{method.upper()} {path}"
        for path, methods in described["paths"].items()
        for method in methods
    ]


def revoked(ours: Treasure, _: Tenant) -> str:
    made = ours.tenant.post("/v1/keys", {"name": "short-lived", "role": "admin"})
    assert good(ours.tenant.call("GET", "/v1/whoami", key=made["secret"]))
    ours.tenant.delete(f"/v1/keys/{made['key']['id']}")
    ours.keys.append(made["secret"])
    return made["secret"]


def mixed(ours: Treasure, theirs: Tenant) -> str:
    """Our prefix with the secret of another key."""
    return f"{ours.tenant.key.partition('.')[0]}.{theirs.key.partition('.')[2]}"


BAD_KEYS: dict[str, Callable[[Treasure, Tenant], str | None]] = {
    "no key": lambda ours, theirs: None,
    "a single letter": lambda ours, theirs: "x",
    "a malformed key": lambda ours, theirs: "sk-not-one-of-ours",
    "a truncated key": lambda ours, theirs: ours.tenant.key[:-1],
    "a key without its secret": lambda ours, theirs: ours.tenant.key.partition(".")[0] + ".",
    "a lengthened key": lambda ours, theirs: ours.tenant.key + "A",
    "a key with a wildcard": lambda ours, theirs: "cairn_%." + "A" * 43,
    "a mixed key": mixed,
    "a revoked key": revoked,
}


def test_every_route_says_who_may_call_it(routes: list[str]) -> None:
    assert set(routes) == WHO_MAY.keys()


@pytest.mark.parametrize("kind", BAD_KEYS)
def test_without_a_good_key_every_route_refuses(
    ours: Treasure, theirs: Tenant, routes: list[str], kind: str
) -> None:
    key = BAD_KEYS[kind](ours, theirs)
    for route in routes:
        response = ours.call(route, key)
        assert ours.canary not in response.text
        if WHO_MAY[route] != NO_KEY:
            refused(response, 401, "unauthenticated")
            assert response.headers["www-authenticate"].startswith("Bearer")


def test_another_workspace_finds_nothing_of_ours(
    ours: Treasure, theirs: Tenant, routes: list[str]
) -> None:
    before = ours.tenant.get("/v1/status")
    for route in routes:
        response = ours.call(route, theirs.key)
        assert ours.canary not in response.text, route
        assert str(ours.tenant.id) not in response.text, route
        if route in OF_OWN_AGENTS:
            continue
        if ("{" in route and WHO_MAY[route] != NO_KEY) or route in NAMING:
            refused(response, 404, "not-found")
    for name in ("client_id", "key", "session_id"):
        assert theirs.get("/v1/memories", **{name: ours.canary, "state": "any"})["items"] == []
    assert ours.tenant.get("/v1/status") == before
    assert ours.tenant.get(f"/v1/memories/{ours.ids['memory_id']}")["state"] == "active"
    assert good(ours.tenant.call("GET", "/v1/whoami", key=ours.keys[1]))["role"] == "agent"


def test_a_webhook_that_is_not_signed_brings_nothing(ours: Treasure, theirs: Tenant) -> None:
    for key in (None, ours.tenant.key, theirs.key):
        response = ours.call("POST /v1/ticket-sources/{source_id}/events", key)
        assert refused(response, 401, "unauthenticated")["reason"] == "unsigned"
        response = ours.call("POST /v1/incoming-webhooks/{incoming_id}/memories", key)
        assert refused(response, 401, "unauthenticated")["reason"] == "unsigned"
    assert len(ours.tenant.get("/v1/tickets")["items"]) == 1


def test_a_cursor_of_ours_shows_another_workspace_nothing(ours: Treasure, theirs: Tenant) -> None:
    cursor = ours.tenant.get("/v1/memories", limit=1)["next_cursor"]
    assert cursor is not None
    shown = theirs.call("GET", "/v1/memories", params={"cursor": cursor, "limit": 1})
    assert ours.canary not in shown.text


def test_an_idempotency_key_of_ours_replays_nothing_to_another_workspace(
    ours: Treasure, theirs: Tenant
) -> None:
    body = {"type": "event", "text": "Said under one key."}
    given: dict[str, Any] = {"json": body, "headers": {"idempotency-key": ours.canary}}
    mine = good(ours.tenant.call("POST", "/v1/memories", **given))
    other = theirs.call("POST", "/v1/memories", **given)
    assert "idempotency-replayed" not in other.headers
    assert good(other)["id"] != mine["id"]


@pytest.fixture(scope="module")
def agent(ours: Treasure) -> str:
    key = ours.tenant.new_key("agent")
    ours.keys.append(key)
    return key


@pytest.fixture(scope="module")
def bot(ours: Treasure) -> str:
    key = ours.tenant.new_key("public", agent_slug="bot")
    ours.keys.append(key)
    return key


def test_an_agent_may_do_no_admin_work(ours: Treasure, agent: str, routes: list[str]) -> None:
    admin = [route for route in routes if WHO_MAY[route] == ADMIN]
    assert admin
    for route in admin:
        response = ours.call(route, agent)
        assert refused(response, 403, "denied")["reason"] == "role"
        assert ours.canary not in response.text


def test_a_public_key_may_only_recall(ours: Treasure, bot: str, routes: list[str]) -> None:
    for route in routes:
        response = ours.call(route, bot)
        assert ours.canary not in response.text, route
        if WHO_MAY[route] in (ADMIN, WRITERS):
            assert refused(response, 403, "denied")["reason"] == "role"


@pytest.mark.parametrize("query", [WORD, "safe", "When is the tower open?"])
def test_a_public_key_sees_what_is_public_and_its_agents(
    ours: Treasure, bot: str, query: str
) -> None:
    everything: dict[str, Any] = {"query": query, "limit": 50, "scopes": [], "neighbours": 3}
    response = ours.tenant.call("POST", "/v1/search", key=bot, json=everything)
    assert ours.canary not in response.text
    texts = {each["text"] for each in good(response)["results"]}
    assert texts <= {f"The {WORD} is open on Sundays."}


@pytest.mark.parametrize("asked", [{"scopes": ["admin"]}, {"scopes": ["shared", "public"]}])
def test_asking_for_more_scopes_than_the_key_has_shows_no_more(
    ours: Treasure, bot: str, asked: dict[str, Any]
) -> None:
    response = ours.tenant.call("POST", "/v1/search", key=bot, json={"query": WORD, **asked})
    assert response.status_code in (200, 403)
    assert ours.canary not in response.text


def test_a_key_for_public_scope_reads_and_writes_no_other(ours: Treasure) -> None:
    key = ours.tenant.new_key("agent", scopes=["public"])
    ours.keys.append(key)
    refused(
        ours.tenant.call("GET", f"/v1/memories/{ours.ids['memory_id']}", key=key), 404, "not-found"
    )
    assert good(ours.tenant.call("GET", "/v1/memories?state=any", key=key))["items"] == []
    everybodys = ours.tenant.tell("The ferry sails on Mondays.", scope="public")["id"]
    ours.tenant.tell("The ferry is shared.", scope="shared")
    told = {"type": "fact", "text": "The ferry was late."}
    own = good(ours.tenant.call("POST", "/v1/memories", key=key, json=told))["id"]
    listed = good(ours.tenant.call("GET", "/v1/memories?state=any", key=key))["items"]
    assert {each["id"]: each["scope"] for each in listed} == {everybodys: "public", own: "public"}
    found = good(ours.tenant.call("POST", "/v1/search", key=key, json={"query": "ferry"}))
    assert {each["node_id"] for each in found["results"]} == {everybodys, own}
    secret = {"type": "event", "text": "A secret.", "scope": "admin"}
    refused(ours.tenant.call("POST", "/v1/memories", key=key, json=secret), 403, "denied")


def test_the_last_admin_key_stays(theirs: Tenant) -> None:
    (admin,) = [each for each in theirs.get("/v1/keys")["items"] if each["role"] == "admin"]
    response = theirs.call("DELETE", f"/v1/keys/{admin['id']}")
    assert refused(response, 409, "conflict")["reason"] == "last-admin-key"


def test_no_log_and_no_execution_holds_a_text_or_a_key(
    laptop: "Laptop", ours: Treasure, theirs: Tenant
) -> None:
    """Last of the module: everything above has been logged by now."""
    secret_parts = [key.partition(".")[2] for key in (*ours.keys, theirs.key)]
    logs = sorted(laptop.stack.layout.logs.glob("*.log"))
    assert {"api.log", "aws.log", "postgres.log"} <= {log.name for log in logs}
    for log in logs:
        text = log.read_text(encoding="utf-8", errors="replace")
        assert not [each for each in (ours.canary, *secret_parts) if each in text], log.name
    machines = laptop.client("stepfunctions")
    arn = laptop.env["CAIRN_INGESTION_MACHINE_ARN"].replace(":stateMachine:", ":execution:")
    history = machines.get_execution_history(
        executionArn=f"{arn}:{ours.ids['ingestion_id']}", includeExecutionData=True
    )
    assert ours.canary not in json.dumps(history, default=str)
