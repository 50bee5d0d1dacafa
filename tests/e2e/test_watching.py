"""An investigation on the running stack: followed live, polled through the gateway, drawn."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, open_workspace, refused
from tests.plugins.waiting import eventually

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACE = TRACEPARENT[3:35]
EVENTS = "text/event-stream"


@pytest.fixture(scope="module")
def tenant(laptop: Laptop) -> Tenant:
    return open_workspace(laptop, "watching")


@pytest.fixture(scope="module")
def investigation(tenant: Tenant) -> str:
    """The id of an investigation that a ticket of a trace began."""
    asked = {"title": "Where is the handbook?", "body": "I cannot find the handbook anywhere."}
    ticket = tenant.post("/v1/tickets", asked, headers={"traceparent": TRACEPARENT})
    found = eventually(lambda: begun(tenant, ticket["id"]), seconds=60, what="an investigation")
    assert found is not None
    return found


def begun(tenant: Tenant, ticket_id: str) -> str | None:
    found = tenant.get("/v1/investigations", ticket_id=ticket_id)["items"]
    return found[0]["id"] if found else None


def followed(tenant: Tenant, investigation: str, **headers: str) -> list[tuple[str, Any]]:
    """Every event of the stream, until it ends by itself."""
    given = {"authorization": f"Bearer {tenant.key}", **headers}
    path = f"{tenant.base}/v1/investigations/{investigation}/events"
    found: list[tuple[str, Any]] = []
    with httpx.stream("GET", path, headers=given, timeout=120) as answer:
        assert answer.status_code == 200
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            if line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def test_a_stream_tells_each_step_until_the_investigation_ends(
    tenant: Tenant, investigation: str
) -> None:
    told = followed(tenant, investigation)
    names = [name for name, _ in told]
    assert names[0] == "investigation_start"
    assert names[-1] == "investigation_end"
    assert told[-1][1]["state"] == "DONE"
    assert told[-1][1]["timings"]
    ends = [data for name, data in told if name == "step_end"]
    assert [end["seq"] for end in ends] == list(range(1, len(ends) + 1))
    assert all(end["summary"] for end in ends)
    rest = followed(tenant, investigation, **{"last-event-id": str(len(ends) - 1)})
    assert [data["seq"] for name, data in rest if name == "step_end"] == [len(ends)]


def test_the_gateway_streams_nothing_and_polls_the_same_steps(
    laptop: Laptop, tenant: Tenant, investigation: str
) -> None:
    path = f"{laptop.gateway_url}/v1/investigations/{investigation}"
    headers = {"authorization": f"Bearer {tenant.key}"}
    refusal = httpx.get(f"{path}/events", headers=headers, timeout=60)
    assert refused(refusal, 501, "not-streamable")["reason"] == "poll-steps"
    polled = httpx.get(f"{path}/steps", headers=headers, timeout=60).json()
    assert polled == tenant.get(f"/v1/investigations/{investigation}/steps")
    assert polled["ended"] is True


def test_the_deployed_functions_answer_a_chat_by_polling(laptop: Laptop, tenant: Tenant) -> None:
    deployed = replace(tenant, base=laptop.gateway_url)
    turn_id = str(new_id())
    body = {"message": "Please remember: the crane is run by Runa.", "turn_id": turn_id}
    streamed = deployed.call("POST", "/v1/chat", json=body, headers={"accept": EVENTS})
    assert refused(streamed, 501, "not-streamable")["reason"] == "poll-chunks"
    path, told = f"/v1/chat/{turn_id}/chunks", list[dict[str, Any]]()

    def ended() -> bool:
        answer = deployed.call("GET", path, params={"after": len(told)})
        if answer.status_code == 404:  # it has not begun
            return False
        page = answer.json()
        told.extend(page["items"])
        return bool(page["ended"])

    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(deployed.post, "/v1/chat", body)
        eventually(ended, seconds=60, what="the end of the turn")
        turn = asking.result()
    names = [event["name"] for event in told]
    assert (names[0], names[-1]) == ("graph_start", "graph_end")
    text = "".join(event["data"]["text"] for event in told if event["name"] == "text_chunk")
    assert turn["answer"] == text and "Runa" in text
    assert "Runa" in cairn(deployed, "chat", "Who runs the crane?").out


def test_the_trace_of_the_ticket_is_on_every_entry_and_on_the_execution(
    laptop: Laptop, tenant: Tenant, investigation: str
) -> None:
    shown = tenant.get(f"/v1/investigations/{investigation}")["investigation"]
    assert shown["trace_id"] == TRACE
    for type_ in ("ticket", "investigation"):
        entries = tenant.get("/v1/ledger", type=type_, limit=200)["items"]
        assert {entry["trace_id"] for entry in entries} == {TRACE}, type_
    machine = laptop.env["CAIRN_INVESTIGATION_MACHINE_ARN"]
    execution = f"{machine.replace(':stateMachine:', ':execution:')}:{shown['execution']}"
    found = laptop.client("stepfunctions").describe_execution(executionArn=execution)
    assert json.loads(found["input"])["traceparent"][3:35] == TRACE


def test_the_command_draws_it_and_shows_what_it_cost(
    laptop: Laptop, tenant: Tenant, investigation: str
) -> None:
    for base in (laptop.url, laptop.gateway_url):
        drawn = cairn(replace(tenant, base=base), "investigations", "watch", investigation)
        assert drawn.status == 0, drawn.err
        assert "DONE" in drawn.out
        assert "\u25cf" in drawn.out
    assert "left" in cairn(tenant, "investigations", "show", investigation).out
    assert "a million of" in cairn(tenant, "cost").out
