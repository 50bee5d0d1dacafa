"""What each role of a person may do: every route has a decision, and the database holds to it.

A new route, a new noun that is read, or a new type of ledger entry fails here until somebody has
decided whose it is.
"""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from fastapi.routing import APIRoute
from tests.unit.structure.test_entry_types import BY_STATE, ENTRY_TYPE, listed

from cairn.api.nouns import NOUNS
from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.plugins.postgres import Database

ROLES = ("reader", "reviewer", "operator", "admin", "owner")
"""Each may what those before it may."""
NO_PAGES = ("oauth", ".well-known", "mcp", "console", "", "claim", "healthz", "readyz", "metrics")
"""Doors of their own: for programs, for nobody yet, or the pages themselves."""

WRITES = """
reader: POST conversations/search | POST search | POST context | POST context/session
 | POST context/compact | POST query/nodes | POST query/subgraph | POST discover
 | POST searches/{search_id}/feedback | POST contacts/search
reviewer: PATCH memories/{memory_id} > memory.corrected
 | PUT memories/{memory_id}/pin > memory.pinned | DELETE memories/{memory_id}/pin > memory.pinned
 | PUT memories/{memory_id}/never-recall > memory.withheld
 | DELETE memories/{memory_id}/never-recall > memory.released
operator: POST memories > memory.remembered memory.corroborated
 | POST memories/refresh > memory.refreshed | DELETE memories/{memory_id} > memory.deleted
 | POST memories/{memory_id}/merge > memory.merged | POST memories/{memory_id}/move > memory.moved
 | POST memories/{memory_id}/restore > memory.restored
 | POST events > event.observed | POST conversations/messages > conversation.opened message.recorded
 | PATCH conversations/{conversation_id} > conversation.changed
 | POST chats > handoff.requested handoff.accepted
 | POST chats/{chat_id}/accept > handoff.accepted | POST chats/{chat_id}/say
 | POST chats/{chat_id}/release > handoff.released | POST chats/{chat_id}/return > handoff.returned
 | POST chats/{chat_id}/close > handoff.closed
 | POST chats/{chat_id}/ticket > handoff.ticketed ticket.received
 | POST chat > message.recorded | POST chat/{turn_id}/abort | POST chat/actions/{action_id}
 | PUT checkpoints | PUT checkpoints/writes | DELETE checkpoints
 | POST tasks > task.started | PATCH tasks/{task_id} > task.updated
 | POST tasks/{task_id}/complete > task.completed | POST reports > report.written
 | POST nodes > node.written | PUT nodes/{node_id}/labels > node.labelled
 | PUT nodes/{node_id}/compiled-truth > node.compiled | DELETE nodes/{node_id} > node.deleted
 | POST relationships > edge.written | POST entities/{entity_id}/aliases > entity.alias_added
 | DELETE entities/{entity_id}/aliases > entity.alias_removed
 | POST entities/{entity_id}/merge > entity.merged | POST entities/{entity_id}/split > entity.split
 | PUT subscriptions > subscription.changed | DELETE subscriptions > subscription.changed
 | POST documents > document.received | DELETE documents/{document_id} > document.deleted
 | POST publications > publication.published
 | DELETE publications/{publication_id} > publication.withdrawn
 | POST uploads | POST investigations > investigation.started
 | POST investigations/resume > investigation.rerun
 | POST investigations/{investigation_id}/resume > investigation.rerun
 | POST investigations/{investigation_id}/rating > investigation.rated
 | POST investigations/{investigation_id}/dispute > investigation.disputed
 | POST tickets > ticket.received | POST tickets/{ticket_id}/messages > ticket.message_received
 | POST tickets/{ticket_id}/requeue > ticket.requeued
 | POST approvals/{approval_id}/approve > approval.granted
 | POST approvals/{approval_id}/reject > approval.rejected
 | POST approvals/{approval_id}/edit > approval.edited
 | POST escalations/{escalation_id}/retry > escalation.queued
 | POST candidates/{candidate_id}/accept > resolution.accepted document.received
 | POST candidates/{candidate_id}/edit > resolution.edited
 | POST candidates/{candidate_id}/reject > resolution.rejected
 | POST workflows/{workflow}/runs > workflow.started
 | POST workflow-runs/{workflow_run_id}/decide > workflow.decided
 | POST workflow-runs/{workflow_run_id}/cancel > workflow.cancelled workflow.ended
 | POST workflow-runs/{workflow_run_id}/resume > workflow.resumed
 | POST opportunities > opportunity.found
 | POST opportunities/introduce > opportunity.found
 | POST opportunities/{opportunity_id}/send > opportunity.moved
 | POST opportunities/{opportunity_id}/accept > opportunity.moved opportunity.agreed
 | POST opportunities/{opportunity_id}/reject > opportunity.moved
 | PUT profiles/me > member.profile_written | PATCH profiles/me > member.profile_written
 | POST profiles/me/generate > member.profile_written | POST profiles/me/premises > premise.added
 | DELETE profiles/me/premises/{premise_id} > premise.retracted
 | POST intents > intent.created | PATCH intents/{intent_id} > intent.updated
 | DELETE intents/{intent_id} > intent.changed | POST intents/{intent_id}/pause > intent.changed
 | POST intents/{intent_id}/resume > intent.changed
 | POST intents/{intent_id}/refresh > intent.changed
 | POST intents/{intent_id}/answer > intent.updated
 | POST intents/{intent_id}/networks > intent.assigned
 | DELETE intents/{intent_id}/networks/{network_id} > intent.unassigned
 | POST negotiations > negotiation.begun
 | POST negotiations/{negotiation_id}/advance > negotiation.turn negotiation.ended
 | POST negotiations/{negotiation_id}/answer > negotiation.answered
 | POST agents/{agent}/negotiations/pickup
 | POST agents/{agent}/negotiations/{negotiation_id}/respond > negotiation.turn
 | PUT agents/{agent}/negotiations/key > negotiation.key_registered
 | POST contacts > contact.added member.registered | POST contacts/import > contact.added
 | DELETE contacts/{contact_id} > contact.removed
 | POST contacts/{contact_id}/invite > contact.invited
 | POST integrations > integration.added | POST integrations/{integration_id}/sync > contact.changed
 | DELETE integrations/{integration_id} > integration.removed
 | POST networks > network.made | POST networks/join > network.joined network.invite_used
 | PATCH networks/{network_id} > network.changed | DELETE networks/{network_id} > network.removed
 | POST networks/{network_id}/join > network.joined
 | POST networks/{network_id}/leave > network.left
 | PUT networks/{network_id}/prompt > network.prompted
 | DELETE networks/{network_id}/members/{member_id} > network.left
 | POST networks/{network_id}/invites > network.invited
 | DELETE networks/{network_id}/invites/{invite_id} > network.invite_revoked
admin: POST agents > agent.registered | PATCH agents/{slug} > agent.changed
 | POST agents/{slug}/knowledge > agent.baked
 | PUT conversations/{conversation_id}/keys/{key_id} > key.bound
 | DELETE keys/{key_id} > key.revoked
 | POST webhooks > webhook.created | DELETE webhooks/{webhook_id} > webhook.removed
 | POST incoming-webhooks > incoming_webhook.created
 | POST incoming-webhooks/{incoming_id}/rotate > incoming_webhook.rotated
 | DELETE incoming-webhooks/{incoming_id} > incoming_webhook.removed
 | POST incoming-webhooks/{incoming_id}/memories
 | PUT widget > widget.set | DELETE widget > widget.removed
 | POST channels > channel.added | PATCH channels/{channel_id} > channel.changed
 | DELETE channels/{channel_id} > channel.removed | POST channels/{channel_id}/check
 | POST channels/{channel_id}/codes | POST channels/{channel_id}/events
 | DELETE channels/{channel_id}/ties/{person_id} > channel.untied
 | POST widget/{widget_id}/sessions | POST widget/{widget_id}/messages
 | POST widget/{widget_id}/hand-off
 | POST widget/{widget_id}/challenge | POST widget/{widget_id}/resolve
 | POST connectors > connector.registered | PATCH connectors/{connector} > connector.changed
 | DELETE connectors/{connector} > connector.removed
 | POST connectors/{connector}/restart > connector.restarted
 | POST connectors/{connector}/check > connector.checked
 | POST connectors/{connector}/tools/{tool}
 | POST connectors/{connector}/sign-in > connector.sign_in_begun
 | POST connectors/{connector}/sign-in/poll > connector.signed_in
 | DELETE connectors/{connector}/sign-in > connector.signed_out
 | POST import > graph.node_upserted graph.edge_upserted
 | POST investigations/{investigation_id}/steps/{seq}/remember > graph.node_upserted
 | POST proposals/{node_id}/accept > graph.node_upserted | POST proposals/{node_id}/reject
 | POST taint > taint.applied | POST taints/{taint_id}/lift > taint.lifted
 | POST people > person.added person.link_made | POST people/{person_id}/link > person.link_made
 | POST people/{person_id}/sign-out > person.signed_out
 | PUT people/{person_id}/member > person.tied | DELETE people/{person_id}/member > person.untied
 | PATCH people/{person_id} > person.changed | DELETE people/{person_id} > person.removed
 | DELETE scim/tokens/{token_id} > scim.token_revoked
 | PUT scim/groups/{group_id} > scim.group_role_set
 | POST sources > source.added | PATCH sources/{knowledge_id} > source.changed
 | DELETE sources/{knowledge_id} > source.removed
 | POST sources/{knowledge_id}/sync | POST sources/{knowledge_id}/preview
 | POST ticket-sources > ticket_source.registered
 | PATCH ticket-sources/{source_id} > ticket_source.changed
 | DELETE ticket-sources/{source_id} > ticket_source.removed
 | POST ticket-sources/{source_id}/sign-in > ticket_source.sign_in_begun
 | POST ticket-sources/{source_id}/sign-in/poll > ticket_source.signed_in
 | DELETE ticket-sources/{source_id}/sign-in > ticket_source.signed_out
 | POST ticket-sources/{source_id}/poll | POST ticket-sources/{source_id}/events
 | POST personas > persona.changed | PUT personas/{persona} > persona.changed
 | DELETE personas/{persona} > persona.changed
 | POST workflows > workflow.changed | PUT workflows/{workflow} > workflow.changed
 | DELETE workflows/{workflow} > workflow.changed
 | POST escalation-channels > escalation.channel_added
 | DELETE escalation-channels/{name} > escalation.channel_removed
 | PUT redaction > redaction.changed | POST grants > grant.made
 | DELETE grants/{grant_id} > grant.revoked
 | PATCH settings > settings.changed | POST forget > subject.forgotten source.forgotten
 | POST forget/{forgetting_id}/proof | POST consolidations > consolidation.requested
 | POST rebuilds > rebuild.completed | POST reindex > reindex.requested | POST feed/maintenance
owner: POST keys > key.created | POST scim/tokens > scim.token_made
"""
"""The least role that may, by route below /v1, and the entries that the route is made of."""

READS = {
    "reader": "events memories namespaces nodes entities documents ingestions conversations "
    "checkpoints chat chats publications reports subscriptions summaries profile opportunities "
    "profiles "
    "intents searches negotiations agents whoami status stats tool-calls investigations "
    "approvals grants candidates proposals tickets feed contacts integrations workflows "
    "workflow-runs networks members personas settings",
    "admin": "webhooks incoming-webhooks connectors export ledger keys forget consolidations "
    "rebuilds reindex taints logs costs redaction escalations escalation-channels people "
    "sources ticket-sources widget scim channels",
}
"""The least role that reads, by noun; single routes ask for an admin where they say so."""


def decided() -> dict[str, tuple[str, Sequence[str]]]:
    decisions: dict[str, tuple[str, Sequence[str]]] = {}
    for role, _, routes in (
        line.partition(":") for line in WRITES.replace("\n |", " |").strip().splitlines()
    ):
        for item in routes.split(" | "):
            route, _, types = item.strip().partition(" > ")
            assert route not in decisions, route
            decisions[route] = (role, types.split())
    return decisions


def routes() -> Iterator[tuple[str, str]]:
    """Yield method and path below /v1 of every route that pages could stand before."""
    modules = dict.fromkeys(module for names in NOUNS.values() for module in names)
    for module in modules:
        for route in import_module(module).routes.routes:
            if isinstance(route, APIRoute) and route.path.startswith("/v1/"):
                path = route.path.removeprefix("/v1/")
                if path.partition("/")[0] not in NO_PAGES:
                    yield from ((method, path) for method in route.methods or ())


def test_every_route_that_changes_something_says_which_role_may() -> None:
    changing = {f"{method} {path}" for method, path in routes() if method not in ("GET", "HEAD")}
    assert changing == decided().keys()


def test_every_noun_that_is_read_says_which_role_may() -> None:
    nouns = {path.partition("/")[0] for method, path in routes() if method == "GET"}
    assert nouns == {noun for names in READS.values() for noun in names.split()}


@pytest.fixture(scope="module")
def may(database: Database) -> dict[str, set[str]]:
    """What the database lets each role append, of every type there is."""
    made = {f"{noun}.{state.value}" for noun, states in BY_STATE.items() for state in states}
    types = sorted(made | {name for name in listed() if ENTRY_TYPE.fullmatch(name)})
    allowed: dict[str, set[str]] = {}
    with database.connect_as_superuser() as root:
        for role in PersonRole:
            root.execute("SELECT set_config('cairn.person', %s, false)", [role.value])
            rows = root.execute(
                "SELECT name FROM unnest(%s::text[]) AS t(name) WHERE person_may(name)", [types]
            )
            allowed[role.value] = {name for (name,) in rows}
    return allowed


def test_the_database_lets_a_role_append_what_its_routes_are_made_of_and_no_less_role(
    may: dict[str, set[str]],
) -> None:
    wrong = [
        f"{role} {type_}: {route}"
        for route, (least, types) in decided().items()
        for type_ in types
        for role in ROLES
        if (ROLES.index(role) >= ROLES.index(least)) is not (type_ in may[role])
    ]
    assert wrong == []


def test_roles_grow_and_readers_append_nothing(may: dict[str, set[str]]) -> None:
    assert set(ROLES) == {role.value for role in PersonRole}
    assert may["reader"] == set()
    for less, more in pairwise(ROLES):
        assert may[less] <= may[more], less
    assert may["owner"] - may["admin"] == {"key.created", "scim.token_made"}


def test_what_an_operator_may_not_is_written_down(may: dict[str, set[str]]) -> None:
    refused = {name.partition(".")[0] for name in may["owner"] - may["operator"]}
    assert refused == {
        "agent", "channel", "connector", "consolidation", "escalation", "export", "grant",
        "graph", "incoming_webhook", "ingestion", "key", "person", "persona", "profile", "rebuild",
        "redaction", "reindex", "scim", "settings", "source", "subject", "summary", "taint",
        "ticket_source", "truth", "webhook", "widget", "workflow", "workspace",
    }  # fmt: skip
