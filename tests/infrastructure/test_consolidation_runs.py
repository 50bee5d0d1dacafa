"""The consolidation machine, run by the emulator over a stand-in: walk, loops, failures."""

import json
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.infrastructure.assembly import ROOT
from tests.plugins.cloud import ROLE, EmptyCloud
from tests.plugins.waiting import eventually

SECONDS = 90
# Answers each step as the real function does; the file `trouble` says what goes wrong, and where.
STAND_IN = """
import json, os, pathlib

class Unavailable(Exception):
    pass

class BudgetExceeded(Exception):
    pass

FOLDER = pathlib.Path(os.environ["FOLDER"])
CLIENTS = [
    {"workspace_id": "w1", "run_id": "r1", "client_id": "acme"},
    {"workspace_id": "w1", "run_id": "r1", "client_id": "w1"},
]

def handler(event, context):
    with (FOLDER / "calls").open("a") as calls:
        calls.write(json.dumps(event) + "\\n")
    trouble, step = (FOLDER / "trouble").read_text(), event["step"]
    ids = {name: event[name] for name in ("workspace_id", "run_id")}
    if step == "plan_run":
        if trouble == "no plan":
            raise BudgetExceeded("budget-usd: spent")
        workspaces = [{"workspace_id": "w1", "run_id": "r1"}]
        if event["run_id"] is None:
            workspaces.append({"workspace_id": "idle", "run_id": None})
        return {"workspaces": workspaces, "clients": CLIENTS, "wait": 0, "next": None}
    if step == "consolidate":
        if trouble == "one client" and event["client_id"] == "acme":
            raise BudgetExceeded("budget-usd: spent")
        again = FOLDER / ("again-" + event["client_id"])
        more = trouble == "long" and not again.exists()
        again.touch()
        return {**ids, "client_id": event["client_id"], "more": more}
    if step == "summarise" and trouble == "busy" and not (FOLDER / "busy").exists():
        (FOLDER / "busy").touch()
        raise Unavailable("try again")
    if step == "cleanup" and trouble == "cleanup":
        raise ValueError("no")
    if step in ("summarise", "cleanup"):
        return {**ids, "more": False}
    if step == "fail":
        (FOLDER / "failed").touch()
        return {**ids, "failed": True}
    failed = (FOLDER / "failed").exists() and event["run_id"]
    return {**ids, "state": "failed" if failed else "finished"}
"""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """One finished execution and what its function was asked."""

    status: str
    output: dict[str, Any] | None
    error: str | None
    calls: list[dict[str, Any]]

    def steps(self) -> Counter[str]:
        return Counter(call["step"] for call in self.calls)


@pytest.fixture
def consolidate(cloud: EmptyCloud, tmp_path: Path) -> Callable[..., Ended]:
    """Runs the machine with an input, while something goes wrong."""
    mark = uuid.uuid4().hex[:8]
    arn = cloud.create_function(
        f"consolidate-{mark}", STAND_IN, env={"FOLDER": str(tmp_path)}, timeout=30
    )
    text = (ROOT / "statemachines" / "consolidation.asl.json").read_text(encoding="utf-8")
    steps = cloud.client("stepfunctions")
    machine = steps.create_state_machine(
        name=f"consolidation-{mark}",
        definition=text.replace("${ConsolidateFunctionArn}", arn),
        roleArn=ROLE,
    )["stateMachineArn"]

    def run(trouble: str, given: dict[str, Any]) -> Ended:
        (tmp_path / "trouble").write_text(trouble, encoding="utf-8")
        started = steps.start_execution(stateMachineArn=machine, input=json.dumps(given))
        ended = _wait(steps, started["executionArn"])
        output = ended.get("output") if ended["status"] == "SUCCEEDED" else None
        calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
        return Ended(
            status=ended["status"],
            output=json.loads(output) if output else None,
            error=ended.get("error"),
            calls=[json.loads(call) for call in calls],
        )

    return run


SCHEDULED = {"trigger": "schedule"}
REQUESTED = {"workspace_id": "w1", "run_id": "r1"}


def test_a_scheduled_run_walks_over_every_client_and_workspace(
    consolidate: Callable[..., Ended],
) -> None:
    ended = consolidate("", SCHEDULED)
    assert (ended.status, ended.output) == ("SUCCEEDED", {"workspaces": 2, "status": "completed"})
    assert ended.steps() == {
        "plan_run": 1, "consolidate": 2, "summarise": 2, "cleanup": 2, "finish": 2
    }  # fmt: skip
    [planned] = [call for call in ended.calls if call["step"] == "plan_run"]
    assert (planned["workspace_id"], planned["run_id"]) == (None, None)
    assert ":execution:" in planned["execution"]


def test_a_run_that_was_asked_for_carries_its_ids(consolidate: Callable[..., Ended]) -> None:
    ended = consolidate("", REQUESTED)
    assert ended.status == "SUCCEEDED"
    assert all((call["workspace_id"], call["run_id"]) == ("w1", "r1") for call in ended.calls)


def test_a_client_with_more_memories_comes_again(consolidate: Callable[..., Ended]) -> None:
    ended = consolidate("long", REQUESTED)
    clients = Counter(call["client_id"] for call in ended.calls if call["step"] == "consolidate")
    assert clients == {"acme": 2, "w1": 2}
    assert ended.status == "SUCCEEDED"


def test_a_client_that_fails_does_not_stop_the_others_and_is_told(
    consolidate: Callable[..., Ended],
) -> None:
    ended = consolidate("one client", REQUESTED)
    assert (ended.status, ended.error) == ("FAILED", "PartsFailed")
    [told] = [call for call in ended.calls if call["step"] == "fail"]
    assert (told["run_id"], told["error"], told["ends"]) == ("r1", "BudgetExceeded", False)
    assert "budget-usd" in told["cause"]
    assert ended.steps()["consolidate"] == 2
    assert ended.calls[-1]["step"] == "finish"


def test_a_workspace_that_fails_is_ended_all_the_same(consolidate: Callable[..., Ended]) -> None:
    ended = consolidate("cleanup", SCHEDULED)
    assert (ended.status, ended.error) == ("FAILED", "PartsFailed")
    assert ended.steps()["finish"] == 2


def test_what_passes_is_tried_again(consolidate: Callable[..., Ended]) -> None:
    ended = consolidate("busy", REQUESTED)
    assert ended.status == "SUCCEEDED"
    assert ended.steps()["summarise"] == 2


def test_a_run_that_cannot_be_planned_is_ended_as_failed(
    consolidate: Callable[..., Ended],
) -> None:
    ended = consolidate("no plan", REQUESTED)
    assert (ended.status, ended.error) == ("FAILED", "BudgetExceeded")
    assert [call["step"] for call in ended.calls] == ["plan_run", "fail"]
    assert ended.calls[-1]["ends"] is True


def _wait(steps: Any, execution: str) -> dict[str, Any]:
    def ended() -> dict[str, Any] | None:
        described: dict[str, Any] = steps.describe_execution(executionArn=execution)
        return None if described["status"] == "RUNNING" else described

    found = eventually(ended, seconds=SECONDS, what=f"the end of {execution}")
    assert found is not None
    return found
