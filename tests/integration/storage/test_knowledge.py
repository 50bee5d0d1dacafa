"""What an agent is given before it asks, at the doors: baked, read, and gone when forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.support.forgetting import erase_in_memory
from tests.support.front import function, mcp

if TYPE_CHECKING:
    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

door = test_search_front.door
OPENS = "The ferry office opens at seven."
FARES = "Children under six travel free of charge. Bicycles cost two crowns."
PATH = "/v1/agents/desk/knowledge"


def say(door: Door, text: str, **more: Any) -> str:
    memory = {"type": "fact", "text": text, "scope": "public", **more}
    return str(door.api.call("POST", "/v1/memories", json=memory)["id"])


@pytest.fixture
def key(door: Door) -> str:
    """The key of an agent for which one fact is tagged, and another found by its subscription."""
    body: dict[str, Any] = {"slug": "desk", "name": "Desk", "scopes": ["public"], "key": {}}
    made = door.api.call("POST", "/v1/agents", json=body)
    door.api.call("PUT", "/v1/subscriptions", json={"agent": "desk", "keywords": ["bicycles"]})
    say(door, OPENS, agents=["desk"])
    say(door, FARES, agents=["other"])
    say(door, "The harbour master is Ilse.")
    say(door, "The safe opens with 7431.", agents=["desk"], scope="admin")
    say(door, "Ada prefers the window.", agents=["desk"], client_id="ada")
    door.enrich()
    return str(made["secret"])


def bake(door: Door, **more: Any) -> dict[str, Any]:
    baked: dict[str, Any] = door.api.call("POST", PATH, json=more)
    return baked


def read(door: Door, key: str | None = None, **params: Any) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    view: dict[str, Any] = door.api.call("GET", PATH, headers=headers, params=params)
    return view


def tool(door: Door, key: str, name: str, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = mcp(door.api, key, "tools/call", name=name, arguments=arguments)
    return result["result"]


def test_what_is_tagged_for_an_agent_or_subscribed_to_is_given_to_it_by_every_door(
    door: Door, key: str
) -> None:
    assert door.api.answer("GET", PATH).status_code == 404
    baked = bake(door)
    assert (baked["version"], baked["form"], baked["missing"]) == (1, "full", 0)
    for text in (OPENS, FARES):
        assert text in baked["text"]
    for hidden in ("Ilse", "7431", "window"):
        assert hidden not in baked["text"]
    assert read(door, key) == baked
    assert tool(door, key, "knowledge_read")["content"][0]["text"] == baked["text"]
    headers = {"authorization": f"Bearer {key}"}
    session = door.api.call("POST", "/v1/context/session", json={}, headers=headers)
    assert session["knowledge"] == baked["text"]
    assert session["context"].startswith(baked["text"])
    other: dict[str, Any] = {"slug": "bow", "name": "Bow", "scopes": ["public"], "key": {}}
    stranger = door.api.call("POST", "/v1/agents", json=other)["secret"]
    refused = door.api.answer("GET", PATH, headers={"authorization": f"Bearer {stranger}"})
    assert refused.status_code == 404


def test_a_summary_is_preferred_and_never_used_for_a_newer_version(door: Door, key: str) -> None:
    say(door, "The café sells soup. " * 20, agents=["desk"])
    short = bake(door, summary=True)
    assert (short["form"], "\u2026" in short["text"]) == ("summary", True)
    assert len(read(door, form="full")["text"]) > len(short["text"])
    newer = bake(door)
    assert (newer["version"], newer["form"]) == (2, "full")
    assert read(door, version=1)["text"] == short["text"]
    assert door.api.answer("GET", PATH, params={"version": 9}).status_code == 404
    cut = bake(door, max_chars=500)
    assert len(cut["text"]) <= 500
    assert door.api.answer("POST", PATH, json={"max_chars": 1}).status_code == 422


def test_what_was_deleted_tainted_or_forgotten_since_is_not_given(
    door: Door, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = say(door, "Ticket six is void.", agents=["desk"])
    say(door, "Ada keeps the log.", agents=["desk"], data_subjects=["Ada"])
    bad = say(door, "The bridge is made of cheese.", agents=["desk"])
    assert len(bake(door)["node_ids"]) == 5
    door.api.call("DELETE", f"/v1/memories/{spoken}")
    door.api.call("POST", "/v1/taint", json={"node": bad, "reason": "A joke."})
    erase_in_memory(monkeypatch, door.folder)
    gone = {"subject": {"kind": "person", "natural_key": "Ada"}}
    door.api.call("POST", "/v1/forget", json=gone)
    view = read(door, key)
    assert (view["missing"], view["stale"], len(view["node_ids"])) == (3, True, 2)
    for word in ("void", "cheese", "Ada"):
        assert word not in view["text"]
    assert bake(door)["missing"] == 0


def test_an_agent_without_live_memory_has_its_snapshot_and_searches_nothing(
    door: Door, key: str
) -> None:
    bake(door)
    changed = door.api.call("PATCH", "/v1/agents/desk", json={"live_memory": False})
    assert changed["live_memory"] is False
    names = {each["name"] for each in mcp(door.api, key, "tools/list")["result"]["tools"]}
    assert "knowledge_read" in names
    assert names.isdisjoint({"memory_recall", "context_get", "graph_query", "conversation_search"})
    assert "memory_recall" in str(mcp(door.api, key, "tools/call", name="memory_recall"))
    assert OPENS not in str(mcp(door.api, key, "tools/call", name="memory_recall"))
    headers = {"authorization": f"Bearer {key}"}
    search = {"query": "When does the ferry office open?"}
    assert door.api.answer("POST", "/v1/search", json=search, headers=headers).status_code == 403
    assert OPENS in read(door, key)["text"]
    door.api.call("PATCH", "/v1/agents/desk", json={"live_memory": True})
    found = door.api.call("POST", "/v1/search", json=search, headers=headers)
    assert found["meta"]["nodes_returned"] == 0, "what is tagged needs a key of its own memory"


def test_a_schedule_bakes_anew_what_would_hold_something_else_once_a_day(
    door: Door, key: str, database: Database
) -> None:
    bake(door)
    say(door, "The office closes at nine.", agents=["desk"])
    step = {"step": "start_workflows"}
    function("audit").handler(step, None)
    assert read(door)["version"] == 1
    for version in (2, 2):
        with database.connect_as_superuser() as root:
            root.execute("UPDATE agent_snapshot SET checked_at = now() - interval '25 hours'")
        function("audit").handler(step, None)
        view = read(door)
        assert (view["version"], "closes at nine" in view["text"]) == (version, True)
