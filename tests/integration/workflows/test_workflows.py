"""Workflows over HTTP as wired, their steps in the deployed functions, over PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.forgetting import erase_in_memory
from tests.support.workflows import Died, Machine, begin, make, shown

from cairn.workflows import moving

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from tests.support.front import Cloud, Front

FACT = "The harbour project is run by Ilse Brandt."
RECALL = {"name": "look", "kind": "recall", "query": "Who runs {{ input.what }}?", "limit": 5}
REPORT = {
    "name": "tell",
    "kind": "report",
    "title": "News of {{ run.date }}",
    "body": "Found {{ steps.look.count }}:\n{{ steps.look.text }}",
    "keywords": ["news", "{{ run.date }}"],
}
WAIT = {"name": "yes", "kind": "wait", "message": "Shall {{ input.what }} go on?", "hours": 2}
NOTIFY = {"name": "ping", "kind": "notify", "message": "{{ steps.yes.comment }}"}


def remember(front: Front, text: str, **more: Any) -> str:
    memory = {"type": "fact", "text": text, **more}
    done = front.call("POST", "/v1/memories", json=memory)
    return str(done["id"])


def test_a_run_searches_and_reports_and_each_step_is_a_node_and_no_tool_call(
    front: Front, machine: Machine
) -> None:
    memory = remember(front, FACT)
    make(front, RECALL, REPORT)
    run_id = begin(front, what="the harbour project")
    assert machine.work() == ["done"]
    assert machine.calls == ["enter", "recall", "report"]
    run = shown(front, run_id)
    assert (run["state"], run["next_step"], run["error"]) == ("done", None, None)
    look, tell = run["results"]
    assert f"[memory:{memory}]" in look["output"]["text"]
    day = run["created_at"][:10]
    [report] = front.call("GET", "/v1/reports/latest", params={"keyword": day})["items"]
    assert (report["id"], report["title"]) == (tell["output"]["id"], f"News of {day}")
    assert report["source_workflow"] == "flow"
    assert FACT in report["body"]
    nodes = front.call("GET", "/v1/nodes", params={"label": "StepResult"})["items"]
    assert {node["id"] for node in nodes} == {look["id"], tell["id"]}
    assert front.call("GET", "/v1/tool-calls")["items"] == []
    found = front.call("POST", "/v1/search", json={"query": "Who runs the harbour project?"})
    assert "StepResult" not in str(found)


def test_a_run_waits_for_a_person_whose_comment_goes_on_and_webhooks_hear_of_it_without_texts(
    front: Front, machine: Machine, cloud: Cloud
) -> None:
    address = {"url": "https://hooks.example.org/cairn", "events": ["workflow_notice"]}
    front.call("POST", "/v1/webhooks", json=address)
    make(front, WAIT, NOTIFY)
    run_id = begin(front, what="the crossing")
    assert machine.work() == ["waiting"]
    waiting = shown(front, run_id)
    assert waiting["waiting"]["message"] == "Shall the crossing go on?"
    assert machine.work() == []
    path = f"/v1/workflow-runs/{run_id}/decide"
    front.call("POST", path, json={"decision": "approve", "comment": "Calm seas."})
    twice = front.answer("POST", path, json={"decision": "reject"})
    assert (twice.status_code, twice.json()["reason"]) == (409, "not-waiting")
    assert machine.work() == ["done"]
    yes, ping = shown(front, run_id)["results"]
    assert (yes["output"]["decision"], ping["output"]["message"]) == ("approved", "Calm seas.")
    assert [one for one in cloud.messages if one["QueueUrl"].endswith("/webhook")]


def test_a_rejected_run_ends_and_so_does_a_cancelled_one(front: Front, machine: Machine) -> None:
    make(front, WAIT, NOTIFY)
    first, second = begin(front, what="a"), begin(front, what="b")
    machine.work()
    path = "/v1/workflow-runs"
    rejected = front.call("POST", f"{path}/{first}/decide", json={"decision": "reject"})
    assert (rejected["state"], rejected["error"]) == ("cancelled", "rejected")
    cancelled = front.call("POST", f"{path}/{second}/cancel")
    assert (cancelled["state"], cancelled["error"]) == ("cancelled", "cancelled")
    for verb in ("cancel", "resume"):
        again = front.answer("POST", f"{path}/{second}/{verb}")
        assert (again.status_code, again.json()["reason"]) == (409, "ended")
    states = front.call("GET", path, params={"state": "cancelled"})["items"]
    assert [each["id"] for each in states] == [second, first]


def test_what_dies_before_or_after_a_step_is_kept_loses_nothing_and_doubles_nothing(
    front: Front, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(front, FACT)
    make(front, RECALL, REPORT)
    run_id = begin(front, what="the harbour project")
    move, deaths = moving.Runner.move, iter([True, False, True, False, True, False])

    def dying(self: Any, *given: Any, **named: Any) -> Any:
        if next(deaths, False):
            raise Died
        done = move(self, *given, **named)
        if next(deaths, False):
            raise Died
        return done

    monkeypatch.setattr(moving.Runner, "move", dying)
    assert machine.work() == ["done"]
    run = shown(front, run_id)
    assert [result["step"] for result in run["results"]] == ["look", "tell"]
    reports = front.call("GET", "/v1/reports", params={"source_workflow": "flow"})
    assert reports["total"] == 1
    assert len(machine.calls) > 3


def test_a_failed_step_says_why_and_may_be_tried_again(front: Front, machine: Machine) -> None:
    long = {**REPORT, "body": "{{ input.what }}" * 2}
    make(front, {**long, "keywords": []})
    run_id = begin(front, what="x" * 6_000)
    assert machine.work() == ["failed"]
    run = shown(front, run_id)
    assert (run["state"], run["error"], run["next_step"]) == ("failed", "too-large", "tell")
    assert run["results"][0]["state"] == "failed"
    again = front.call("POST", f"/v1/workflow-runs/{run_id}/resume")
    assert again["state"] == "running"
    assert machine.work() == ["failed"]
    assert len(shown(front, run_id)["results"]) == 2


def test_an_execution_that_another_took_the_place_of_does_nothing(
    front: Front, machine: Machine, cloud: Cloud
) -> None:
    make(front, {"name": "sum", "kind": "digest"})
    run_id = begin(front)
    front.call("POST", f"/v1/workflow-runs/{run_id}/resume")
    assert machine.work() == ["superseded", "done"]
    assert len(shown(front, run_id)["results"]) == 1


def test_a_digest_says_by_rules_what_is_new_and_what_waits(front: Front, machine: Machine) -> None:
    make(front, {"name": "sum", "kind": "digest", "hours": 1})
    empty = begin(front)
    machine.work()
    assert shown(front, empty)["results"][0]["output"]["text"].startswith("Nothing is new")
    remember(front, FACT)
    front.call("POST", "/v1/tasks", json={"kind": "work", "title": "Paint the boat"})
    second = begin(front)
    machine.work()
    text = shown(front, second)["results"][0]["output"]["text"]
    assert "New in the last 1 hours: 1 Memory" in text
    assert FACT in text
    assert "[running] Paint the boat" in text or "Paint the boat" in text


def test_definitions_are_versioned_and_a_run_goes_on_with_the_one_it_began_with(
    front: Front, machine: Machine
) -> None:
    make(front, WAIT)
    run_id = begin(front, what="the ferry")
    machine.work()
    body = {"description": "other", "steps": [{"name": "sum", "kind": "digest"}]}
    changed = front.call("PUT", "/v1/workflows/flow", json=body)
    same = front.call("PUT", "/v1/workflows/flow", json=body)
    assert (changed["version"], same["version"]) == (2, 2)
    front.call("DELETE", "/v1/workflows/flow")
    assert front.answer("GET", "/v1/workflows/flow").status_code == 404
    assert front.answer("POST", "/v1/workflows/flow/runs", json={}).status_code == 404
    versions = front.call("GET", "/v1/workflows/flow/versions")["items"]
    assert [(each["version"], each["removed"]) for each in versions] == [
        (3, True),
        (2, False),
        (1, False),
    ]
    front.call("POST", f"/v1/workflow-runs/{run_id}/decide", json={"decision": "approve"})
    assert shown(front, run_id)["state"] == "done"
    anew = make(front, RECALL)
    assert (anew["version"], anew["inputs"]) == (4, ["what"])


def test_a_repeated_start_is_one_run_and_what_it_is_given_is_checked(
    front: Front, machine: Machine
) -> None:
    make(front, RECALL)
    headers = {"idempotency-key": "once"}
    path, body = "/v1/workflows/flow/runs", {"input": {"what": "the ferry"}}
    first = front.call("POST", path, json=body, headers=headers)
    second = front.call("POST", path, json=body, headers=headers)
    assert first["id"] == second["id"]
    for wrong, place in (
        ({}, "input.what"),
        ({"what": "x", "other": "y"}, "input.other"),
        ({"what": "\u0000"}, ""),
        ({"what": "x" * 9_000}, ""),
    ):
        refused = front.answer("POST", path, json={"input": wrong})
        assert refused.status_code in (413, 422), refused.text
        assert place in refused.text


def test_a_forgotten_client_takes_what_runs_of_theirs_said_and_were_given_along(
    front: Front, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(front, "Ada keeps the spare key in the shed.", client_id="ada")
    make(front, {**RECALL, "query": "Where is {{ input.what }}?"}, WAIT)
    body = {"input": {"what": "the spare key"}, "client_id": "ada"}
    run_id = front.call("POST", "/v1/workflows/flow/runs", json=body)["id"]
    assert machine.work() == ["waiting"]
    assert "shed" in shown(front, run_id)["results"][0]["output"]["text"]
    erase_in_memory(monkeypatch, tmp_path)
    gone = {"subject": {"kind": "client", "natural_key": "ada"}}
    front.call("POST", "/v1/forget", json=gone)
    run = shown(front, run_id)
    assert (run["state"], run["error"], run["client_id"]) == ("failed", "forgotten", None)
    assert run["results"] == []
    front.call("POST", f"/v1/workflow-runs/{run_id}/resume")
    assert machine.work() == ["failed"]
    assert shown(front, run_id)["error"] == "result-forgotten"


def test_an_expired_wait_and_a_lost_execution_are_found_by_the_sweep(
    front: Front, machine: Machine, cloud: Cloud
) -> None:
    from tests.support.front import function

    make(front, {"name": "sum", "kind": "digest"})
    run_id = begin(front)
    cloud.executions.clear()
    audit = function("audit")
    swept = audit.handler(
        {"step": "sweep_investigations", "lost_before": "2199-01-01T00:00:00Z"}, None
    )
    assert swept["workflows_resumed"] >= 1  # those that other tests left, too
    cloud.executions = [each for each in cloud.executions if run_id in each["name"]]
    assert machine.work() == ["done"]
    assert shown(front, run_id)["state"] == "done"


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "a cycle": (
        {"steps": [{**RECALL, "needs": ["tell"]}, {**REPORT, "needs": ["look"]}]},
        "workflow-cycle",
        "look -> tell -> look",
    ),
    "a step that needs itself": (
        {"steps": [{**WAIT, "needs": ["yes"]}]},
        "workflow-cycle",
        "yes -> yes",
    ),
    "an unknown kind": (
        {"steps": [{"name": "a", "kind": "fly"}]},
        "unknown-step-kind",
        "steps.0.kind",
    ),
    "an unknown tool": (
        {"steps": [{"name": "a", "kind": "tool", "tool": "crm.delete_all"}]},
        "unknown-tool",
        "steps.0.tool",
    ),
    "a step that was deleted": ({"steps": [REPORT]}, "unknown-reference", "steps.0.body"),
    "a step that comes later": ({"steps": [REPORT, RECALL]}, "later-reference", "steps.0.body"),
    "an output that a kind has not": (
        {"steps": [RECALL, {**NOTIFY, "message": "{{ steps.look.colour }}"}]},
        "unknown-reference",
        "steps.1.message",
    ),
    "braces that name nothing": (
        {"steps": [{**NOTIFY, "message": "{{ }}"}]},
        "unknown-reference",
        "steps.0.message",
    ),
    "a need that is no step": (
        {"steps": [{**NOTIFY, "message": "x", "needs": ["gone"]}]},
        "unknown-step",
        "steps.0.needs.0",
    ),
    "two steps of one name": ({"steps": [WAIT, WAIT]}, "step-name", "steps.1.name"),
    "no step": ({"steps": []}, "no-step", "steps"),
    "too many steps": (
        {"steps": [{**WAIT, "name": f"s{n}"} for n in range(21)]},
        "too-many-steps",
        "21",
    ),
    "a field of another kind": (
        {"steps": [{**WAIT, "query": "x"}]},
        "validation-failed",
        "steps.0.query",
    ),
    "a field that is missing": (
        {"steps": [{"name": "a", "kind": "ask"}]},
        "validation-failed",
        "steps.0.prompt",
    ),
    "a name with a NUL": ({"steps": [{**WAIT, "name": "a\u0000"}]}, "fields", "NUL"),
}


def test_a_bad_definition_is_refused_with_its_place_and_nothing_is_kept(front: Front) -> None:
    for what, (body, reason, place) in BAD.items():
        refused = front.answer("POST", "/v1/workflows", json={"name": "bad", **body})
        assert refused.status_code in (413, 422), what
        assert refused.headers["content-type"].startswith("application/problem+json")
        assert refused.json()["reason"] == reason, (what, refused.text)
        assert place in refused.text, (what, refused.text)
    assert front.call("GET", "/v1/workflows")["items"] == []
    make(front, WAIT)
    known = front.answer("POST", "/v1/workflows", json={"name": "flow", "steps": [WAIT]})
    assert (known.status_code, known.json()["reason"]) == (409, "exists")


def test_a_run_is_told_as_events_that_a_reader_may_come_back_to(
    front: Front, machine: Machine
) -> None:
    make(front, RECALL, REPORT)
    run_id = begin(front, what="the ferry")
    machine.work()
    path = f"/v1/workflow-runs/{run_id}/events"
    told = front.answer("GET", path).text
    names = [line[7:] for line in told.splitlines() if line.startswith("event: ")]
    assert names == ["run_start", *["step_start", "step_end"] * 2, "run_end"]
    rest = front.answer("GET", path, headers={"last-event-id": "1"}).text
    assert ("run_start" not in rest, rest.count("event: step_end")) == (True, 1)
    wrong = front.answer("GET", path, headers={"last-event-id": "9"})
    assert (wrong.status_code, wrong.json()["reason"]) == (422, "last-event-id")
    trace = shown(front, run_id)["trace_id"]
    assert set(front.traced("workflow.step_ended")) == {trace}
