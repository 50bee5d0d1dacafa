"""A key's list of tools, set and used over HTTP: what it narrows, and that nothing evades it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.front import Cloud, Front, environment, mcp, stand_in_for_aws
from tests.support.world import open_world

from cairn.api.mcp.catalogue import TOOLS
from cairn.kernel.access import Role
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.postgres import Database


@pytest.fixture
def front(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Front:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"tools {new_id()}")
    world.pool.close()
    return Front(world.key)


def held(*tools: str) -> dict[str, Any]:
    """A key that a person holds: it is not asked for an agent."""
    return {"name": "narrow", "tools": list(tools), "person": True}


def test_a_key_made_for_one_tool_sees_that_one_and_opens_no_other_route(front: Front) -> None:
    for tool, roles in ((tool.name, tool.roles) for tool in TOOLS):
        role = "agent" if Role.AGENT in roles else "admin"
        asked = {"name": "narrow", "tools": [tool, tool], "role": role, "person": role == "agent"}
        made = front.call("POST", "/v1/keys", json=asked)
        assert made["key"]["tools"] == [tool]
        listed = mcp(front, made["secret"], "tools/list")["result"]["tools"]
        assert [item["name"] for item in listed] == [tool]
        around = {"headers": {"authorization": f"Bearer {made['secret']}"}}
        assert front.call("GET", "/v1/whoami", **around)["tools"] == [tool]
        refused = front.answer("POST", "/v1/search", json={"query": "a way around"}, **around)
        assert (refused.status_code, refused.json()["reason"]) == (403, "tools")
    assert len(front.call("GET", "/v1/keys")["items"]) == len(TOOLS) + 1


def test_what_is_not_on_the_list_is_not_called_and_the_list_is_in_the_ledger(front: Front) -> None:
    made = front.call("POST", "/v1/keys", json=held("memory_recall", "get"))
    asked = {"name": "memory_remember", "arguments": {"text": "Nobody may write this."}}
    answered = mcp(front, made["secret"], "tools/call", **asked)
    assert "There is no tool" in answered["error"]["message"]
    assert front.call("GET", "/v1/memories")["items"] == []
    listed = mcp(front, made["secret"], "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["memory_recall", "node_get"]
    created = front.call("GET", "/v1/ledger", params={"type": "key.created"})["items"]
    assert [item["meta"].get("tools") for item in created] == [None, ["get", "memory_recall"]]


def test_an_admin_key_with_a_list_does_not_count_as_the_last_admin(front: Front) -> None:
    own = front.call("GET", "/v1/whoami")["key_id"]
    narrow = {"name": "narrow", "role": "admin", "tools": ["memory_recall"]}
    front.call("POST", "/v1/keys", json=narrow)
    refused = front.answer("DELETE", f"/v1/keys/{own}")
    assert (refused.status_code, refused.json()["reason"]) == (409, "last-admin-key")


def test_each_tool_that_there_is_not_is_named(front: Front) -> None:
    refused = front.answer("POST", "/v1/keys", json={"name": "a", "tools": ["recall", "shell"]})
    assert refused.status_code == 422
    assert [error["location"] for error in refused.json()["errors"]] == ["tools.1"]
