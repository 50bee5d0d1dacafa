"""Calls of people, opinions, candidates and proposals over HTTP."""

from typing import Any

import pytest
from tests.unit.api.fakes import AGENT_KEY, Client, World
from tests.unit.api.people_fakes import PeopleWorld

from cairn.kernel.access import Scope
from cairn.kernel.ids import new_id

PATH = "/v1/investigations/01900000-0000-7000-8000-0000000000b1"


@pytest.fixture
def world() -> PeopleWorld:
    return PeopleWorld()


@pytest.fixture
def client(world: PeopleWorld) -> Client:
    return Client(World(peopling=world))


def test_calls_are_listed_shown_and_tried_again(client: Client, world: PeopleWorld) -> None:
    one = world.call
    listed = client.get("/v1/escalations?state=failed")
    assert [item["id"] for item in listed.json()["items"]] == [str(one.id)]
    assert world.said[0]["state"] == "failed"
    shown = client.get(f"/v1/escalations/{one.id}").json()
    assert shown["escalation"]["why"] == "Nobody may do this."
    assert shown["mend"][0]["path"] == "/v1/connectors/crm"
    assert "vault" not in shown["memory"]
    again = client.post(f"/v1/escalations/{one.id}/retry")
    assert (again.status_code, again.json()["state"]) == (202, "queued")
    assert client.post(f"/v1/escalations/{one.id}/retry").status_code == 409
    assert client.get(f"/v1/escalations/{new_id()}").status_code == 404


def test_channels_never_show_their_address(client: Client, world: PeopleWorld) -> None:
    new = {"name": "ops", "url": "https://hooks.slack.com/services/T/B/secret"}
    made = client.post("/v1/escalation-channels", new)
    assert made.status_code == 201
    assert "secret" not in made.text + client.get("/v1/escalation-channels").text
    assert client.post("/v1/escalation-channels", new).status_code == 409
    assert client.delete("/v1/escalation-channels/ops").json() == {"name": "ops"}
    assert client.delete("/v1/escalation-channels/ops").status_code == 404


def test_people_rate_and_dispute(client: Client, world: PeopleWorld) -> None:
    rated = client.post(f"{PATH}/rating", {"rating": 5, "comment": "Good."})
    assert (rated.status_code, rated.json()["rating"]) == (200, 5)
    disputed = client.post(f"{PATH}/dispute", {"reason": "It broke again."})
    assert (disputed.json()["kind"], disputed.json()["rating"]) == ("dispute", None)
    assert len(client.get(f"{PATH}/opinions").json()["items"]) == 2


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{PATH}/rating", {"rating": 0}),
        (f"{PATH}/rating", {"rating": 6}),
        (f"{PATH}/rating", {"rating": "5"}),
        (f"{PATH}/rating", {}),
        (f"{PATH}/dispute", {"reason": " "}),
        (f"{PATH}/dispute", {}),
        (f"{PATH}/steps/0/remember", {}),
        (f"{PATH}/steps/1/remember", {"label": "customer"}),
        ("/v1/candidates/01900000-0000-7000-8000-0000000000b1/edit", {}),
        ("/v1/candidates/01900000-0000-7000-8000-0000000000b1/reject", {"reason": ""}),
        ("/v1/candidates/01900000-0000-7000-8000-0000000000b1/accept", {"scope": "all"}),
        ("/v1/escalation-channels", {"name": "ops"}),
    ],
)
def test_what_is_not_said_right_is_refused(client: Client, path: str, body: dict[str, Any]) -> None:
    answer = client.post(path, body)
    assert answer.status_code == 422
    assert answer.json()["errors"]


def test_candidates_are_edited_and_decided_once(client: Client, world: PeopleWorld) -> None:
    one = world.candidate
    listed = client.get("/v1/candidates?state=staged").json()["items"]
    assert [(item["id"], item["text"]) for item in listed] == [(str(one.id), None)]
    path = f"/v1/candidates/{one.id}"
    assert client.get(path).json()["text"] == "# Locked out"
    assert client.post(f"{path}/edit", {"text": "# Better"}).json()["text"] == "# Better"
    accepted = client.post(f"{path}/accept", {"scope": "shared"})
    assert (accepted.status_code, accepted.json()["state"]) == (202, "accepted")
    assert Scope.SHARED in world.said
    assert client.post(f"{path}/reject", {"reason": "No."}).status_code == 409
    assert client.get(f"/v1/candidates/{new_id()}").status_code == 404


def test_steps_are_remembered_and_proposals_decided(client: Client, world: PeopleWorld) -> None:
    made = client.post(f"{PATH}/steps/3/remember", {"label": "resolution", "text": "Unlock it."})
    assert made.status_code == 201
    assert world.said[-1] == (3, "resolution", "Unlock it.")
    assert client.get("/v1/proposals").json()["items"][0]["status"] == "provisional"
    node = world.node_id
    assert client.post(f"/v1/proposals/{node}/accept").json()["status"] == "active"
    assert client.post(f"/v1/proposals/{node}/reject").json()["status"] == "archived"
    assert client.post(f"/v1/proposals/{new_id()}/accept").status_code == 404


def test_every_proposal_comes_once_page_by_page_the_newest_first(
    client: Client, world: PeopleWorld
) -> None:
    world.node_ids = [new_id() for _ in range(5)]
    pages = [client.get("/v1/proposals?limit=2").json()]
    while (cursor := pages[-1]["next_cursor"]) is not None:
        pages.append(client.get(f"/v1/proposals?limit=2&cursor={cursor}").json())
    seen = [[item["id"] for item in page["items"]] for page in pages]
    newest = [str(id_) for id_ in reversed(world.node_ids)]
    assert seen == [newest[:2], newest[2:4], newest[4:]]


@pytest.mark.parametrize("asked", ["limit=0", "limit=201", "cursor=x", "cursor=%00"])
def test_a_page_of_proposals_that_is_none_is_refused(client: Client, asked: str) -> None:
    assert client.get(f"/v1/proposals?{asked}").status_code == 422


def test_a_cursor_of_another_list_is_refused(client: Client, world: PeopleWorld) -> None:
    world.node_ids = [new_id() for _ in range(2)]
    cursor = client.get("/v1/proposals?limit=1").json()["next_cursor"]
    answer = client.get(f"/v1/candidates?cursor={cursor}")
    assert (answer.status_code, answer.json()["reason"]) == (422, "cursor-filters")


@pytest.mark.parametrize("path", ["/v1/escalations", "/v1/candidates", "/v1/proposals"])
def test_agents_do_not_review(path: str) -> None:
    agent = Client(World(), key=AGENT_KEY)
    assert agent.get(path).status_code == 403
