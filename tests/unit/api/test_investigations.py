"""`/v1/investigations` and `/v1/tool-calls`: starting, listing, polling, resuming, and who may."""

from uuid import UUID

import pytest
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World
from tests.unit.api.investigation_fakes import AgentWorld, step, tool_call

from cairn.investigations.state import State
from cairn.kernel.ids import new_id

MISSING = "0198f0a2-5c1e-7b3d-9e55-0d6a4b8c1f20"


def test_an_agent_may_start_an_investigation_and_see_where_it_is() -> None:
    world = World()
    client = Client(world, key=AGENT_KEY)
    started = client.post("/v1/investigations", {"ticket_id": str(new_id())})
    assert started.status_code == 202
    assert started.json()["state"] == "CREATED"
    assert started.json()["investigation_id"] in map(str, world.agents.made)


def test_while_every_slot_is_taken_a_ticket_waits() -> None:
    ticket = str(new_id())
    client = Client(World(agents=AgentWorld(full=True)))
    queued = client.post("/v1/investigations", {"ticket_id": ticket})
    assert queued.status_code == 202
    assert queued.json() == {"ticket_id": ticket, "state": "queued"}


def test_a_ticket_that_is_being_investigated_is_a_conflict_and_an_unknown_one_not_found() -> None:
    client = Client(World())
    ticket = str(new_id())
    client.post("/v1/investigations", {"ticket_id": ticket})
    again = client.post("/v1/investigations", {"ticket_id": ticket})
    assert (again.status_code, again.json()["reason"]) == (409, "investigated-already")
    assert client.post("/v1/investigations", {"ticket_id": str(UUID(int=0))}).status_code == 404


@pytest.mark.parametrize("body", [{}, {"ticket_id": "1"}, {"ticket_id": None}, [], {"ticket": 1}])
def test_what_names_no_ticket_is_refused(body: object) -> None:
    assert Client(World()).post("/v1/investigations", body).status_code == 422


def test_investigations_are_listed_in_pages_and_by_state() -> None:
    agents = AgentWorld()
    ids = [str(agents.add().id) for _ in range(3)]
    waiting = str(agents.add(state=State.WAITING_APPROVAL).id)
    client = Client(World(agents=agents))
    first = client.get("/v1/investigations?limit=2&state=PLANNING").json()
    assert [item["id"] for item in first["items"]] == [ids[2], ids[1]]
    cursor = first["next_cursor"]
    rest = client.get(f"/v1/investigations?limit=2&state=PLANNING&cursor={cursor}").json()
    assert ([item["id"] for item in rest["items"]], rest["next_cursor"]) == ([ids[0]], None)
    found = client.get("/v1/investigations?state=WAITING_APPROVAL").json()["items"]
    assert [item["id"] for item in found] == [waiting]
    assert client.get(f"/v1/investigations?limit=2&cursor={cursor}").status_code == 422


@pytest.mark.parametrize(
    "query", ["?state=planning", "?ticket_id=7", "?limit=0", "?limit=201", "?cursor=x"]
)
def test_filters_that_are_none_are_refused(query: str) -> None:
    assert Client(World()).get(f"/v1/investigations{query}").status_code == 422


def test_one_is_shown_with_spending_by_purpose_and_what_is_left() -> None:
    agents = AgentWorld()
    one = agents.add()
    shown = Client(World(agents=agents)).get(f"/v1/investigations/{one.id}").json()
    assert shown["investigation"]["spent"]["tokens"] == 1_200
    assert shown["spent_by_purpose"][0]["name"] == "planner"
    assert shown["left"]["tokens"] == 48_800
    assert shown["actions"][0]["tool"] == "accounts.unlock"


def test_steps_are_polled_after_a_number_until_it_has_ended() -> None:
    agents = AgentWorld()
    one = agents.add(step(1), step(2), step(3))
    client = Client(World(agents=agents))
    path = f"/v1/investigations/{one.id}/steps"
    first = client.get(f"{path}?limit=2").json()
    assert ([each["seq"] for each in first["items"]], first["ended"]) == ([1, 2], False)
    rest = client.get(f"{path}?after={first['after']}").json()
    assert ([each["seq"] for each in rest["items"]], rest["after"]) == ([3], 3)
    agents.end(one.id)
    last = client.get(f"{path}?after=3").json()
    assert (last["items"], last["after"], last["ended"]) == ([], 3, True)
    assert last["state"] == "DONE"


@pytest.mark.parametrize("query", ["?after=-1", "?after=x", "?after=99999999999", "?limit=1000"])
def test_a_number_that_is_none_is_refused(query: str) -> None:
    agents = AgentWorld()
    one = agents.add()
    answer = Client(World(agents=agents)).get(f"/v1/investigations/{one.id}/steps{query}")
    assert answer.status_code == 422


def test_investigations_are_resumed_one_or_all_that_stopped() -> None:
    agents = AgentWorld()
    one, ended = agents.add(), agents.add()
    agents.end(ended.id)
    client = Client(World(agents=agents))
    resumed = client.post(f"/v1/investigations/{one.id}/resume")
    assert (resumed.status_code, resumed.json()["investigation_id"]) == (202, str(one.id))
    every = client.post("/v1/investigations/resume").json()["items"]
    assert [each["investigation_id"] for each in every] == [str(one.id)]


@pytest.mark.parametrize("path", ["", "/steps", "/events"])
def test_another_one_is_not_found(path: str) -> None:
    client = Client(World())
    assert client.get(f"/v1/investigations/{MISSING}{path}").status_code == 404
    assert client.post(f"/v1/investigations/{MISSING}/resume").status_code == 404


def test_tool_calls_are_listed_by_connector_and_investigation() -> None:
    first, second = tool_call(), tool_call(owner="http", tool="http.get")
    client = Client(World(agents=AgentWorld(calls=[first, second])), key=AGENT_KEY)
    [shown] = client.get("/v1/tool-calls?connector=http").json()["items"]
    assert (shown["owner"], shown["tool"], shown["is_error"]) == ("http", "http.get", False)
    query = f"?investigation_id={first.investigation_id}"
    [other] = client.get(f"/v1/tool-calls{query}").json()["items"]
    assert other["id"] == str(first.id)
    page = client.get("/v1/tool-calls?limit=1").json()
    assert page["items"][0]["id"] == str(second.id)
    rest = client.get(f"/v1/tool-calls?limit=1&cursor={page['next_cursor']}").json()
    assert rest["items"][0]["id"] == str(first.id)


def test_a_tool_call_is_shown_by_the_id_of_its_citation() -> None:
    one = tool_call()
    client = Client(World(agents=AgentWorld(calls=[one, tool_call()])), key=AGENT_KEY)
    shown = client.get(f"/v1/tool-calls/{one.id}").json()
    assert (shown["id"], shown["output"]) == (str(one.id), one.output)
    assert client.get(f"/v1/tool-calls/{MISSING}").status_code == 404


ROUTES = [
    ("GET", "/v1/investigations"),
    ("POST", "/v1/investigations"),
    ("GET", f"/v1/investigations/{MISSING}"),
    ("GET", f"/v1/investigations/{MISSING}/steps"),
    ("GET", f"/v1/investigations/{MISSING}/events"),
    ("GET", "/v1/tool-calls"),
    ("GET", f"/v1/tool-calls/{MISSING}"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_public_keys_see_nothing_of_it(method: str, path: str) -> None:
    body = {"ticket_id": MISSING} if method == "POST" else None
    refused = Client(World(), key=PUBLIC_KEY).request(method, path, json=body)
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
@pytest.mark.parametrize("path", [f"/{MISSING}/resume", "/resume"])
def test_agents_resume_nothing(key: str, path: str) -> None:
    refused = Client(World(), key=key).post(f"/v1/investigations{path}")
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")
