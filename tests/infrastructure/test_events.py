"""The sample events are what the triggers really send: the machine, the schedules, the queue."""

import json
import re
from typing import Any

import pytest
from infra.cdk.constructs.step_machine import TASKS
from infra.cdk.functions import discover
from tests.infrastructure.assembly import ROOT, Assembly

EVENTS = ROOT / "events"


def sample(name: str) -> dict[str, Any]:
    return json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


def payloads(machine: str, states: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(function, payload) of every Task, also inside Maps."""
    found: list[tuple[str, dict[str, Any]]] = []
    for state in states.values():
        if "ItemProcessor" in state:
            found += payloads(machine, state["ItemProcessor"]["States"])
        if state["Type"] == "Task" and "FunctionName" in state["Arguments"]:
            (token,) = re.findall(r"\$\{(\w+)\}", state["Arguments"]["FunctionName"])
            found.append((TASKS[machine][token], state["Arguments"]["Payload"]))
    return found


def test_every_function_has_a_sample_of_its_events() -> None:
    assert {path.parent.name for path in EVENTS.glob("*/*.json")} == set(discover())


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_machine_sends_what_the_samples_show(name: str) -> None:
    text = (ROOT / "statemachines" / f"{name}.asl.json").read_text("utf-8")
    tasks = payloads(name, json.loads(text)["States"])
    named = {payload["step"] for _, payload in tasks if not is_chosen(payload["step"])}
    for function, payload in tasks:
        steps = named if is_chosen(payload["step"]) else set[str]()
        for shown in samples(name, function, payload["step"], but=steps):
            assert is_chosen(payload["step"]) or shown["step"] == payload["step"]
            assert set(shown) == set(payload)


def is_chosen(step: str) -> bool:
    """Whether a machine reads which step is next out of its input."""
    return step.startswith("{%")


def samples(machine: str, function: str, step: str, *, but: set[str]) -> list[dict[str, Any]]:
    """What a task sends: a machine's own sample goes before one that another machine shares."""
    found = (EVENTS / function).glob(f"{machine}-{'*' if is_chosen(step) else step}.json")
    own = [sample(f"{function}/{path.stem}") for path in found]
    shown = [event for event in own if event["step"] not in but]
    assert shown or not is_chosen(step)
    return shown or [sample(f"{function}/{step}")]


def scheduled(assembly: Assembly) -> list[dict[str, Any]]:
    """What the schedules of a stage send."""
    return [
        json.loads(target["Input"])
        for rule in assembly.resources("AWS::Events::Rule")
        for target in rule.properties["Targets"]
        if "ScheduleExpression" in rule.properties
    ]


def test_help_desks_are_polled_where_something_may_leave(local: Assembly, prod: Assembly) -> None:
    poll = sample("act/poll_tickets")
    assert poll in scheduled(local)
    assert poll not in scheduled(prod)  # its egress reaches AWS services only


def test_the_schedules_send_what_the_samples_show(prod: Assembly) -> None:
    sent = scheduled(prod)
    shown = [
        sample("act/check_connectors"),
        sample("audit/count_accesses"),
        sample("audit/maintain_feeds"),
        sample("audit/maintain_search_index"),
        sample("audit/start_workflows"),
        sample("audit/sweep_investigations"),
        sample("audit/sweep_outbox"),
        sample("audit/tell_gauges"),
        sample("retrieve/sweep_discovery"),
        sample("sync/sync_sources"),
        {"trigger": "schedule"},  # of the consolidation machine
        {"trigger": "schedule"},  # of the verification machine
    ]
    assert sorted(sent, key=str) == sorted(shown, key=str)


def test_an_execution_that_failed_is_told_with_what_it_was_given() -> None:
    event = sample("audit/execution_failed")
    assert event["source"] == "aws.states"
    given = json.loads(event["detail"]["input"])
    assert set(given) == {"workspace_id", "investigation_id", "run"}


def test_the_ticket_queue_sends_ids() -> None:
    (record,) = sample("plan/take-ticket")["Records"]
    assert set(json.loads(record["body"])) == {"workspace_id", "outbox_id", "ticket_id"}


def test_the_queue_sends_ids_and_a_position() -> None:
    (record,) = sample("embed/queue")["Records"]
    body = json.loads(record["body"])
    assert set(body) == {"workspace_id", "outbox_ids", "position", "nodes"}
