"""Machines that look after every workspace take a page an execution: run by the emulator."""

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.infrastructure.assembly import ROOT
from tests.plugins.cloud import ROLE, EmptyCloud
from tests.plugins.waiting import eventually

SECONDS = 90
# Three pages of one workspace each; the second one's fails, the third has more than one call does.
STAND_IN = """
import json, os, pathlib

class ChainsBroken(Exception):
    pass

CALLS = pathlib.Path(os.environ["FOLDER"]) / "calls"
FOLLOWING = {None: ("w1", "w1"), "w1": ("w2", "w2"), "w2": ("w3", None)}

def handler(event, context):
    with CALLS.open("a") as calls:
        calls.write(json.dumps(event) + "\\n")
    step = event["step"]
    if step in ("plan_run", "list_chains"):
        one, following = FOLLOWING[event["after"]]
        ids = {"workspace_id": one, "run_id": None, "position": None, "hash": None}
        return {"workspaces": [ids], "clients": [], "wait": 0, "next": following}
    if event["workspace_id"] == "w2" and step in ("verify_chain", "cleanup"):
        raise ChainsBroken("no")
    if step == "verify_chain" and event["workspace_id"] == "w3" and not event["position"]:
        return {"workspace_id": "w3", "position": 5000, "hash": "ab", "more": True}
    ids = {name: event.get(name) for name in ("workspace_id", "run_id")}
    return {**ids, "position": 9, "hash": "cd", "more": False, "state": "finished"}
"""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine and what its function was asked."""

    steps: Any
    arn: str
    folder: Path

    def run(self, given: dict[str, Any]) -> str:
        """Start it as the schedule does; return the name of the execution once it ended."""
        name = str(uuid.uuid4())
        arn = self.steps.start_execution(
            stateMachineArn=self.arn, name=f"{name}_{uuid.uuid4()}", input=json.dumps(given)
        )["executionArn"]
        eventually(lambda: self._ended(arn), seconds=SECONDS, what=f"the end of {arn}")
        return name

    def _ended(self, arn: str) -> bool:
        return self.steps.describe_execution(executionArn=arn)["status"] != "RUNNING"

    def executions(self, ended: int) -> dict[str, str]:
        """The status of each execution by name, once so many ended."""

        def all_ended() -> dict[str, str] | None:
            found = self.steps.list_executions(stateMachineArn=self.arn)["executions"]
            statuses = {item["name"]: item["status"] for item in found}
            return None if "RUNNING" in statuses.values() or len(found) < ended else statuses

        statuses = eventually(all_ended, seconds=SECONDS, what=f"{ended} executions")
        assert statuses is not None
        return statuses

    def calls(self) -> list[dict[str, Any]]:
        lines = (self.folder / "calls").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture(params=["consolidation", "verification"])
def machine(request: pytest.FixtureRequest, cloud: EmptyCloud, tmp_path: Path) -> Machine:
    """One of the machines, over the stand-in."""
    mark = uuid.uuid4().hex[:8]
    arn = cloud.create_function(
        f"paged-{mark}", STAND_IN, env={"FOLDER": str(tmp_path)}, timeout=30
    )
    text = (ROOT / "statemachines" / f"{request.param}.asl.json").read_text(encoding="utf-8")
    for token in ("${ConsolidateFunctionArn}", "${AuditFunctionArn}"):
        text = text.replace(token, arn)
    steps = cloud.client("stepfunctions")
    made = steps.create_state_machine(
        name=f"{request.param}-{mark}", definition=text, roleArn=ROLE
    )["stateMachineArn"]
    return Machine(steps=steps, arn=made, folder=tmp_path)


def test_every_page_is_taken_once_by_an_execution_of_its_own(machine: Machine) -> None:
    root = machine.run({"trigger": "schedule"})
    statuses = machine.executions(ended=3)
    pages = {name.removeprefix(root): status for name, status in statuses.items()}
    assert {pages["-2"], pages["-3"]} == {"FAILED", "SUCCEEDED"}  # the third although the second
    assert list(pages.values()).count("SUCCEEDED") == 2
    asked = [call["after"] for call in machine.calls() if "after" in call]
    assert asked == [None, "w1", "w2"]
    chains = [
        (call["workspace_id"], call["position"])
        for call in machine.calls()
        if call["step"] == "verify_chain"
    ]
    assert chains in ([], [("w1", None), ("w2", None), ("w3", None), ("w3", 5000)])
    machine.run({"trigger": "schedule", "root": root})  # the same event, delivered once more
    assert machine.executions(ended=4).items() >= statuses.items()
    assert len([call for call in machine.calls() if "after" in call]) == 4
