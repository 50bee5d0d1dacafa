"""`/v1/consolidations`: who may, what is accepted, and what a dry run answers."""

import pytest
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World


def test_a_run_is_accepted_and_followed_by_its_id() -> None:
    client = Client(World())
    accepted = client.post("/v1/consolidations", {})
    assert accepted.status_code == 202
    run_id = accepted.json()["id"]
    assert accepted.json() == {"id": run_id, "state": "waiting"}
    shown = client.get(f"/v1/consolidations/{run_id}").json()
    assert (shown["id"], shown["cost_usd"], shown["undone"]) == (run_id, 0.0, ["insights"])
    assert shown["counts"]["superseded"] == 2


def test_a_dry_run_answers_the_plan_and_its_cost() -> None:
    answer = Client(World()).post("/v1/consolidations", {"dry_run": True})
    assert answer.status_code == 200
    plan = answer.json()
    assert plan["run"]["dry_run"] is True
    assert plan["run"]["cost_usd"] == 0.0
    assert plan["operations"][0]["operation"] == "merge"
    assert plan["more"] is False


def test_runs_are_listed_in_pages_the_newest_first() -> None:
    client = Client(World())
    ids = [client.post("/v1/consolidations", {}).json()["id"] for _ in range(3)]
    first = client.get("/v1/consolidations?limit=2").json()
    assert [item["id"] for item in first["items"]] == [ids[2], ids[1]]
    rest = client.get(f"/v1/consolidations?limit=2&cursor={first['next_cursor']}").json()
    assert [item["id"] for item in rest["items"]] == [ids[0]]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"client_id": "nobody"}, 404),
        ({"client_id": ""}, 422),
        ({"dry_run": "yes"}, 422),
        ({"clients": ["acme"]}, 422),
        ([], 422),
    ],
    ids=str,
)
def test_what_cannot_be_run_is_refused(body: object, status: int) -> None:
    assert Client(World()).post("/v1/consolidations", body).status_code == status


def test_a_run_of_nobody_is_not_found() -> None:
    client = Client(World())
    missing = client.get("/v1/consolidations/0198f0a2-5c1e-7b3d-9e55-0d6a4b8c1f20")
    assert missing.status_code == 404
    assert client.get("/v1/consolidations?cursor=damaged").status_code == 422


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_keys_of_agents_and_public_keys_may_not(key: str, method: str) -> None:
    world = World()
    refused = Client(world, key=key).request(method, "/v1/consolidations", json={})
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")
    assert world.runs.made == {}
