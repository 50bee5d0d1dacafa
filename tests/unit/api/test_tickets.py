"""`/v1/tickets`, `/v1/ticket-sources` and `/v1/personas`. The use cases are the real ones."""

from dataclasses import replace
from typing import Any

import httpx
import pytest
from tests.support.helpdesk import API, ATTACK, SIGNED_OUT, Helpdesk, incoming
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World
from tests.unit.api.ticket_fakes import INVESTIGATION, TicketWorld

from cairn.tickets.sealing import MAX_STORED_CHARS

TICKET: dict[str, Any] = {
    "title": "Cannot sign in",
    "body": "My password does not work since Monday.",
    "external_id": "T-1",
    "customer": "Hartwell Law",
    "requester_email": "kevin@hartwell.example",
    "priority": "high",
}
SOURCE: dict[str, Any] = {
    "name": "desk",
    "kind": "zoho-desk",
    "config": {"organisation_id": "1"},
    "secrets": {"token": "s3cret"},
}


@pytest.fixture
def world() -> TicketWorld:
    return TicketWorld()


@pytest.fixture
def helpdesk(world: TicketWorld) -> Helpdesk:
    return world.helpdesk


@pytest.fixture
def client(world: TicketWorld) -> Client:
    return Client(World(ticketing=world))


def of(client: Client, key: str) -> Client:
    return Client(client.world, key=key)


def refused(response: httpx.Response, status: int, reason: str) -> dict[str, Any]:
    problem = response.json()
    assert (response.status_code, problem["reason"]) == (status, reason)
    assert response.headers["content-type"] == "application/problem+json"
    return problem


def test_a_ticket_is_added_listed_and_shown(client: Client, helpdesk: Helpdesk) -> None:
    made = client.post("/v1/tickets", TICKET)
    assert (made.status_code, made.json()["outcome"]) == (201, "new")
    (listed,) = client.get("/v1/tickets").json()["items"]
    assert (listed["id"], listed["title"], listed["status"]) == (
        made.json()["id"],
        "Cannot sign in",
        "new",
    )
    assert "body" not in listed
    shown = client.get(f"/v1/tickets/{listed['id']}").json()
    assert (shown["body"], shown["cut"], shown["replies"]) == (TICKET["body"], False, [])
    assert [item["id"] for item in shown["investigations"]] == [str(INVESTIGATION)]
    assert shown["requester_email"] == "kevin@hartwell.example"


def test_the_same_external_id_again_answers_what_is_known(client: Client) -> None:
    first = client.post("/v1/tickets", TICKET).json()
    again = client.post("/v1/tickets", TICKET)
    assert (again.status_code, again.json()["outcome"]) == (200, "known")
    assert again.json()["id"] == first["id"]


def test_two_tickets_without_an_external_id_are_two(client: Client) -> None:
    for _ in range(2):
        client.post("/v1/tickets", {"title": "Same words"})
    assert len(client.get("/v1/tickets").json()["items"]) == 2


def test_an_idempotency_key_adds_one(client: Client) -> None:
    headers = {"idempotency-key": "k1"}
    first, again = (
        client.post("/v1/tickets", {"title": "Once"}, headers=headers).json() for _ in range(2)
    )
    assert first["id"] == again["id"]


def test_tickets_are_paged_and_filtered(client: Client, helpdesk: Helpdesk) -> None:
    for number in range(5):
        client.post("/v1/tickets", {**TICKET, "external_id": f"T-{number}"})
    helpdesk.sweep()
    first = client.get("/v1/tickets", params={"limit": 3, "status": "queued"}).json()
    assert len(first["items"]) == 3
    after = {"limit": 3, "status": "queued", "cursor": first["next_cursor"]}
    second = client.get("/v1/tickets", params=after).json()
    assert len(second["items"]) == 2
    assert second["next_cursor"] is None
    assert client.get("/v1/tickets", params={"status": "failed"}).json()["items"] == []
    assert client.get("/v1/tickets", params={"source": "desk"}).json()["items"] == []
    other = {"limit": 3, "cursor": first["next_cursor"]}
    refused(client.get("/v1/tickets", params=other), 422, "cursor-filters")


def test_the_queue_is_shown(client: Client, helpdesk: Helpdesk) -> None:
    client.post("/v1/tickets", TICKET)
    helpdesk.sweep()
    view = client.get("/v1/tickets/queue").json()
    assert (view["depth"], view["degraded"], view["expected_wait_s"]) == (1, False, None)
    assert (view["at_once"], view["degraded_above"]) == (8, 50)


def test_a_discarded_ticket_is_shown_and_can_be_queued(client: Client, helpdesk: Helpdesk) -> None:
    made = of(client, AGENT_KEY).post("/v1/tickets", {"title": "Hello there", "body": ATTACK})
    helpdesk.sweep()
    ticket = client.get(f"/v1/tickets/{made.json()['id']}").json()
    assert (ticket["status"], ticket["screening"]["verdict"]) == ("discarded", "DISCARD")
    queued = client.post(f"/v1/tickets/{ticket['id']}/requeue")
    assert (queued.status_code, queued.json()["status"]) == (202, "queued")


def test_an_administrators_own_words_are_not_held_back(client: Client, helpdesk: Helpdesk) -> None:
    made = client.post("/v1/tickets", {"title": "Hello there", "body": ATTACK})
    helpdesk.sweep()
    assert client.get(f"/v1/tickets/{made.json()['id']}").json()["status"] == "queued"


@pytest.mark.parametrize(
    ("changes", "status", "location"),
    [
        ({"title": ""}, 422, "title"),
        ({"title": "  "}, 422, "title"),
        ({"title": "x" * 501}, 413, "title"),
        ({"title": None}, 422, "title"),
        ({"body": "x" * (MAX_STORED_CHARS + 1)}, 413, "body"),
        ({"body": "a\x00b"}, 422, "body"),
        ({"body": "a\ud800b"}, 422, "body"),
        ({"body": 7}, 422, "body"),
        ({"external_id": ""}, 422, "external_id"),
        ({"external_id": " "}, 422, "external_id"),
        ({"customer": "x" * 201}, 422, "customer"),
        ({"priority": "mild"}, 422, "priority"),
        ({"received_at": "2026-05-01T12:00:00"}, 422, "received_at"),
        ({"sla_at": "soon"}, 422, "sla_at"),
        ({"source_metadata": {"a": "x" * 20_000}}, 413, "source_metadata"),
        ({"colour": "red"}, 422, "colour"),
    ],
)
def test_a_bad_ticket_is_refused_by_its_field(
    client: Client, changes: dict[str, Any], status: int, location: str
) -> None:
    response = client.post("/v1/tickets", {**TICKET, **changes})
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert any(location in error["location"] for error in response.json()["errors"])
    assert client.get("/v1/tickets").json()["items"] == []


def test_a_ticket_of_a_megabyte_is_taken_and_cut_where_it_is_shown(client: Client) -> None:
    made = client.post("/v1/tickets", {**TICKET, "body": "x" * MAX_STORED_CHARS})
    assert made.status_code == 201
    shown = client.get(f"/v1/tickets/{made.json()['id']}").json()
    assert shown["cut"]
    assert shown["body"].endswith(f"[cut by cairn: {MAX_STORED_CHARS} characters in all]")


def test_a_ticket_for_a_persona_that_is_none_is_refused(client: Client) -> None:
    refused(client.post("/v1/tickets", {**TICKET, "persona": "nobody"}), 404, "not-found")


def test_agents_may_add_tickets_and_not_read_them(client: Client) -> None:
    agent = of(client, AGENT_KEY)
    made = agent.post("/v1/tickets", TICKET)
    assert made.status_code == 201
    refused(agent.get("/v1/tickets"), 403, "role")
    refused(agent.get(f"/v1/tickets/{made.json()['id']}"), 403, "role")
    assert agent.get("/v1/tickets/queue").status_code == 200
    public = of(client, PUBLIC_KEY)
    refused(public.post("/v1/tickets", TICKET), 403, "role")


def test_a_ticket_that_is_none_is_not_found(client: Client) -> None:
    gone = "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"
    refused(client.get(f"/v1/tickets/{gone}"), 404, "not-found")
    refused(client.post(f"/v1/tickets/{gone}/requeue"), 404, "not-found")


def test_a_source_is_registered_changed_and_removed_without_showing_secrets(
    client: Client,
) -> None:
    made = client.post("/v1/ticket-sources", SOURCE)
    assert made.status_code == 201
    source = made.json()
    assert source["events_path"] == f"/v1/ticket-sources/{source['id']}/events"
    path = f"/v1/ticket-sources/{source['id']}"
    changed = client.request("PATCH", path, json={"poll_seconds": 600, "paused": True}).json()
    assert (changed["poll_seconds"], changed["state"]) == (600, "paused")
    listed = client.get("/v1/ticket-sources")
    assert listed.json()["items"] == [client.get(path).json()]
    assert "s3cret" not in made.text + listed.text
    assert client.delete(path).json() == {"id": source["id"]}
    refused(client.get(path), 404, "not-found")
    assert client.get("/v1/ticket-sources").json()["items"] == []


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "api"},
        {"name": "No Name"},
        {"kind": "pigeon"},
        {"kind": "api", "name": "api"},
        {"poll_seconds": 5},
        {"secrets": {"token": 7}},
        {"secrets": {"token": ""}},
        {"config": []},
    ],
)
def test_a_bad_source_is_refused(client: Client, changes: dict[str, Any]) -> None:
    response = client.post("/v1/ticket-sources", {**SOURCE, **changes})
    assert response.status_code == 422
    assert "s3cret" not in response.text


def test_a_source_of_a_name_that_is_taken_is_refused(client: Client) -> None:
    client.post("/v1/ticket-sources", SOURCE)
    refused(client.post("/v1/ticket-sources", SOURCE), 409, "source-exists")


def test_a_source_is_polled_now(client: Client, helpdesk: Helpdesk) -> None:
    helpdesk.remote.pages = [[incoming()]]
    source = client.post("/v1/ticket-sources", SOURCE).json()
    path = f"/v1/ticket-sources/{source['id']}/poll"
    polled = {
        "new": 1,
        "changed": 0,
        "known": 0,
        "nameless": 0,
        "set_aside": {},
        "messages": 0,
        "complete": True,
    }
    assert client.post(path).json() == polled
    helpdesk.remote.failing["poll"] = SIGNED_OUT
    refused(client.post(path), 409, "needs-auth")
    assert client.get(f"/v1/ticket-sources/{source['id']}").json()["state"] == "needs-auth"


def test_a_webhook_needs_a_signature_and_no_key(client: Client, helpdesk: Helpdesk) -> None:
    helpdesk.remote.pages = [[incoming()]]
    source = client.post("/v1/ticket-sources", SOURCE).json()
    stranger = Client(client.world, key=None)
    path = source["events_path"]
    assert stranger.get(path).json() == {"status": "ok"}
    signed = {"X-Signature": "good", "X-Id": "d-1"}
    taken = stranger.request("POST", path, content=b"0", headers=signed)
    assert (taken.json()["new"], taken.json()["duplicate"]) == (1, False)
    again = stranger.request("POST", path, content=b"0", headers=signed)
    assert (again.json()["known"], again.json()["duplicate"]) == (1, True)
    for headers in ({}, {"X-Signature": "bad"}):
        refused(stranger.request("POST", path, content=b"0", headers=headers), 401, "unsigned")
    assert len(client.get("/v1/tickets").json()["items"]) == 1


def test_a_signed_challenge_is_answered_by_itself(client: Client, helpdesk: Helpdesk) -> None:
    helpdesk.remote.challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkv"
    path = client.post("/v1/ticket-sources", SOURCE).json()["events_path"]
    stranger, signed = Client(client.world, key=None), {"X-Signature": "good", "X-Id": "d-1"}
    taken = stranger.request("POST", path, content=b"", headers=signed)
    assert taken.json() == {"challenge": helpdesk.remote.challenge}
    refused(stranger.request("POST", path, content=b""), 401, "unsigned")


def test_a_webhook_of_no_source_is_not_found(client: Client) -> None:
    path = "/v1/ticket-sources/019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e/events"
    stranger = Client(client.world, key=None)
    refused(stranger.get(path), 404, "not-found")
    refused(stranger.request("POST", path, content=b"x" * 1_000_000), 404, "not-found")
    too_large = stranger.request("POST", path, content=b"x" * (4 * 1024 * 1024 + 1))
    assert too_large.status_code == 413


def test_a_persona_is_made_changed_and_removed(client: Client) -> None:
    body = {"instructions": "Wake nobody.", "autonomy": "investigate", "max_usd": 0.25}
    refused(client.request("PUT", "/v1/personas/night", json=body), 404, "not-found")
    made = client.post("/v1/personas", {"name": "night", **body}).json()
    refused(client.post("/v1/personas", {"name": "night"}), 409, "persona-exists")
    refused(client.post("/v1/personas", {"name": "default"}), 409, "persona-exists")
    assert (made["version"], made["max_usd"], made["max_iterations"]) == (1, "0.25", 20)
    client.request("PUT", "/v1/personas/night", json={**body, "max_usd": "1.5"})
    assert client.get("/v1/personas/night").json()["max_usd"] == "1.5"
    versions = client.get("/v1/personas/night/versions").json()["items"]
    assert [version["version"] for version in versions] == [2, 1]
    names = [item["name"] for item in client.get("/v1/personas").json()["items"]]
    assert names == ["default", "night"]
    assert client.delete("/v1/personas/night").json() == {"name": "night"}
    refused(client.get("/v1/personas/night"), 404, "not-found")
    refused(client.delete("/v1/personas/default"), 409, "default")


@pytest.mark.parametrize(
    "body",
    [
        {"name": "Night"},
        {"name": ""},
        {"max_usd": 0},
        {"max_usd": "much"},
        {"max_tokens": "1"},
        {"max_iterations": 0},
        {"autonomy": "full"},
        {"escalation": "call me"},
        {"redaction": "secret"},
        {"instructions": "a\x00"},
        {"colour": "red"},
    ],
)
def test_a_bad_persona_is_refused(client: Client, body: dict[str, Any]) -> None:
    response = client.post("/v1/personas", {"name": "night", **body})
    assert response.status_code == 422
    assert len(client.get("/v1/personas").json()["items"]) == 1


def test_sources_and_changes_of_personas_are_an_admins(client: Client) -> None:
    agent = of(client, AGENT_KEY)
    refused(agent.get("/v1/ticket-sources"), 403, "role")
    refused(agent.request("PUT", "/v1/personas/night", json={}), 403, "role")
    assert agent.get("/v1/personas/default").status_code == 200


def test_a_requesters_message_is_added_shown_and_puts_the_ticket_back(
    client: Client, helpdesk: Helpdesk
) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "needs_client")
    helpdesk.clock.move(minutes=1)
    path, asked = f"/v1/tickets/{ticket_id}/messages", {"text": "It is me.", "external_id": "m-1"}
    made = of(client, AGENT_KEY).post(path, asked)
    assert (made.status_code, made.json()["outcome"]) == (201, "new")
    again = client.post(path, asked)
    assert (again.status_code, again.json()["outcome"]) == (200, "known")
    assert again.json()["id"] == made.json()["id"]
    shown = client.get(f"/v1/tickets/{ticket_id}").json()
    (message,) = shown["messages"]
    assert (message["text"], message["external_id"], shown["status"]) == ("It is me.", "m-1", "new")


def test_a_message_that_cannot_be_kept_is_refused(client: Client, helpdesk: Helpdesk) -> None:
    ticket_id = helpdesk.taken(incoming())
    path = f"/v1/tickets/{ticket_id}/messages"
    for asked in ({}, {"text": ""}, {"text": 7}, {"text": "a\x00b"}, {"text": "a", "more": 1}):
        assert client.post(path, asked).status_code == 422
    assert client.post(path, {"text": "x" * (MAX_STORED_CHARS + 1)}).status_code in (413, 422)
    gone = "/v1/tickets/019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e/messages"
    assert client.post(gone, {"text": "Hello"}).status_code == 404
    assert of(client, PUBLIC_KEY).post(path, {"text": "Hello"}).status_code == 403
    desk = helpdesk.taken(incoming(), replace(API, source="desk"))
    refused(client.post(f"/v1/tickets/{desk}/messages", {"text": "Hi"}), 409, "other-source")
