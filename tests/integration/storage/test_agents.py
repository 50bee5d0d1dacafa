"""Registered agents over HTTP, MCP and PostgreSQL: who registers, and what that gives."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.front import Cloud, Front, environment, mcp, stand_in_for_aws
from tests.support.world import open_world
from tests.unit.api.fakes import Lines

from cairn.accounts.agents import JOINED_PER_HOUR, JOINED_REQUESTS
from cairn.api.entry import create_asgi_app
from cairn.api.mcp import surface
from cairn.api.mcp.drift import check_agents
from cairn.api.mcp.surface import require_shipped
from cairn.kernel.ids import new_id
from cairn.settings import ServerSettings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.postgres import Database


OPEN_TO_LISTED_TOOLS = (
    ("GET", "/v1/memories"),
    ("POST", "/v1/chat"),
    ("GET", f"/v1/chat/{new_id()}"),
    ("POST", f"/v1/chat/{new_id()}/abort"),
)
"""A route as any, and those that keys with a list of tools may ask."""


@pytest.fixture
def front(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Front:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"agents {new_id()}")
    world.pool.close()
    return Front(world.key)


def bearer(key: str) -> dict[str, Any]:
    return {"headers": {"authorization": f"Bearer {key}"}}


def made(front: Front, slug: str = "scout", **given: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"slug": slug, "name": "Scout", "key": {}, **given}
    answer: dict[str, Any] = front.call("POST", "/v1/agents", json=body)
    return answer


def key(front: Front, **given: Any) -> str:
    answer = front.call("POST", "/v1/keys", json={"name": "a key", **given})
    return str(answer["secret"])


def listed(front: Front, with_key: str) -> set[str]:
    return {tool["name"] for tool in mcp(front, with_key, "tools/list")["result"]["tools"]}


def reason(front: Front, method: str, path: str, status: int, **given: Any) -> str:
    refused = front.answer(method, path, **given)
    assert refused.status_code == status, refused.text
    return str(refused.json().get("reason"))


def test_an_admin_registers_an_agent_whose_key_has_what_the_agent_has_and_no_more(
    front: Front,
) -> None:
    agent = made(front, owner="Ada Keeper", scopes=["public"], requests_a_minute=3)
    who = front.call("GET", "/v1/whoami", **bearer(agent["secret"]))
    assert (who["agent"], who["scopes"], who["barred"]) == ("scout", ["public"], None)
    assert who["rate_limit"]["limit"] == 3
    written = {"type": "fact", "text": "The lamp is lit.", "scope": "admin"}
    assert reason(front, "POST", "/v1/memories", 403, json=written, **bearer(agent["secret"])) == (
        "scope"
    )
    shown = front.call("GET", "/v1/agents/scout", **bearer(agent["secret"]))
    assert (shown["owner"], shown["joined"], shown["version"]) == ("Ada Keeper", False, 1)


def test_what_is_wrong_with_an_agent_is_named_and_nothing_is_registered(front: Front) -> None:
    wrong: list[tuple[dict[str, Any], int, str]] = [
        ({"slug": "Scout"}, 422, "slug"),
        ({"name": "a\x00b"}, 422, "name"),
        ({"persona": "nobody"}, 422, "persona"),
        ({"specialists": ["nobody"]}, 422, "specialists.0"),
        ({"specialists": ["scout"]}, 422, "specialists.0"),
        ({"tools": ["memory_recall", "shell"]}, 422, "tools.1"),
        ({"tools": []}, 422, "tools"),
        ({"scopes": ["root"]}, 422, "scopes.0"),
        ({"requests_a_minute": 0}, 422, "requests_a_minute"),
        ({"edition": "A b"}, 422, "edition"),
        ({"description": "x" * 2_001}, 422, "description"),
        ({"key": {"role": "admin", "client_id": "ada"}}, 422, "client_id"),
    ]
    for given, status, place in wrong:
        body = {"slug": "scout", "name": "Scout", **given}
        refused = front.answer("POST", "/v1/agents", json=body)
        assert refused.status_code == status, refused.text
        places = [each["location"] for each in refused.json()["errors"]]
        assert place in [each.removeprefix("body.") for each in places]
    assert front.call("GET", "/v1/agents")["items"] == []
    made(front)
    body = {"slug": "scout", "name": "Another"}
    assert reason(front, "POST", "/v1/agents", 409, json=body) == "agent-exists"


def test_a_change_holds_from_the_next_request_and_each_is_in_the_ledger_once(front: Front) -> None:
    agent = made(front, owner="Ada Keeper")
    around = bearer(agent["secret"])
    front.call("PATCH", "/v1/agents/scout", json={"description": "Finds lamps."})
    front.call("PATCH", "/v1/agents/scout", json={"description": "Finds lamps."})
    assert listed(front, agent["secret"]) > {"memory_recall"}
    front.call("PATCH", "/v1/agents/scout", json={"tools": ["memory_recall"]})
    assert listed(front, agent["secret"]) == {"memory_recall"}
    assert reason(front, "GET", "/v1/memories", 403, **around) == "tools"
    front.call("PATCH", "/v1/agents/scout", json={"disabled": True})
    for method, path in OPEN_TO_LISTED_TOOLS:
        assert reason(front, method, path, 403, json={"message": "Hi"}, **around) == (
            "agent-disabled"
        ), path
    assert front.call("GET", "/v1/whoami", **around)["barred"] == "disabled"
    front.call("PATCH", "/v1/agents/scout", json={"disabled": False, "all_tools": True})
    front.call("GET", "/v1/memories", **around)
    entries = front.call("GET", "/v1/ledger", params={"type": "agent"})["items"]
    told = [(each["type"], each["meta"]["version"], each["meta"]["disabled"]) for each in entries]
    assert told == [
        ("agent.registered", 1, None),
        ("agent.changed", 2, None),
        ("agent.changed", 3, None),
        ("agent.changed", 4, "by-admin"),
        ("agent.changed", 5, None),
    ]
    assert "Ada" not in json.dumps([each["meta"] for each in entries])
    assert reason(front, "PATCH", "/v1/agents/nobody", 404, json={"disabled": True}) == "not-found"


def test_over_mcp_a_key_without_an_agent_registers_itself_and_gets_nothing_it_had_not(
    front: Front,
) -> None:
    own = key(front, scopes=["public"])
    assert listed(front, own) == {"register_agent", "read_docs", "scrape_url"}
    called = mcp(front, own, "tools/call", name="memory_recall", arguments={"query": "lamp"})
    assert called["result"]["isError"] is True
    assert "register_agent" in called["result"]["content"][0]["text"]
    more = {"slug": "scout", "name": "Scout", "scopes": ["admin"]}
    refused = mcp(front, own, "tools/call", name="register_agent", arguments=more)["result"]
    assert refused["isError"] is True
    assert "denied" in refused["content"][0]["text"]
    asked = {"slug": "scout", "name": "Scout"}
    joined = mcp(front, own, "tools/call", name="register_agent", arguments=asked)["result"]
    assert joined.get("isError") in (None, False), joined
    assert "memory_recall" in listed(front, own)
    agent = front.call("GET", "/v1/agents/scout")
    assert (agent["scopes"], agent["joined"]) == (["public"], True)
    assert agent["requests_a_minute"] == JOINED_REQUESTS
    again = {"slug": "second", "name": "Second"}
    hidden = mcp(front, own, "tools/call", name="register_agent", arguments=again)
    assert "There is no tool" in hidden["error"]["message"]
    assert reason(front, "POST", "/v1/agents", 409, json=again, **bearer(own)) == "agent-registered"


def test_keys_of_admins_of_people_and_of_a_slug_are_not_asked_for_an_agent(front: Front) -> None:
    people = key(front, person=True), key(front, client_id="ada")
    for held in (front.key, *people, key(front, agent_slug="bot")):
        assert "memory_recall" in listed(front, held)
    assert front.call("GET", "/v1/agents/bot")["name"] == "bot"
    assert (
        reason(front, "POST", "/v1/keys", 422, json={"name": "a", "agent": "nobody"})
        == "validation-failed"
    )
    both = {"name": "a", "agent": "bot", "person": True}
    assert front.answer("POST", "/v1/keys", json=both).status_code == 422


def test_of_two_registrations_at_once_by_one_key_or_of_one_slug_one_holds(front: Front) -> None:
    own = key(front)

    def register(slug: str, with_key: str) -> int:
        body = {"slug": slug, "name": slug}
        return front.answer("POST", "/v1/agents", json=body, **bearer(with_key)).status_code

    with ThreadPoolExecutor(4) as pool:
        by_key = sorted(pool.map(register, ("one", "two", "three"), [own] * 3))
    assert by_key == [201, 409, 409]
    others = [key(front) for _ in range(3)]
    with ThreadPoolExecutor(4) as pool:
        by_slug = sorted(pool.map(register, ["four"] * 3, others))
    assert by_slug == [201, 409, 409]


def test_so_many_register_themselves_in_an_hour_and_an_admin_still_registers(front: Front) -> None:
    for number in range(JOINED_PER_HOUR):
        body = {"slug": f"s{number}", "name": "One of many"}
        front.call("POST", "/v1/agents", json=body, **bearer(key(front)))
    body = {"slug": "last", "name": "Last"}
    refused = reason(front, "POST", "/v1/agents", 429, json=body, **bearer(key(front)))
    assert refused == "agent-registrations"
    made(front, "last")


def test_an_agent_registers_no_other_gets_no_key_and_reads_none_but_itself(front: Front) -> None:
    made(front, "other")
    own = key(front)
    asked: dict[str, Any] = {"slug": "mine", "name": "Mine", "key": {}}
    assert reason(front, "POST", "/v1/agents", 403, json=asked, **bearer(own)) == "role"
    front.call("POST", "/v1/agents", json={"slug": "mine", "name": "Mine"}, **bearer(own))
    assert reason(front, "GET", "/v1/agents/other", 404, **bearer(own)) == "not-found"
    assert reason(front, "GET", "/v1/agents", 403, **bearer(own)) == "role"
    assert reason(front, "PATCH", "/v1/agents/mine", 403, json={}, **bearer(own)) == "role"
    public = made(front, "site", key={"role": "public"})["secret"]
    assert reason(front, "POST", "/v1/agents", 403, json=asked, **bearer(public)) == "role"


# lists of tools, and what exists


def put_on_the_list(front: Front, database: Database, *tools: str) -> None:
    """Let every agent's list name tools, as one of an earlier version may."""
    mine = front.call("GET", "/v1/whoami")["workspace_id"]
    with database.connect_as_superuser() as root:
        root.execute("UPDATE agent SET tools = %s WHERE workspace_id = %s", (list(tools), mine))


def covered(front: Front) -> bool:
    coverage = front.call("GET", "/v1/agents")["coverage"]
    return coverage["listed"] == coverage["registered"]


def test_an_agent_whose_list_names_no_tool_is_disabled_before_it_does_anything_and_says_so(
    front: Front, database: Database
) -> None:
    own = made(front, tools=["memory_recall"])["secret"]
    assert covered(front)
    put_on_the_list(front, database, "memory_recall", "vanished")
    refused = mcp(front, own, "tools/call", name="memory_recall", arguments={"query": "lamp"})
    assert refused["result"]["isError"] is True
    assert "disabled" in refused["result"]["content"][0]["text"]
    assert listed(front, own) == {"read_docs"}
    assert front.call("GET", "/v1/agents/scout")["disabled"] == "tool-drift"
    assert not covered(front)
    enabled = front.answer("PATCH", "/v1/agents/scout", json={"disabled": False})
    assert [each["location"] for each in enabled.json()["errors"]] == ["tools.1"]
    front.call("PATCH", "/v1/agents/scout", json={"disabled": False, "tools": ["memory_recall"]})
    assert listed(front, own) == {"memory_recall"}
    assert covered(front)
    entries = front.call("GET", "/v1/ledger", params={"type": "agent"})["items"]
    assert [each["meta"]["disabled"] for each in entries] == [None, "tool-drift", None]


def test_a_server_that_starts_disables_agents_whose_lists_name_no_tool(
    front: Front, database: Database
) -> None:
    for slug in ("scout", "old", "new"):
        made(front, slug)
    put_on_the_list(front, database, "vanished")
    front.call("PATCH", "/v1/agents/new", json={"tools": ["memory_recall"]})
    front.call("PATCH", "/v1/agents/old", json={"disabled": True})
    lines = Lines()
    check_agents(front.app.state.services, lines)
    stopped = {each["slug"]: each["disabled"] for each in front.call("GET", "/v1/agents")["items"]}
    assert stopped == {"scout": "tool-drift", "old": "by-admin", "new": None}
    told = [fields for event, fields in lines.lines if event == "agent.tool_drift"]
    assert {"missing": ["vanished"]}.items() <= told[-1].items()
    check_agents(front.app.state.services, lines)
    assert front.call("GET", "/v1/agents/scout")["version"] == 2


def test_a_list_that_ships_and_names_no_tool_refuses_the_start(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_shipped()
    monkeypatch.setattr(surface, "SHIPPED", {"chat": frozenset({"memory_recall", "vanished"})})
    with pytest.raises(RuntimeError, match=r"'chat': \['vanished'\]"):
        create_asgi_app(ServerSettings.read())


def test_an_edition_leaves_tools_out_and_agents_of_another_do_nothing(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = made(front, "mine", tools=["memory_recall", "ticket_add"])["secret"]
    other = made(front, "other", edition="full")["secret"]
    assert listed(front, mine) == {"memory_recall", "ticket_add"}
    monkeypatch.setenv("CAIRN_EDITION", "memory")
    small = Front(front.key)
    assert listed(small, mine) == {"memory_recall"}
    assert "ticket_add" not in listed(small, front.key)
    called = mcp(small, mine, "tools/call", name="ticket_add", arguments={"title": "Lift"})
    assert "There is no tool" in called["error"]["message"]
    assert small.call("GET", "/v1/agents/mine")["disabled"] is None
    assert reason(small, "GET", "/v1/memories", 403, **bearer(other)) == "agent-edition"
