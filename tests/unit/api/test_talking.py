"""The routes of conversations, reports and subscriptions: shapes, statuses, refusals."""

from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World
from tests.unit.api.talk_fakes import TALK

from cairn.conversations.messages import Channel, GateReason, MessageRole

MESSAGE: dict[str, Any] = {
    "channel": "whatsapp",
    "session_id": "s1",
    "role": "user",
    "text": "Is the hut open?",
}
REPORT: dict[str, Any] = {"title": "Daily briefing", "body": "All is well."}


def test_a_message_is_recorded_or_waits() -> None:
    world = World()
    turned_away = {**MESSAGE, "accepted": False, "gate_reason": "agent-inactive"}
    answer = Client(world).post("/v1/conversations/messages", turned_away)
    assert (answer.status_code, answer.json()["persisted"]) == (201, True)
    (said,) = world.talk.said
    assert (said.channel, said.role) == (Channel.WHATSAPP, MessageRole.USER)
    assert said.gate_reason is GateReason.AGENT_INACTIVE
    world.talk.persisted = False
    answer = Client(world).post("/v1/conversations/messages", {**MESSAGE, "channel": "webchat"})
    assert (answer.status_code, answer.json()["persisted"]) == (202, False)
    assert answer.json()["expires_at"].endswith("Z")


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"role": "admin"}, 422),
        ({"channel": "pigeon"}, 422),
        ({"text": ""}, 422),
        ({"text": "  "}, 422),
        ({"text": "a\x00b"}, 422),
        ({"text": "x" * 32_001}, 413),
        ({"session_id": ""}, 422),
        ({"session_id": "x" * 257}, 422),
        ({"accepted": "no"}, 422),
        ({"gate_reason": "rude"}, 422),
        ({"occurred_at": "yesterday"}, 422),
        ({"nonsense": 1}, 422),
    ],
)
def test_a_bad_message_is_refused(wrong: dict[str, Any], status: int) -> None:
    world = World()
    answer = Client(world).post("/v1/conversations/messages", {**MESSAGE, **wrong})
    assert answer.status_code == status
    assert world.talk.said == []


def test_conversations_are_listed_with_their_filters() -> None:
    world = World()
    answer = Client(world).get("/v1/conversations?channel=webchat&session_id=s1")
    assert [each["id"] for each in answer.json()["items"]] == [str(TALK)]
    assert (world.talk.listed[0].channel, world.talk.listed[0].session_id) == ("webchat", "s1")
    assert Client(world).get("/v1/conversations?channel=pigeon").status_code == 422


def test_a_conversation_comes_with_its_messages_in_pages() -> None:
    client = Client(World())
    first = client.get(f"/v1/conversations/{TALK}?limit=2").json()
    rest = client.get(f"/v1/conversations/{TALK}?limit=2&cursor={first['next_cursor']}").json()
    positions = [each["position"] for each in (*first["items"], *rest["items"])]
    assert positions == [11, 12, 13]
    assert first["conversation"]["messages"] == 3
    assert rest["next_cursor"] is None
    assert client.get(f"/v1/conversations/{UUID(int=1)}").status_code == 404
    other = client.get(f"/v1/conversations/{UUID(int=1)}?cursor={first['next_cursor']}")
    assert other.json()["reason"] == "cursor-filters"


def test_a_search_returns_role_content_time_and_score() -> None:
    world = World()
    asked = {"query": "hut", "role": "user", "conversation_id": str(TALK), "limit": 3}
    answer = Client(world, key=PUBLIC_KEY).post("/v1/conversations/search", asked)
    (found,) = answer.json()["messages"]
    assert (found["role"], found["content"]) == ("user", "Is the hut open?")
    assert found["relevance_score"] == 0.5
    assert found["timestamp"].startswith("2026-03-15T12:00")
    assert answer.json()["meta"]["degraded"] == ["vector: late"]
    (query,) = world.talk.searched
    assert (query.role, query.conversation_id, query.limit) == ("user", TALK, 3)


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"query": ""}, 422),
        ({"query": "x" * 4001}, 413),
        ({"limit": 51}, 422),
        ({"role": "x"}, 422),
    ],
)
def test_a_bad_search_is_refused(wrong: dict[str, Any], status: int) -> None:
    answer = Client(World()).post("/v1/conversations/search", {"query": "hut", **wrong})
    assert answer.status_code == status


def test_a_key_is_bound_by_an_admin_only() -> None:
    world = World()
    path = f"/v1/conversations/{TALK}/keys/{UUID(int=5)}"
    assert Client(world, key=AGENT_KEY).request("PUT", path).status_code == 403
    assert Client(world).request("PUT", path).status_code == 200
    assert world.talk.bound == [(TALK, UUID(int=5))]


def test_a_report_is_written_once() -> None:
    world = World()
    answer = Client(world).post("/v1/reports", {**REPORT, "keywords": ["Daily"]})
    assert (answer.status_code, answer.json()["created"]) == (201, True)
    assert world.talk.reported[0].keywords == ("Daily",)
    world.talk.created = False
    again = Client(world).post("/v1/reports", REPORT)
    assert (again.status_code, again.json()["id"]) == (200, answer.json()["id"])


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"title": ""}, 422),
        ({"title": "x" * 257}, 413),
        ({"body": "x" * 10_001}, 413),
        ({"body": "\ud800"}, 422),
        ({"keywords": [str(n) for n in range(21)]}, 422),
        ({"conversation_id": "not an id"}, 422),
    ],
)
def test_a_bad_report_is_refused(wrong: dict[str, Any], status: int) -> None:
    world = World()
    answer = Client(world).post("/v1/reports", {**REPORT, **wrong})
    assert answer.status_code in (status, 400)
    assert world.talk.reported == []


def test_the_latest_report_has_a_body_and_the_catalogue_has_none() -> None:
    world = World()
    latest = Client(world).get("/v1/reports/latest?keyword=Daily&limit=2").json()
    assert latest["items"][0]["body"] == "All is well."
    listed = Client(world).get("/v1/reports?keyword=Daily").json()
    assert (listed["total"], "body" in listed["items"][0]) == (3, False)
    assert world.talk.asked[0] == ("Daily", 2)
    following = Client(world).get(f"/v1/reports?keyword=Daily&cursor={listed['next_cursor']}")
    assert following.json()["next_cursor"] is None
    assert Client(world).get("/v1/reports/latest?limit=21").status_code == 422


def test_subscriptions_are_replaced_read_and_cleared() -> None:
    world = World()
    client = Client(world)
    body = {"agent": "bot", "keywords": ["solar"]}
    assert client.request("PUT", "/v1/subscriptions", json=body).json()["keywords"] == ["solar"]
    assert client.get("/v1/subscriptions").json()["items"][0]["agent"] == "bot"
    assert client.request("DELETE", "/v1/subscriptions?agent=bot").json()["keywords"] == []
    assert client.request("PUT", "/v1/subscriptions", json={"keywords": []}).status_code == 422


@pytest.mark.parametrize(
    "route",
    [
        "POST /v1/conversations/messages",
        "POST /v1/reports",
        "GET /v1/reports",
        "GET /v1/reports/latest",
        "GET /v1/subscriptions",
    ],
)
def test_a_public_key_neither_writes_nor_reads_these(route: str) -> None:
    method, path = route.split()
    bodies = {"/v1/conversations/messages": MESSAGE, "/v1/reports": REPORT}
    body = bodies.get(path) if method == "POST" else None
    assert Client(World(), key=PUBLIC_KEY).request(method, path, json=body).status_code == 403
