"""Keys bound to a client, at every route of the API: the database lets nobody across.

Routes are read from the description of the API, so that a new one is asked, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.plugins.waiting import eventually
from tests.support.front import mcp
from tests.support.openapi import document

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    import httpx
    from tests.integration.storage.test_search_front import Door

door = test_search_front.door
CANARY = "brasskey"
WHY = "They say so."

FOR_CLIENTS = {
    "POST /v1/negotiations",
    "GET /v1/negotiations",
    "GET /v1/negotiations/{negotiation_id}",
    "POST /v1/negotiations/{negotiation_id}/advance",
    "POST /v1/negotiations/{negotiation_id}/answer",
    "GET /v1/negotiations/{negotiation_id}/inputs",
    "GET /v1/negotiations/{negotiation_id}/events",
    "GET /v1/negotiations/{negotiation_id}/export",
    "POST /v1/agents/{agent}/negotiations/pickup",
    "POST /v1/agents/{agent}/negotiations/{negotiation_id}/respond",
    "PUT /v1/agents/{agent}/negotiations/key",
    "POST /v1/memories",
    "GET /v1/memories",
    "POST /v1/memories/refresh",
    "GET /v1/namespaces",
    "GET /v1/memories/{memory_id}",
    "GET /v1/memories/{memory_id}/history",
    "PATCH /v1/memories/{memory_id}",
    "DELETE /v1/memories/{memory_id}",
    "POST /v1/memories/{memory_id}/merge",
    "POST /v1/memories/{memory_id}/move",
    "POST /v1/memories/{memory_id}/restore",
    "PUT /v1/memories/{memory_id}/pin",
    "DELETE /v1/memories/{memory_id}/pin",
    "PUT /v1/memories/{memory_id}/never-recall",
    "DELETE /v1/memories/{memory_id}/never-recall",
    "GET /v1/searches",
    "POST /v1/events",
    "GET /v1/events",
    "GET /v1/events/{event_id}",
    "POST /v1/conversations/messages",
    "GET /v1/conversations",
    "GET /v1/conversations/{conversation_id}",
    "POST /v1/conversations/search",
    "PUT /v1/checkpoints",
    "PUT /v1/checkpoints/writes",
    "GET /v1/checkpoints",
    "DELETE /v1/checkpoints",
    "POST /v1/discover",
    "POST /v1/opportunities",
    "POST /v1/opportunities/introduce",
    "GET /v1/opportunities",
    "GET /v1/opportunities/{opportunity_id}",
    "POST /v1/opportunities/{opportunity_id}/send",
    "POST /v1/opportunities/{opportunity_id}/accept",
    "POST /v1/opportunities/{opportunity_id}/reject",
    "POST /v1/intents",
    "GET /v1/intents",
    "GET /v1/intents/{intent_id}",
    "PATCH /v1/intents/{intent_id}",
    "DELETE /v1/intents/{intent_id}",
    "POST /v1/intents/{intent_id}/pause",
    "POST /v1/intents/{intent_id}/resume",
    "POST /v1/intents/{intent_id}/refresh",
    "POST /v1/intents/{intent_id}/answer",
    "GET /v1/profiles/me",
    "PUT /v1/profiles/me",
    "PATCH /v1/profiles/me",
    "POST /v1/profiles/me/generate",
    "GET /v1/profiles/me/premises",
    "POST /v1/profiles/me/premises",
    "DELETE /v1/profiles/me/premises/{premise_id}",
    "GET /v1/feed",
    "GET /v1/feed/health",
    "POST /v1/networks",
    "GET /v1/networks",
    "POST /v1/networks/join",
    "GET /v1/networks/{network_id}",
    "PATCH /v1/networks/{network_id}",
    "DELETE /v1/networks/{network_id}",
    "POST /v1/networks/{network_id}/join",
    "POST /v1/networks/{network_id}/leave",
    "PUT /v1/networks/{network_id}/prompt",
    "GET /v1/networks/{network_id}/members",
    "DELETE /v1/networks/{network_id}/members/{member_id}",
    "POST /v1/networks/{network_id}/invites",
    "GET /v1/networks/{network_id}/invites",
    "DELETE /v1/networks/{network_id}/invites/{invite_id}",
    "GET /v1/members/{member_id}",
    "GET /v1/intents/{intent_id}/networks",
    "POST /v1/intents/{intent_id}/networks",
    "DELETE /v1/intents/{intent_id}/networks/{network_id}",
    "POST /v1/contacts",
    "GET /v1/contacts",
    "POST /v1/contacts/search",
    "POST /v1/contacts/import",
    "GET /v1/contacts/{contact_id}",
    "DELETE /v1/contacts/{contact_id}",
    "POST /v1/contacts/{contact_id}/invite",
    "GET /v1/integrations",
    "POST /v1/integrations",
    "POST /v1/integrations/{integration_id}/sync",
    "DELETE /v1/integrations/{integration_id}",
    "POST /v1/chat",
    "GET /v1/chat/{turn_id}",
    "GET /v1/chat/{turn_id}/chunks",
    "GET /v1/chat/{turn_id}/events",
    "GET /v1/chat/{turn_id}/lines",
    "POST /v1/chat/{turn_id}/abort",
    "GET /v1/chat/actions/{action_id}",
    "POST /v1/chat/actions/{action_id}",
    "GET /v1/agents/{slug}/knowledge",
    "GET /v1/documents",
    "GET /v1/documents/{document_id}",
    "POST /v1/search",
    "POST /v1/context",
    "POST /v1/context/compact",
    "GET /v1/searches/{search_id}",
    "POST /v1/searches/{search_id}/feedback",
    "POST /v1/query/subgraph",
    "GET /v1/nodes/{node_id}/lineage",
    "GET /v1/profile",
    "GET /v1/summaries",
    "GET /v1/summaries/{summary_id}",
    "GET /v1/whoami",
}
"""What a key bound to a client may ask; everything else refuses it."""

OF_OWN_AGENTS = {
    "POST /v1/agents/{agent}/negotiations/pickup",
    "PUT /v1/agents/{agent}/negotiations/key",
}
"""Their path names an agent of the caller: there is nothing of others to ask for."""

INTENT_TOOLS = ("create", "list", "search", "update", "move", "delete", "answer")

NO_KEY = re.compile(
    r"/healthz|/readyz|/metrics|POST /v1/claim|/(?:ticket-sources|channels)/\{\w+\}/events"
    r"|/incoming-webhooks/\{\w+\}/memories|/widget/\{\w+\}"
)


@dataclass
class Clients:
    """Two clients of one workspace; Ada's things have the canary, Bob's key asks for them."""

    door: Door
    ids: dict[str, str]
    bob: str

    def ask(self, route: str, key: str, **given: Any) -> httpx.Response:
        method, path = route.split(" ", 1)
        path = re.sub(r"{(\w+)}", lambda name: self.ids.get(name[1], str(new_id())), path)
        return self.door.api.answer(
            method, path, headers={"authorization": f"Bearer {key}"}, **given
        )

    def body(self, route: str) -> dict[str, Any] | None:
        """What is sent, where something is: it names Ada and what is hers."""
        question: dict[str, Any] = {"query": f"{CANARY} safe harbour", "limit": 50}
        bodies: dict[str, dict[str, Any]] = {
            "POST /v1/memories": {"type": "fact", "text": "Bob was here.", "client_id": "ada"},
            "POST /v1/memories/refresh": {"ids": [self.ids["memory_id"]]},
            "PATCH /v1/memories/{memory_id}": {"text": "Bob was here.", "reason": WHY},
            "POST /v1/memories/{memory_id}/merge": {
                "other_id": self.ids["other_id"],
                "reason": WHY,
            },
            "POST /v1/memories/{memory_id}/move": {"client_id": "bob", "reason": WHY},
            "PUT /v1/memories/{memory_id}/never-recall": {"reason": WHY},
            "POST /v1/events": {"type": "tool.execute", "text": "Bob.", "client_id": "ada"},
            "POST /v1/conversations/messages": {
                "channel": "api",
                "session_id": "talk",
                "role": "user",
                "text": "Bob was here.",
                "client_id": "ada",
            },
            "POST /v1/search": {**question, "client_id": "ada", "include_superseded": True},
            "POST /v1/context": {**question, "client_id": "ada"},
            "POST /v1/context/compact": {
                "session_id": "talk",
                "messages": [{"role": "user", "text": "Bob was here."}],
                "client_id": "ada",
            },
            "PUT /v1/checkpoints": {"thread_id": "talk", "checkpoint_id": "1", "data": "Bob."},
            "PUT /v1/checkpoints/writes": {
                "thread_id": "talk",
                "checkpoint_id": "1",
                "task_id": "1",
                "writes": [{"idx": 0, "channel": "said", "data": "Bob."}],
            },
            "POST /v1/discover": {"query": CANARY, "client_id": "ada"},
            "POST /v1/opportunities": {"query": CANARY, "client_id": "ada"},
            "POST /v1/opportunities/introduce": {
                "first": str(new_id()),
                "second": str(new_id()),
                "client_id": "ada",
            },
            "POST /v1/opportunities/{opportunity_id}/send": {},
            "POST /v1/opportunities/{opportunity_id}/accept": {},
            "POST /v1/opportunities/{opportunity_id}/reject": {},
            "POST /v1/intents": {"text": "I seek a boat."},
            "PATCH /v1/intents/{intent_id}": {"description": "A boat"},
            "POST /v1/intents/{intent_id}/pause": {},
            "POST /v1/intents/{intent_id}/resume": {},
            "POST /v1/intents/{intent_id}/refresh": {},
            "POST /v1/intents/{intent_id}/answer": {"decision": "create"},
            "PUT /v1/profiles/me": {"name": "Bob"},
            "PATCH /v1/profiles/me": {"bio": "Bob sails."},
            "POST /v1/profiles/me/generate": {"text": "I am Bob."},
            "POST /v1/profiles/me/premises": {"text": "I am Bob."},
            "POST /v1/networks": {"name": "A stranger's"},
            "POST /v1/networks/join": {"token": "no-such"},
            "PATCH /v1/networks/{network_id}": {"name": "A stranger's"},
            "POST /v1/networks/{network_id}/join": {},
            "POST /v1/networks/{network_id}/leave": {},
            "PUT /v1/networks/{network_id}/prompt": {"prompt": "a stranger's"},
            "POST /v1/networks/{network_id}/invites": {},
            "POST /v1/intents/{intent_id}/networks": {},
            "POST /v1/contacts/search": {"query": CANARY},
            "POST /v1/contacts/{contact_id}/invite": {"network_id": str(new_id())},
            "POST /v1/contacts/import": {"format": "csv", "text": "name\nBob"},
            "POST /v1/chat": {"message": f"Where is the {CANARY.upper()}?", "client_id": "ada"},
            "POST /v1/chat/actions/{action_id}": {"decision": "confirm"},
            "POST /v1/negotiations": {"opportunity_id": str(new_id())},
            "POST /v1/negotiations/{negotiation_id}/answer": {"answer": "Yes."},
            "POST /v1/agents/{agent}/negotiations/{negotiation_id}/respond": {
                "action": "accept",
                "message": "Yes.",
            },
            "PUT /v1/agents/{agent}/negotiations/key": {"public_key": "ab" * 32},
            "POST /v1/conversations/search": question,
            "POST /v1/query/subgraph": {
                "query": question["query"],
                "node_ids": [self.ids["memory_id"]],
            },
            "POST /v1/searches/{search_id}/feedback": {
                "node_id": self.ids["memory_id"],
                "useful": True,
            },
        }
        sends = route.startswith(("POST", "PUT", "PATCH")) and not route.endswith("/pin")
        nothing: dict[str, Any] = {}
        return bodies.get(route, nothing if sends else None)


@pytest.fixture
def clients(door: Door) -> Clients:
    call = door.api.call

    def tell(text: str, **fields: Any) -> str:
        told = call("POST", "/v1/memories", json={"text": text, "type": "fact", **fields})
        return str(told["id"])

    memory = tell(f"The safe opens with the {CANARY}.", client_id="ada", key="safe")
    other = tell(f"The {CANARY} hangs at the harbour.", client_id="ada", scope="public")
    tell(f"Nobody's {CANARY} is for admins.")
    tell("The harbour opens at dawn.", scope="shared")
    event = {"type": "tool.execute", "text": f"opened the {CANARY} safe", "client_id": "ada"}
    observed = call("POST", "/v1/events", json=event)
    message = {
        "channel": "api",
        "session_id": "talk",
        "role": "user",
        "text": f"My {CANARY} is lost.",
        "client_id": "ada",
    }
    said = call("POST", "/v1/conversations/messages", json=message)
    door.enrich()
    chat = {"message": f"Forget the {CANARY} safe", "session_id": "chat", "client_id": "ada"}
    chatted = call("POST", "/v1/chat", json=chat)
    state = {"thread_id": "talk", "checkpoint_id": "1", "data": CANARY, "client_id": "ada"}
    call("PUT", "/v1/checkpoints", json=state)
    seek = {"text": f"I seek a {CANARY}.", "client_id": "ada"}
    (sought,) = call("POST", "/v1/intents", json=seek)["intents"]
    self_description = {"text": f"I am a {CANARY}.", "client_id": "ada"}
    (premise,) = call("POST", "/v1/profiles/me/premises", json=self_description)["items"]
    quay = {"name": CANARY, "prompt": CANARY, "client_id": "ada"}
    network = call("POST", "/v1/networks", json=quay)
    invite = call("POST", f"/v1/networks/{network['id']}/invites", json={"client_id": "ada"})
    friend = call("POST", "/v1/contacts", json={"name": CANARY, "client_id": "ada"})
    dates = {"kind": "calendar", "address": f"https://127.0.0.1/{CANARY}", "client_id": "ada"}
    calendar = call("POST", "/v1/integrations", json=dates)
    searched = door.search(f"{CANARY} safe")["meta"]["search_id"]
    made = {"name": "bob", "client_id": "bob", "scopes": ["admin", "shared", "public"]}
    key = call("POST", "/v1/keys", json=made)
    assert key["key"]["client_id"] == "bob"
    return Clients(
        door=door,
        ids={
            "memory_id": memory,
            "other_id": other,
            "node_id": memory,
            "event_id": observed["id"],
            "turn_id": chatted["id"],
            "action_id": chatted["actions"][0]["id"],
            "conversation_id": said["conversation_id"],
            "summary_id": memory,
            "search_id": searched,
            "document_id": memory,
            "intent_id": sought["id"],
            "premise_id": premise["id"],
            "network_id": network["id"],
            "invite_id": invite["id"],
            "member_id": network["owner_id"],
            "contact_id": friend["id"],
            "integration_id": calendar["id"],
        },
        bob=key["secret"],
    )


def routes() -> list[str]:
    return [
        f"{method.upper()} {path}"
        for path, methods in document()["paths"].items()
        for method in methods
    ]


def test_a_key_of_another_client_gets_nothing_of_this_one_at_any_route(clients: Clients) -> None:
    before = clients.door.api.call("GET", "/v1/memories", params={"state": "any"})
    asked: set[str] = set()
    for route in routes():
        if NO_KEY.search(route):
            continue
        answer = clients.ask(route, clients.bob, json=clients.body(route))
        assert CANARY not in answer.text, route
        if route in FOR_CLIENTS:
            asked.add(route)
            if "{" in route and route not in OF_OWN_AGENTS:
                assert answer.status_code == 404, (route, answer.text)
        else:
            assert answer.status_code == 403, (route, answer.text)
            assert answer.json()["reason"] in ("client", "role"), route
    assert asked == FOR_CLIENTS
    assert clients.door.api.call("GET", "/v1/memories", params={"state": "any"}) == before


def test_lists_searches_and_counts_show_a_client_its_own_and_what_is_shared(
    clients: Clients,
) -> None:
    own = {"type": "fact", "text": "The harbour has a crane."}
    told = clients.ask("POST /v1/memories", clients.bob, json=own).json()
    mine = clients.ask("GET /v1/memories?state=any", clients.bob).json()["items"]
    assert {item["text"] for item in mine} == {own["text"], "The harbour opens at dawn."}
    assert {item["client_id"] for item in mine} == {"bob", "global"}
    for body in (
        {},
        {"stages": {"cache": False}},
        {"recipe": "seed-001"},
        {"as_of": told["position"]},
    ):
        question = {"query": f"{CANARY} harbour", "limit": 50, "min_relevance": 0, **body}
        found = clients.ask("POST /v1/search", clients.bob, json=question).json()
        texts = {result["text"] for result in found["results"]}
        assert texts == {own["text"], "The harbour opens at dawn."}
    for name in ("client_id", "key", "session_id"):
        params = {name: {"client_id": "ada", "key": "safe", "session_id": "talk"}[name]}
        answer = clients.ask("GET /v1/memories", clients.bob, params=params)
        assert answer.json()["items"] == []
    shared = next(item["id"] for item in mine if item["client_id"] == "global")
    change = {"text": "The harbour is closed.", "reason": WHY}
    refused = clients.ask(f"PATCH /v1/memories/{shared}", clients.bob, json=change)
    assert (refused.status_code, refused.json()["reason"]) == (403, "client")
    gone = clients.ask(f"DELETE /v1/memories/{shared}", clients.bob)
    assert gone.status_code == 403
    away = {"client_id": "ada", "reason": WHY}
    moved = clients.ask(f"POST /v1/memories/{told['id']}/move", clients.bob, json=away)
    assert moved.status_code == 403


def test_a_session_of_a_bound_key_is_its_clients_own(clients: Clients) -> None:
    message = {"channel": "api", "session_id": "talk", "role": "user", "text": "Hello from Bob."}
    said = clients.ask("POST /v1/conversations/messages", clients.bob, json=message).json()
    assert said["conversation_id"] != clients.ids["conversation_id"]
    listed = clients.ask("GET /v1/conversations", clients.bob).json()["items"]
    assert [item["id"] for item in listed] == [said["conversation_id"]]
    again = clients.ask("POST /v1/conversations/messages", clients.bob, json=message).json()
    assert again["conversation_id"] == said["conversation_id"]


def test_tools_over_mcp_are_confined_alike(clients: Clients) -> None:
    api = clients.door.api
    listed = mcp(api, clients.bob, "tools/list")["result"]["tools"]
    edits = {f"memory_{name}" for name in ("list", "correct", "delete", "pin", "exclude")}
    names = {tool["name"] for tool in listed}
    reads = {"memory_recall", "context_get", "node_trace", "graph_walk", "profile_read"}
    reads |= {"knowledge_read"}
    knows = {f"contact_{name}" for name in ("add", "list", "search")}
    knows |= {"negotiation_list", "negotiation_read", "negotiation_respond"}
    knows |= {"integration_list", "integration_sync", "feed_read", "feed_health"}
    seeks = {f"intent_{name}" for name in INTENT_TOOLS}
    seeks |= {f"member_profile_{name}" for name in ("read", "generate", "update")}
    own = {"memory_remember", "memory_judge", "read_docs"}
    deeds = ("discover", "create", "list", "send", "accept", "decline")
    knows |= {f"opportunity_{name}" for name in deeds}
    knows |= {
        f"network_{name}"
        for name in ("list", "members", "create", "update", "delete", "join", "leave", "invite")
    }
    assert names == {*own, *reads, *edits, *knows, *seeks}
    listed = api.call("GET", "/v1/memories", params={"client_id": "ada"})["items"]
    hers = next(item["id"] for item in listed if CANARY in item["text"])
    given: dict[str, dict[str, Any]] = {
        "memory_remember": {"text": "Bob was here.", "client_id": "ada"},
        "memory_list": {"client_id": "ada", "state": "any"},
        "memory_correct": {"id": hers, "reason": "Bob's.", "text": "Bob was here."},
        "memory_exclude": {"id": hers, "reason": "Bob's."},
        "memory_judge": {"search_id": hers, "node_id": hers, "useful": True},
        "graph_walk": {"node_ids": [hers]},
        "profile_read": {"client_id": "ada"},
        "knowledge_read": {"agent": "bot"},
    }
    for name in sorted(names):
        asks = name in ("memory_recall", "context_get")
        about: dict[str, Any] = {"query": f"{CANARY} safe"} if asks else {"id": hers}
        arguments = given.get(name, about)
        result = mcp(api, clients.bob, "tools/call", name=name, arguments=arguments)["result"]
        assert CANARY not in str(result)
        empty = name in ("memory_list", "graph_walk", "profile_read")
        assert result["isError"] is not (asks or empty), result
    assert api.call("GET", f"/v1/memories/{hers}")["pinned"] is False


def test_a_workspace_that_wants_a_client_answers_nothing_about_everybody(
    clients: Clients,
) -> None:
    api = clients.door.api
    api.call("PATCH", "/v1/settings", json={"recall": {"client_required": True}})
    question = {"query": "harbour", "stages": {"cache": False}}
    eventually(lambda: api.post("/v1/search", question).status_code == 422, seconds=10)
    asked = [
        api.post("/v1/search", question),
        api.post("/v1/context", question),
        api.post("/v1/query/subgraph", {"query": "harbour"}),
        api.post("/v1/conversations/search", {"query": "harbour"}),
        *(api.get(f"/v1/{noun}") for noun in ("memories", "events", "conversations", "documents")),
        api.get("/v1/nodes?label=Memory"),
        api.get("/v1/summaries"),
    ]
    assert {answer.json().get("reason") for answer in asked} == {"client-required"}
    recalled = mcp(api, clients.door.world.key, "tools/call", name="recall", arguments=question)
    assert recalled["result"]["isError"] is True
    assert api.post("/v1/search", {**question, "user_id": "ada"}).status_code == 200
    assert clients.ask("POST /v1/search", clients.bob, json=question).status_code == 200
    assert clients.ask("GET /v1/memories", clients.bob).status_code == 200


def test_user_id_is_client_id_by_another_name(clients: Clients) -> None:
    api = clients.door.api
    told = api.call(
        "POST", "/v1/memories", json={"type": "fact", "text": "Eve sings.", "user_id": "eve"}
    )
    assert api.call("GET", f"/v1/memories/{told['id']}")["client_id"] == "eve"
    listed = api.call("GET", "/v1/memories", params={"user_id": "eve"})["items"]
    assert [item["id"] for item in listed] == [told["id"]]
    found = clients.door.search("Who sings?", user_id="eve", min_relevance=0)
    assert [result["node_id"] for result in found["results"]] == [told["id"]]
    key = api.call("POST", "/v1/keys", json={"name": "eve", "user_id": "eve"})
    assert key["key"]["client_id"] == "eve"
    both = {"type": "fact", "text": "Eve hums.", "user_id": "eve", "client_id": "ada"}
    assert api.post("/v1/memories", both).status_code == 422
    params = {"user_id": "eve", "client_id": "ada"}
    assert api.answer("GET", "/v1/memories", params=params).status_code == 422


@pytest.mark.parametrize(
    "asked",
    [
        {"name": "x", "role": "admin", "client_id": "ada"},
        {"name": "x", "client_id": "global"},
        {"name": "x", "client_id": ""},
        {"name": "x", "client_id": "a\x00b"},
        {"name": "x", "client_id": 7},
        {"name": "x", "client_id": "x" * 257},
    ],
)
def test_a_key_is_bound_to_somebody_or_to_nobody(door: Door, asked: dict[str, Any]) -> None:
    assert door.api.answer("POST", "/v1/keys", json=asked).status_code == 422
