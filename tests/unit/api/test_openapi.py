import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate
from tests.unit.api.fakes import Client, World

from cairn.api.fields import Body
from cairn.api.problems import KINDS

ROOT = Path(__file__).parents[3]
OPEN = {
    "/healthz",
    "/readyz",
    "/v1/claim",
    "/v1/ticket-sources/{source_id}/events",
    "/v1/channels/{channel_id}/events",
    "/v1/incoming-webhooks/{incoming_id}/memories",
    "/v1/widget/{widget_id}",
    "/v1/widget/{widget_id}/sessions",
    "/v1/widget/{widget_id}/session",
    "/v1/widget/{widget_id}/messages",
    "/v1/widget/{widget_id}/turns/{turn_id}",
    "/v1/widget/{widget_id}/challenge",
    "/v1/widget/{widget_id}/hand-off",
    "/v1/widget/{widget_id}/hand-off/events",
    "/v1/widget/{widget_id}/resolve",
}


@cache
def document() -> dict[str, Any]:
    return Client(World(), key=None).get("/openapi.json").json()


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method, path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_document_needs_no_key_and_names_every_noun() -> None:
    paths = set(document()["paths"])
    assert {
        "/v1/intents",
        "/v1/intents/{intent_id}",
        "/v1/intents/{intent_id}/answer",
        "/v1/intents/{intent_id}/pause",
        "/v1/intents/{intent_id}/refresh",
        "/v1/intents/{intent_id}/resume",
        "/v1/profiles/me",
        "/v1/profiles/me/generate",
        "/v1/profiles/me/premises",
        "/v1/profiles/me/premises/{premise_id}",
        "/v1/feed",
        "/v1/feed/health",
        "/v1/feed/maintenance",
        "/v1/networks",
        "/v1/networks/join",
        "/v1/networks/{network_id}",
        "/v1/networks/{network_id}/join",
        "/v1/networks/{network_id}/leave",
        "/v1/networks/{network_id}/prompt",
        "/v1/networks/{network_id}/members",
        "/v1/networks/{network_id}/members/{member_id}",
        "/v1/networks/{network_id}/invites",
        "/v1/networks/{network_id}/invites/{invite_id}",
        "/v1/members/{member_id}",
        "/v1/intents/{intent_id}/networks",
        "/v1/intents/{intent_id}/networks/{network_id}",
        "/v1/contacts",
        "/v1/contacts/search",
        "/v1/contacts/import",
        "/v1/contacts/{contact_id}",
        "/v1/contacts/{contact_id}/invite",
        "/v1/integrations",
        "/v1/integrations/{integration_id}",
        "/v1/integrations/{integration_id}/sync",
        "/v1/memories",
        "/v1/memories/refresh",
        "/v1/namespaces",
        "/v1/memories/{memory_id}",
        "/v1/memories/{memory_id}/history",
        "/v1/memories/{memory_id}/merge",
        "/v1/memories/{memory_id}/move",
        "/v1/memories/{memory_id}/restore",
        "/v1/memories/{memory_id}/pin",
        "/v1/memories/{memory_id}/never-recall",
        "/v1/events",
        "/v1/events/{event_id}",
        "/v1/conversations",
        "/v1/conversations/messages",
        "/v1/conversations/search",
        "/v1/conversations/{conversation_id}",
        "/v1/conversations/{conversation_id}/keys/{key_id}",
        "/v1/checkpoints",
        "/v1/checkpoints/writes",
        "/v1/widget",
        "/v1/widget/{widget_id}",
        "/v1/widget/{widget_id}/sessions",
        "/v1/widget/{widget_id}/session",
        "/v1/widget/{widget_id}/messages",
        "/v1/widget/{widget_id}/turns/{turn_id}",
        "/v1/widget/{widget_id}/challenge",
        "/v1/widget/{widget_id}/hand-off",
        "/v1/widget/{widget_id}/hand-off/events",
        "/v1/widget/{widget_id}/resolve",
        "/v1/chat",
        "/v1/chat/{turn_id}",
        "/v1/chat/{turn_id}/chunks",
        "/v1/chat/{turn_id}/events",
        "/v1/chat/{turn_id}/abort",
        "/v1/chat/{turn_id}/lines",
        "/v1/chats",
        "/v1/chats/live",
        "/v1/chats/numbers",
        "/v1/chats/{chat_id}",
        "/v1/chats/{chat_id}/lines",
        "/v1/chats/{chat_id}/accept",
        "/v1/chats/{chat_id}/say",
        "/v1/chats/{chat_id}/release",
        "/v1/chats/{chat_id}/return",
        "/v1/chats/{chat_id}/close",
        "/v1/chats/{chat_id}/ticket",
        "/v1/chat/actions/{action_id}",
        "/v1/publications",
        "/v1/publications/host",
        "/v1/publications/{publication_id}",
        "/v1/reports",
        "/v1/reports/latest",
        "/v1/subscriptions",
        "/v1/nodes",
        "/v1/nodes/{node_id}",
        "/v1/nodes/{node_id}/compiled-truth",
        "/v1/relationships",
        "/v1/entities",
        "/v1/entities/{entity_id}",
        "/v1/entities/{entity_id}/aliases",
        "/v1/entities/{entity_id}/merge",
        "/v1/entities/{entity_id}/split",
        "/v1/documents",
        "/v1/documents/{document_id}",
        "/v1/uploads",
        "/v1/ingestions/{ingestion_id}",
        "/v1/search",
        "/v1/searches",
        "/v1/searches/{search_id}",
        "/v1/searches/{search_id}/feedback",
        "/v1/query/subgraph",
        "/v1/query/nodes",
        "/v1/nodes/{node_id}/labels",
        "/v1/nodes/{node_id}/lineage",
        "/v1/profile",
        "/v1/summaries",
        "/v1/summaries/{summary_id}",
        "/v1/context",
        "/v1/context/compact",
        "/v1/context/session",
        "/v1/export",
        "/v1/import",
        "/v1/ledger",
        "/v1/ledger/verify",
        "/v1/scim/groups",
        "/v1/scim/groups/{group_id}",
        "/v1/scim/tokens",
        "/v1/scim/tokens/{token_id}",
        "/v1/people",
        "/v1/people/{person_id}",
        "/v1/people/{person_id}/member",
        "/v1/people/{person_id}/sign-out",
        "/v1/people/{person_id}/link",
        "/v1/keys",
        "/v1/keys/{key_id}",
        "/v1/whoami",
        "/v1/agents",
        "/v1/agents/{slug}",
        "/v1/agents/{slug}/knowledge",
        "/v1/claim",
        "/v1/status",
        "/v1/consolidations",
        "/v1/consolidations/{run_id}",
        "/v1/reindex",
        "/v1/taint",
        "/v1/taints",
        "/v1/taints/{taint_id}",
        "/v1/taints/{taint_id}/lift",
        "/v1/forget",
        "/v1/forget/{forgetting_id}",
        "/v1/forget/{forgetting_id}/proof",
        "/v1/rebuilds",
        "/v1/rebuilds/{rebuild_id}",
        "/v1/tasks",
        "/v1/tasks/{task_id}",
        "/v1/tasks/{task_id}/complete",
        "/v1/webhooks",
        "/v1/webhooks/{webhook_id}",
        "/v1/webhooks/{webhook_id}/deliveries",
        "/v1/incoming-webhooks",
        "/v1/incoming-webhooks/{incoming_id}",
        "/v1/incoming-webhooks/{incoming_id}/rotate",
        "/v1/incoming-webhooks/{incoming_id}/memories",
        "/v1/connectors",
        "/v1/connectors/health",
        "/v1/connectors/{connector}",
        "/v1/connectors/{connector}/restart",
        "/v1/connectors/{connector}/check",
        "/v1/connectors/{connector}/sign-in",
        "/v1/connectors/{connector}/sign-in/poll",
        "/v1/connectors/{connector}/tools",
        "/v1/connectors/{connector}/tools/{tool}",
        "/v1/costs",
        "/v1/investigations",
        "/v1/investigations/resume",
        "/v1/investigations/{investigation_id}",
        "/v1/investigations/{investigation_id}/steps",
        "/v1/investigations/{investigation_id}/events",
        "/v1/investigations/{investigation_id}/resume",
        "/v1/tool-calls",
        "/v1/tool-calls/{action_id}",
        "/v1/tickets",
        "/v1/tickets/queue",
        "/v1/tickets/{ticket_id}",
        "/v1/tickets/{ticket_id}/messages",
        "/v1/tickets/{ticket_id}/requeue",
        "/v1/sources",
        "/v1/sources/{knowledge_id}",
        "/v1/sources/{knowledge_id}/sync",
        "/v1/sources/{knowledge_id}/preview",
        "/v1/channels",
        "/v1/channels/{channel_id}",
        "/v1/channels/{channel_id}/check",
        "/v1/channels/{channel_id}/ties",
        "/v1/channels/{channel_id}/codes",
        "/v1/channels/{channel_id}/ties/{person_id}",
        "/v1/channels/{channel_id}/events",
        "/v1/ticket-sources",
        "/v1/ticket-sources/{source_id}",
        "/v1/ticket-sources/{source_id}/poll",
        "/v1/ticket-sources/{source_id}/sign-in",
        "/v1/ticket-sources/{source_id}/sign-in/poll",
        "/v1/ticket-sources/{source_id}/events",
        "/v1/personas",
        "/v1/personas/{persona}",
        "/v1/personas/{persona}/versions",
        "/v1/approvals",
        "/v1/approvals/{approval_id}",
        "/v1/approvals/{approval_id}/approve",
        "/v1/approvals/{approval_id}/reject",
        "/v1/approvals/{approval_id}/edit",
        "/v1/escalations",
        "/v1/escalations/{escalation_id}",
        "/v1/escalations/{escalation_id}/retry",
        "/v1/escalation-channels",
        "/v1/escalation-channels/{name}",
        "/v1/investigations/{investigation_id}/rating",
        "/v1/investigations/{investigation_id}/dispute",
        "/v1/investigations/{investigation_id}/opinions",
        "/v1/investigations/{investigation_id}/steps/{seq}/remember",
        "/v1/candidates",
        "/v1/candidates/{candidate_id}",
        "/v1/candidates/{candidate_id}/accept",
        "/v1/candidates/{candidate_id}/edit",
        "/v1/candidates/{candidate_id}/reject",
        "/v1/negotiations",
        "/v1/negotiations/measures",
        "/v1/negotiations/{negotiation_id}",
        "/v1/negotiations/{negotiation_id}/advance",
        "/v1/negotiations/{negotiation_id}/answer",
        "/v1/negotiations/{negotiation_id}/inputs",
        "/v1/negotiations/{negotiation_id}/events",
        "/v1/negotiations/{negotiation_id}/export",
        "/v1/agents/{agent}/negotiations/pickup",
        "/v1/agents/{agent}/negotiations/{negotiation_id}/respond",
        "/v1/agents/{agent}/negotiations/key",
        "/v1/workflows",
        "/v1/workflows/{workflow}",
        "/v1/workflows/{workflow}/versions",
        "/v1/workflows/{workflow}/runs",
        "/v1/workflow-runs",
        "/v1/workflow-runs/{workflow_run_id}",
        "/v1/workflow-runs/{workflow_run_id}/events",
        "/v1/workflow-runs/{workflow_run_id}/decide",
        "/v1/workflow-runs/{workflow_run_id}/cancel",
        "/v1/workflow-runs/{workflow_run_id}/resume",
        "/v1/discover",
        "/v1/opportunities",
        "/v1/opportunities/introduce",
        "/v1/opportunities/{opportunity_id}",
        "/v1/opportunities/{opportunity_id}/send",
        "/v1/opportunities/{opportunity_id}/accept",
        "/v1/opportunities/{opportunity_id}/reject",
        "/v1/proposals",
        "/v1/proposals/{node_id}/accept",
        "/v1/proposals/{node_id}/reject",
        "/v1/redaction",
        "/v1/settings",
        "/v1/grants",
        "/v1/grants/{grant_id}",
        "/v1/stats",
        "/v1/logs",
        "/v1/stats/orphans",
        "/healthz",
        "/readyz",
    } == paths


def test_every_route_documents_its_answers_and_its_problems() -> None:
    for method, path, operation in operations():
        where = f"{method} {path}"
        statuses = set(operation["responses"])
        assert operation["summary"] and operation["tags"], where
        assert statuses & {"200", "201", "202"}, where
        expected = {"500", "503"} if path in OPEN else {"401", "403", "422", "429", "500", "503"}
        if "requestBody" in operation:
            expected |= {"400", "413", "415", "422"}
        if "{" in path:
            expected |= {"404"}
        assert expected <= statuses, where
        for status in statuses - {"200", "201", "202"}:
            assert list(operation["responses"][status]["content"]) == ["application/problem+json"]


def test_every_list_of_an_answer_says_what_is_in_it() -> None:
    schemas = document()["components"]["schemas"]
    lists = {
        f"{name}.{field}": value
        for name, schema in schemas.items()
        for field, value in schema.get("properties", {}).items()
        if value.get("type") == "array"
    }
    assert lists
    assert not [where for where, value in lists.items() if not value.get("items")]


def test_every_operation_has_a_short_id_of_its_own() -> None:
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(ids) == len(set(ids))
    assert not [each for each in ids if not re.fullmatch(r"[a-z]+(_[a-z]+)*", each)]


def test_every_tag_is_described_and_used() -> None:
    described = [tag["name"] for tag in document()["tags"]]
    used = {tag for _, _, operation in operations() for tag in operation["tags"]}
    assert sorted(described) == sorted(used)


def test_every_body_has_an_example_or_is_a_few_fields() -> None:
    for method, path, operation in operations():
        if "requestBody" in operation and path in {"/v1/memories", "/v1/documents", "/v1/search"}:
            content = operation["requestBody"]["content"]["application/json"]
            assert content["examples"], (method, path)


def bodies(base: type[Body] = Body) -> list[type[Body]]:
    document()
    return [body for sub in base.__subclasses__() for body in (sub, *bodies(sub))]


def test_every_example_of_a_body_would_be_accepted() -> None:
    shown = [(body, body.model_json_schema().get("examples", [])) for body in bodies()]
    assert len([one for one, given in shown if given]) >= 6
    for one, given in shown:
        for example in given:
            one.model_validate(json.loads(json.dumps(example)))


def test_every_example_fits_its_schema() -> None:
    parts = {"components": document()["components"]}
    for _, _, operation in operations():
        told = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (each for item in told for each in item.get("content", {}).values()):
            given = [item["value"] for item in content.get("examples", {}).values()]
            for example in [*given, *([content["example"]] if "example" in content else [])]:
                validate(example, {**content["schema"], **parts})


def test_no_body_is_named_by_where_its_code_is() -> None:
    schemas = document()["components"]["schemas"]
    assert not [schema for schema in schemas if schema.startswith("cairn__api")]


def test_every_reference_leads_somewhere() -> None:
    schemas = document()["components"]["schemas"]
    references = set(re.findall(r"#/components/schemas/([A-Za-z0-9_.\-]+)", str(document())))
    assert references
    assert references <= set(schemas)
    assert "HTTPValidationError" not in schemas


def test_every_example_of_a_batch_item_would_be_accepted() -> None:
    content = document()["paths"]["/v1/memories"]["post"]["requestBody"]["content"]
    for example in content["application/json"]["examples"].values():
        response = Client(World()).post("/v1/memories", example["value"])
        assert response.status_code in {200, 201}
        assert response.json().get("counts", {}).get("rejected", 0) == 0


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.code)
def test_the_error_guide_lists_every_code_with_its_status(kind: Any) -> None:
    guide = (ROOT / "docs" / "use" / "errors.md").read_text(encoding="utf-8")
    row = next((line for line in guide.splitlines() if f"`{kind.urn}`" in line), "")
    assert str(kind.status) in row
    if kind.asl_error and kind.code != "internal":
        assert f"`{kind.asl_error}`" in row


def test_the_api_guide_names_every_route() -> None:
    guide = (ROOT / "docs" / "use" / "api.md").read_text(encoding="utf-8")
    for method, path, _ in operations():
        plain = re.sub(r"\{[a-z]+_id\}", "{id}", path)
        assert f"{method.upper()} {plain}" in guide, (method, path)


def test_a_query_parameter_that_a_path_does_not_know_or_has_twice_is_refused_everywhere() -> None:
    client = Client(World(remaining=10**9))
    for method, path, operation in operations():
        if path == "/v1/ticket-sources/{source_id}/events":  # help desks add what they like
            continue
        address = re.sub(r"\{[^}]*\}", "00000000-0000-0000-0000-000000000009", path)
        known = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"]
        strange = client.request(method.upper(), f"{address}?owner-of-it=x")
        assert strange.status_code == 422, (method, path)
        assert strange.json()["errors"][0]["location"] == "query.owner-of-it"
        assert all(name in strange.json()["errors"][0]["message"] for name in known)
        for name in known:
            twice = client.request(method.upper(), f"{address}?{name}=1&{name}=2")
            assert twice.json()["errors"][0]["location"] == f"query.{name}", (method, path)


def test_a_wrong_method_is_told_every_method_of_the_path() -> None:
    client = Client(World(remaining=10**9))
    for path, methods in document()["paths"].items():
        address = re.sub(r"\{[^}]*\}", "00000000-0000-0000-0000-000000000009", path)
        refused = client.request("TRACE", address)
        assert refused.status_code == 405
        allowed = set(refused.headers["allow"].split(", "))
        assert allowed >= {method.upper() for method in methods}, path
