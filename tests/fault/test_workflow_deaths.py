"""Kill -9 of the worker in the middle of each step of a workflow: every step is done once."""

from typing import Any
from uuid import UUID

from tests.fault.office import SECONDS, Office
from tests.fault.turnstile import turnstile
from tests.plugins.waiting import eventually

from cairn.investigations.state import State

THINKS, ACTS = State.PLANNING, State.ACTING
"""States of an investigation whose functions run these steps of a workflow, too."""

SUM = {"name": "sum", "kind": "digest"}
TELL = {"name": "tell", "kind": "report", "title": "News", "body": "{{ steps.sum.text }}"}
UNLOCK = {
    "name": "unlock",
    "kind": "tool",
    "tool": "accounts.unlock_user",
    "arguments": {"user_id": "u-1", "reason": "She called."},
}


def made(office: Office, *steps: dict[str, Any]) -> str:
    """Make a workflow of steps and return where its runs begin."""
    body = {"name": "flow", "description": "", "steps": list(steps)}
    office.tenant.post("/v1/workflows", body)
    return "/v1/workflows/flow/runs"


def run_of(office: Office, run_id: UUID) -> dict[str, Any]:
    return office.tenant.get(f"/v1/workflow-runs/{run_id}")


def over(office: Office, run_id: UUID) -> dict[str, Any]:
    """Wait until a run is over."""

    def ended() -> dict[str, Any] | None:
        run = run_of(office, run_id)
        return run if run["ended_at"] else None

    return eventually(ended, seconds=SECONDS, what=f"the end of {run_of(office, run_id)}") or {}


def test_a_worker_killed_at_the_end_of_each_step_does_none_of_them_twice(office: Office) -> None:
    path = made(office, SUM, TELL)
    killed = set[int]()
    with turnstile(office.laptop, office.tenant.id) as held:
        run_id = held.meanwhile(lambda: office.tenant.post(path, {}))["id"]
        while True:
            eventually(
                lambda: held.waiting() or run_of(office, run_id)["ended_at"],
                seconds=SECONDS,
                what=f"a move of {run_of(office, run_id)}",
            )
            run = run_of(office, run_id)
            if run["ended_at"]:
                break
            if len(run["results"]) not in killed and office.kill_worker(THINKS):
                killed.add(len(run["results"]))
                held.forget_waiting()
            else:
                held.let_through()
    assert killed == {0, 1}
    assert run["state"] == "done", run
    assert [each["step"] for each in run["results"]] == ["sum", "tell"]
    assert office.tenant.get("/v1/reports", source_workflow="flow")["total"] == 1
    assert [each["state"] for each in run["results"]] == ["done", "done"]


def cut(office: Office) -> dict[str, Any]:
    """Kill the worker whose call has had its effect and no answer yet; the run once it is over."""
    office.let_act()
    office.hold("after")
    run_id = office.tenant.post(made(office, UNLOCK), {})["id"]
    eventually(office.held, seconds=SECONDS, what=f"the call of {run_of(office, run_id)}")
    office.kill_worker(ACTS)
    office.release()
    return over(office, run_id)


def test_a_call_cut_off_happens_once_where_the_connector_knows_keys(office: Office) -> None:
    run = cut(office)
    assert (run["state"], [each["state"] for each in run["results"]]) == ("done", ["done"])
    assert len(office.effects()) == 1


def test_a_call_cut_off_is_told_as_unknown_where_the_connector_knows_no_keys(
    forgetful_office: Office,
) -> None:
    run = cut(forgetful_office)
    assert (run["state"], run["error"]) == ("failed", "outcome-unknown")
    assert len(forgetful_office.effects()) == 1
