"""What the API can do and a person would is on a page of the console, or stands here with a reason.

A new route of the API fails here until a page does it or somebody has said why nobody would.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING

from fastapi.routing import APIRoute
from tests.support.openapi import document

from cairn.api.nouns import NOUNS

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = """
memories: GET memories | GET namespaces | POST search
memories/{memory_id}: GET memories/{memory_id} | GET memories/{memory_id}/history
memories/{memory_id}/correct: PATCH memories/{memory_id}
memories/{memory_id}/deed: DELETE memories/{memory_id} | PUT memories/{memory_id}/pin
 | DELETE memories/{memory_id}/pin | PUT memories/{memory_id}/never-recall
 | DELETE memories/{memory_id}/never-recall
memories/{memory_id}/merge: POST memories/{memory_id}/merge
memories/{memory_id}/move: POST memories/{memory_id}/move
memories/undo: POST memories/{memory_id}/restore
searches: GET searches
searches/{search_id}: GET searches/{search_id}
searches/{search_id}/feedback: POST searches/{search_id}/feedback
graph: GET nodes | POST query/subgraph
graph/entities: GET entities
graph/entities/{entity_id}: GET entities/{entity_id}
graph/entities/{entity_id}/alias: POST entities/{entity_id}/aliases
graph/entities/{entity_id}/alias/remove: DELETE entities/{entity_id}/aliases
graph/entities/{entity_id}/merge: POST entities/{entity_id}/merge
graph/entities/{entity_id}/split: POST entities/{entity_id}/split
cited: GET nodes/{node_id} | GET tool-calls/{action_id}
forget: POST forget
forget/{forgetting_id}: GET forget/{forgetting_id} | GET forget/{forgetting_id}/proof
 | POST forget/{forgetting_id}/proof
conversations: GET conversations | POST conversations/search
conversations/{conversation_id}: GET conversations/{conversation_id}
conversations/{conversation_id}/infer: PATCH conversations/{conversation_id}
conversations/{conversation_id}/keys: PUT conversations/{conversation_id}/keys/{key_id}
summaries: GET summaries
summaries/{summary_id}: GET summaries/{summary_id}
clients: GET profile
session-log: GET logs
documents: GET documents | POST documents
documents/uploads: POST uploads
documents/{document_id}: GET documents/{document_id} | GET ingestions/{ingestion_id}
documents/{document_id}/delete: DELETE documents/{document_id}
publications: GET publications | POST publications | GET publications/host | GET reports
publications/{publication_id}/withdraw: DELETE publications/{publication_id}
review: GET candidates | GET proposals
review/resolutions/{candidate_id}: GET candidates/{candidate_id}
review/resolutions/{candidate_id}/{decision}: POST candidates/{candidate_id}/accept
 | POST candidates/{candidate_id}/edit | POST candidates/{candidate_id}/reject
review/proposals/{node_id}/{decision}: POST proposals/{node_id}/accept
 | POST proposals/{node_id}/reject
ledger: GET ledger
ledger/verify: GET ledger/verify
ledger/taints: GET taints | POST taint
ledger/taints/{taint_id}: GET taints/{taint_id}
ledger/taints/{taint_id}/lift: POST taints/{taint_id}/lift
approvals: GET approvals
approvals/{approval_id}: GET approvals/{approval_id}
approvals/{approval_id}/{decision}: POST approvals/{approval_id}/approve
 | POST approvals/{approval_id}/reject | POST approvals/{approval_id}/edit | POST grants
grants: GET grants
grants/{grant_id}/revoke: DELETE grants/{grant_id}
chats: GET chats | POST chats | GET chats/live | GET chats/numbers
chats/{chat_id}: GET chats/{chat_id}
chats/{chat_id}/lines: GET chats/{chat_id}/lines
chats/{chat_id}/{deed}: POST chats/{chat_id}/accept | POST chats/{chat_id}/say
 | POST chats/{chat_id}/release | POST chats/{chat_id}/return | POST chats/{chat_id}/close
 | POST chats/{chat_id}/ticket
tickets: GET tickets | POST tickets | GET tickets/queue
tickets/{ticket_id}: GET tickets/{ticket_id}
tickets/{ticket_id}/messages: POST tickets/{ticket_id}/messages
tickets/{ticket_id}/requeue: POST tickets/{ticket_id}/requeue | POST investigations
investigations: GET investigations
investigations/resume: POST investigations/resume
investigations/{investigation_id}: GET investigations/{investigation_id}
 | GET investigations/{investigation_id}/opinions
investigations/{investigation_id}/lines: GET investigations/{investigation_id}/steps
investigations/{investigation_id}/live: GET investigations/{investigation_id}/events
investigations/{investigation_id}/{deed}: POST investigations/{investigation_id}/rating
 | POST investigations/{investigation_id}/dispute | POST investigations/{investigation_id}/resume
investigations/{investigation_id}/lines/{seq}:
 POST investigations/{investigation_id}/steps/{seq}/remember
investigations/{investigation_id}/hand-off: GET escalations/{escalation_id}
investigations/{investigation_id}/hand-off/retry: POST escalations/{escalation_id}/retry
tool-calls: GET tool-calls
escalations: GET escalations
workflows: GET workflows | POST workflows | GET workflow-runs
workflows/{name}: GET workflows/{workflow} | GET workflows/{workflow}/versions
workflows/{name}/change: PUT workflows/{workflow}
workflows/{name}/remove: DELETE workflows/{workflow}
workflows/{name}/run: POST workflows/{workflow}/runs
workflow-runs/{run_id}: GET workflow-runs/{workflow_run_id}
 | GET workflow-runs/{workflow_run_id}/events
workflow-runs/{run_id}/{deed}: POST workflow-runs/{workflow_run_id}/decide
 | POST workflow-runs/{workflow_run_id}/cancel | POST workflow-runs/{workflow_run_id}/resume
people: GET people | POST people
people/{person_id}/link: POST people/{person_id}/link
people/{person_id}/change: PATCH people/{person_id}
people/{person_id}/sign-out: POST people/{person_id}/sign-out
people/{person_id}/remove: DELETE people/{person_id}
people/{person_id}/tie: PUT people/{person_id}/member
people/{person_id}/untie: DELETE people/{person_id}/member
scim: GET scim/tokens | POST scim/tokens | GET scim/groups
scim/{token_id}/revoke: DELETE scim/tokens/{token_id}
scim/groups/{group_id}: PUT scim/groups/{group_id}
keys: GET keys | POST keys
keys/{key_id}/revoke: DELETE keys/{key_id}
agents: GET agents | GET agents/{slug} | POST agents | GET subscriptions
agents/{slug}/change: PATCH agents/{slug}
agents/{slug}/keywords: PUT subscriptions | DELETE subscriptions
personas: GET personas | POST personas | GET escalation-channels
personas/of/{name}: GET personas/{persona} | PUT personas/{persona}
 | GET personas/{persona}/versions
personas/of/{name}/remove: DELETE personas/{persona}
personas/channels: POST escalation-channels
personas/channels/{name}/remove: DELETE escalation-channels/{name}
settings: GET settings | PATCH settings | GET redaction | PUT redaction
connectors: GET connectors | POST connectors | GET connectors/health
connectors/{name}: GET connectors/{connector} | GET connectors/{connector}/tools
connectors/{name}/change: PATCH connectors/{connector}
connectors/{name}/check: POST connectors/{connector}/check
connectors/{name}/restart: POST connectors/{connector}/restart
connectors/{name}/try: POST connectors/{connector}/tools/{tool}
connectors/{name}/remove: DELETE connectors/{connector}
connectors/{name}/sign-in: GET connectors/{connector}/sign-in
connectors/{name}/sign-in/{deed}: POST connectors/{connector}/sign-in
 | POST connectors/{connector}/sign-in/poll | DELETE connectors/{connector}/sign-in
sources: GET sources | POST sources
sources/{source_id}: GET sources/{knowledge_id}
sources/{source_id}/{deed}: PATCH sources/{knowledge_id} | DELETE sources/{knowledge_id}
 | POST sources/{knowledge_id}/sync | POST sources/{knowledge_id}/preview
channels: GET channels | POST channels | GET channels/{channel_id}
 | GET channels/{channel_id}/ties
channels/{channel_id}/change: PATCH channels/{channel_id}
channels/{channel_id}/{deed}: DELETE channels/{channel_id} | POST channels/{channel_id}/check
 | POST channels/{channel_id}/codes | DELETE channels/{channel_id}/ties/{person_id}
ticket-sources: GET ticket-sources | POST ticket-sources | GET ticket-sources/{source_id}
ticket-sources/{source_id}/change: PATCH ticket-sources/{source_id}
ticket-sources/{source_id}/{deed}: DELETE ticket-sources/{source_id}
 | POST ticket-sources/{source_id}/poll
ticket-sources/{name}/sign-in: GET ticket-sources/{source_id}/sign-in
ticket-sources/{name}/sign-in/{deed}: POST ticket-sources/{source_id}/sign-in
 | POST ticket-sources/{source_id}/sign-in/poll | DELETE ticket-sources/{source_id}/sign-in
webhooks: GET webhooks | POST webhooks | GET incoming-webhooks
webhooks/{webhook_id}: GET webhooks/{webhook_id}/deliveries
webhooks/{webhook_id}/remove: DELETE webhooks/{webhook_id}
webhooks/incoming: POST incoming-webhooks
webhooks/incoming/{webhook_id}/rotate: POST incoming-webhooks/{incoming_id}/rotate
webhooks/incoming/{webhook_id}/remove: DELETE incoming-webhooks/{incoming_id}
widget: GET widget | PUT widget
widget/remove: DELETE widget
costs: GET costs
stats: GET stats
transfer/export: GET export
transfer/import: POST import
upkeep: GET consolidations | GET consolidations/{run_id} | GET reindex | GET rebuilds/{rebuild_id}
upkeep/consolidate: POST consolidations
upkeep/reindex: POST reindex
upkeep/rebuild: POST rebuilds
audit/checks: GET status | GET stats/orphans
networks: GET networks | POST networks | GET negotiations/measures | GET feed/health
networks/maintain: POST feed/maintenance
networks/{network_id}: GET networks/{network_id} | GET networks/{network_id}/members
 | GET networks/{network_id}/invites
networks/{network_id}/change: PATCH networks/{network_id}
networks/{network_id}/remove: DELETE networks/{network_id}
networks/{network_id}/invites: POST networks/{network_id}/invites
networks/{network_id}/invites/{invite_id}/revoke: DELETE networks/{network_id}/invites/{invite_id}
networks/{network_id}/members/{member_id}/let-go:
 DELETE networks/{network_id}/members/{member_id}
own: GET feed
own/join: POST networks/join
own/intents: GET intents | POST intents | GET intents/{intent_id}
own/intents/{intent_id}/change: PATCH intents/{intent_id}
own/intents/{intent_id}/{deed}: DELETE intents/{intent_id} | POST intents/{intent_id}/pause
 | POST intents/{intent_id}/resume | POST intents/{intent_id}/refresh
 | POST intents/{intent_id}/answer
own/profile: GET profiles/me | PUT profiles/me | GET profiles/me/premises
own/profile/premises: POST profiles/me/premises
own/profile/premises/{premise_id}/retract: DELETE profiles/me/premises/{premise_id}
own/opportunities: GET opportunities
own/opportunities/{opportunity_id}: GET opportunities/{opportunity_id}
own/opportunities/{opportunity_id}/{deed}: POST opportunities/{opportunity_id}/send
 | POST opportunities/{opportunity_id}/accept | POST opportunities/{opportunity_id}/reject
own/negotiations: GET negotiations
own/negotiations/{negotiation_id}: GET negotiations/{negotiation_id}
own/negotiations/{negotiation_id}/answer: POST negotiations/{negotiation_id}/answer
own/negotiations/{negotiation_id}/verify: GET negotiations/{negotiation_id}/export
own/contacts: GET contacts | POST contacts | POST contacts/search
own/contacts/import: POST contacts/import
own/contacts/{contact_id}: GET contacts/{contact_id}
own/contacts/{contact_id}/remove: DELETE contacts/{contact_id}
own/contacts/{contact_id}/invite: POST contacts/{contact_id}/invite
own/integrations: GET integrations | POST integrations
own/integrations/{integration_id}/sync: POST integrations/{integration_id}/sync
own/integrations/{integration_id}/remove: DELETE integrations/{integration_id}
"""
"""By page, below /console: what the API does that the page does or shows."""

REASONS = {
    "Programs of agents write and ask so; people read what came of it on the pages above.": """
POST memories | POST memories/refresh | POST events | GET events | GET events/{event_id}
POST nodes | DELETE nodes/{node_id} | PUT nodes/{node_id}/compiled-truth
PUT nodes/{node_id}/labels | POST relationships | POST query/nodes | GET nodes/{node_id}/lineage
POST conversations/messages | POST context | POST context/session | POST context/compact
POST reports | GET reports/latest | POST tasks | PATCH tasks/{task_id}
POST tasks/{task_id}/complete | POST agents/{slug}/knowledge | GET agents/{slug}/knowledge
PUT checkpoints | GET checkpoints | DELETE checkpoints | PUT checkpoints/writes
""",
    "A program that talks for somebody asks so; customers have the widget, people its chats.": """
POST chat | GET chat/{turn_id} | GET chat/{turn_id}/chunks | GET chat/{turn_id}/events
GET chat/{turn_id}/lines | POST chat/{turn_id}/abort | GET chat/actions/{action_id}
POST chat/actions/{action_id}
""",
    "The widget's own script calls these, on a customer's page.": """
GET widget/{widget_id} | POST widget/{widget_id}/sessions | GET widget/{widget_id}/session
POST widget/{widget_id}/messages | GET widget/{widget_id}/turns/{turn_id}
GET widget/{widget_id}/challenge | POST widget/{widget_id}/challenge
POST widget/{widget_id}/resolve | POST widget/{widget_id}/hand-off
GET widget/{widget_id}/hand-off | GET widget/{widget_id}/hand-off/events
""",
    "Services outside send here, signed.": """
POST incoming-webhooks/{incoming_id}/memories | GET ticket-sources/{source_id}/events
POST ticket-sources/{source_id}/events | POST channels/{channel_id}/events
""",
    "Members' programs take part in discovery so, for who has no page of their own.": """
POST discover | POST opportunities | POST opportunities/introduce | GET members/{member_id}
POST negotiations | POST negotiations/{negotiation_id}/advance
GET negotiations/{negotiation_id}/inputs | GET negotiations/{negotiation_id}/events
POST agents/{agent}/negotiations/pickup | PUT agents/{agent}/negotiations/key
POST agents/{agent}/negotiations/{negotiation_id}/respond
GET intents/{intent_id}/networks | POST intents/{intent_id}/networks
DELETE intents/{intent_id}/networks/{network_id} | POST networks/{network_id}/join
POST networks/{network_id}/leave | PUT networks/{network_id}/prompt
PATCH profiles/me | POST profiles/me/generate
""",
    "Machines ask these.": "POST claim | GET whoami | GET /healthz | GET /readyz",
}
"""Why no page does what the API does."""

READING = (
    "POST search",
    "POST query/subgraph",
    "POST conversations/search",
    "POST forget/{forgetting_id}/proof",
)
"""Calls that change nothing, though they have a body."""


def listed(text: str) -> Iterator[str]:
    for part in text.replace("\n", " | ").split(" | "):
        if part.strip():
            yield part.strip()


def lines_of_pages() -> list[tuple[str, list[str]]]:
    lines = PAGES.replace("\n ", " ").strip().splitlines()
    return [(page, list(listed(rest))) for page, _, rest in (line.partition(":") for line in lines)]


def by_page() -> dict[str, list[str]]:
    return dict(lines_of_pages())


def named(route: str) -> str:
    """Return a route as the lists name it: without /v1."""
    method, _, path = route.partition(" ")
    return f"{method} {path.removeprefix('/v1/')}"


def _reads(route: str) -> bool:
    return route.startswith("GET ") or route in READING


def test_every_route_of_the_api_is_on_a_page_or_has_a_reason() -> None:
    there = {
        named(f"{method.upper()} {path}")
        for path, methods in document()["paths"].items()
        for method in methods
    }
    pages = Counter(page for page, _ in lines_of_pages())
    assert [page for page, times in pages.items() if times > 1] == []
    decided = Counter(route for _, routes in lines_of_pages() for route in routes)
    decided.update(route for text in REASONS.values() for route in listed(text))
    assert sorted(there - decided.keys()) == []
    assert sorted(decided.keys() - there) == []
    assert [route for route, times in decided.items() if times > 1] == []


def test_every_page_that_is_named_exists_and_takes_what_it_does() -> None:
    pages: dict[str, set[str]] = {}
    for module in NOUNS["console"]:
        for route in import_module(module).routes.routes:
            if isinstance(route, APIRoute):
                name = route.path.removeprefix("/console/")
                pages.setdefault(name, set()).update(route.methods or ())
    wrong = [
        f"{page}: {route}"
        for page, routes in by_page().items()
        for route in routes
        if not pages.get(page) or not (_reads(route) or "POST" in pages[page])
    ]
    assert wrong == []
    assert NOUNS["console"][-1].endswith(".nowhere")  # a page after it is never reached
