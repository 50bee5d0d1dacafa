"""Investigations over MCP: agents start and read them, and decide nothing."""

import pytest
from tests.unit.api.approval_fakes import ApprovalWorld
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World
from tests.unit.api.investigation_fakes import AgentWorld, step, tool_call
from tests.unit.api.test_mcp import call, send, tools

from cairn.api.mcp.catalogue import TOOLS
from cairn.kernel.ids import new_id

OURS = ("investigation_start", "investigation_read", "approval_list", "call_list")


def test_an_agent_starts_an_investigation_and_reads_its_steps_until_it_ends() -> None:
    agents = AgentWorld()
    client = Client(World(agents=agents), key=AGENT_KEY)
    begun = call(client, "investigation_start", ticket_id=str(new_id()))
    investigation_id = begun["structuredContent"]["investigation_id"]
    one = next(iter(agents.made.values()))
    agents.lines[one.id] = [step(1), step(2, detail=None, readable=False)]
    read = call(client, "investigation_read", investigation_id=investigation_id, limit=1)
    assert "1. accounts.unlock called: step 1" in read["content"][0]["text"]
    assert "ask again after 1" in read["content"][0]["text"]
    agents.end(one.id)
    rest = call(client, "investigation_read", investigation_id=investigation_id, after=1)
    text = rest["content"][0]["text"]
    assert "(forgotten)" in text
    assert text.startswith("DONE, auto_resolved")
    assert text.endswith("ended")
    assert rest["structuredContent"]["ended"] is True


def test_a_ticket_that_waits_for_a_slot_is_said_to_be_queued() -> None:
    client = Client(World(agents=AgentWorld(full=True)), key=AGENT_KEY)
    queued = call(client, "investigation_start", ticket_id=str(new_id()))
    assert queued["structuredContent"] == {"state": "queued"}


def test_what_waits_is_listed_without_values() -> None:
    approving = ApprovalWorld()
    asked = approving.add()
    client = Client(World(approving=approving), key=AGENT_KEY)
    listed = call(client, "approval_list")
    assert str(asked.id) in listed["content"][0]["text"]
    assert "ada@" not in str(listed)
    none = call(client, "approval_list", state="expired")
    assert none["content"][0]["text"] == "No question is in this state."


def test_tool_calls_are_listed_by_connector() -> None:
    calls = [tool_call(), tool_call(owner="http", tool="http.get", error="tool-timeout")]
    client = Client(World(agents=AgentWorld(calls=calls)), key=AGENT_KEY)
    listed = call(client, "call_list", connector="http")
    assert "http.get applied (tool-timeout)" in listed["content"][0]["text"]
    assert len(listed["structuredContent"]["items"]) == 1


def test_no_tool_decides_grants_or_resumes() -> None:
    names = {tool.name for tool in TOOLS}
    words = ("approve", "reject", "edit", "grant", "resume", "revoke")
    deciding = {name for name in names for word in words if word in name}
    assert deciding == set()
    assert set(OURS) <= names


@pytest.mark.parametrize("name", OURS)
def test_public_keys_neither_see_nor_call_them(name: str) -> None:
    client = Client(World(), key=PUBLIC_KEY)
    assert name not in tools(client)
    answered = send(client, "tools/call", {"name": name, "arguments": {}})
    assert "There is no tool" in answered.json()["error"]["message"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("investigation_start", {}),
        ("investigation_start", {"ticket_id": "7"}),
        ("investigation_read", {"investigation_id": str(new_id()), "after": -1}),
        ("investigation_read", {"investigation_id": str(new_id()), "limit": 1_000}),
        ("approval_list", {"state": "maybe"}),
        ("approval_list", {"approve": True}),
        ("call_list", {"connector": ""}),
    ],
)
def test_arguments_are_checked_as_the_api_checks_them(
    name: str, arguments: dict[str, object]
) -> None:
    result = call(Client(World(), key=AGENT_KEY), name, **arguments)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("validation-failed")


def test_an_unknown_one_is_not_found() -> None:
    result = call(Client(World()), "investigation_read", investigation_id=str(new_id()))
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("not-found")
