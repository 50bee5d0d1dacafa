"""What agents call over MCP and HTTP leaves a record: who, what, when, how it ended, no texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.front import Cloud, Front, environment, mcp, stand_in_for_aws
from tests.support.world import open_world

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.postgres import Database

TEXT = "Helga keeps the cellar key behind the stove."


@pytest.fixture
def front(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Front:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"calls {new_id()}")
    world.pool.close()
    return Front(world.key)


def agent_key(front: Front, **changes: Any) -> str:
    asked = {"name": "bot", "role": "agent", "agent_slug": "bot", **changes}
    return str(front.call("POST", "/v1/keys", json=asked)["secret"])


def calls(front: Front, **params: Any) -> list[dict[str, Any]]:
    return front.call("GET", "/v1/tool-calls", params=params)["items"]


def test_every_call_of_an_agent_leaves_a_record_without_texts(front: Front) -> None:
    key = agent_key(front)
    own = {"headers": {"authorization": f"Bearer {key}"}}
    arguments = {"text": TEXT, "type": "event", "session_id": "monday", "agents": ["bot"]}
    written = mcp(front, key, "tools/call", name="memory_remember", arguments=arguments)
    memory_id = written["result"]["structuredContent"]["id"]
    mcp(front, key, "tools/call", name="node_get", arguments={"id": str(new_id())})
    front.call("GET", "/v1/events", params={"session_id": "monday"}, **own)
    front.answer("POST", "/v1/search", json={"query": ""}, **own)
    front.call("GET", f"/v1/memories/{memory_id}", **own)

    found = calls(front, connector="cairn")
    assert [(item["tool"], item["lane"], item["state"], item["error"]) for item in found] == [
        ("cairn.GET /v1/memories/{memory_id}", "read", "applied", None),
        ("cairn.POST /v1/search", "read", "failed", "validation-failed"),
        ("cairn.GET /v1/events", "read", "applied", None),
        ("cairn.node_get", "read", "failed", "not-found"),
        ("cairn.memory_remember", "write", "applied", None),
    ]
    assert memory_id in found[-1]["output"]
    assert json.loads(found[-1]["input"])["type"] == "event"
    assert all(word not in json.dumps(found) for word in ("Helga", "cellar", "stove"))
    assert all(item["investigation_id"] is None and item["ms"] is not None for item in found)


def test_calls_are_found_by_their_session_and_an_agent_reads_its_own_only(front: Front) -> None:
    key, other = agent_key(front, scopes=["public"]), agent_key(front, scopes=["public"])
    for session in ("monday", "tuesday"):
        arguments = {"query": "the key", "session_id": session}
        mcp(front, key, "tools/call", name="recall", arguments=arguments)
    assert [call["session_id"] for call in calls(front, session_id="monday")] == ["monday"]
    asked = {"name": "tool-calls-list", "arguments": {"session_id": "monday"}}
    listed = mcp(front, key, "tools/call", **asked)["result"]["structuredContent"]["items"]
    assert [item["tool"] for item in listed] == ["cairn.memory_recall"]
    theirs = mcp(front, other, "tools/call", **asked)["result"]["structuredContent"]["items"]
    assert theirs == []


def test_what_a_person_does_over_http_is_no_call_of_an_agent(front: Front) -> None:
    front.call("POST", "/v1/memories", json={"text": TEXT, "type": "event"})
    assert calls(front) == []
