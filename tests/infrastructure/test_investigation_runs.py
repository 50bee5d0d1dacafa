"""The investigation machine, run by the emulator over a stand-in: walks, approvals, failures."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.infrastructure.assembly import ROOT
from tests.plugins.cloud import ROLE, EmptyCloud
from tests.plugins.waiting import eventually

SECONDS = 60
# Answers each step with the next line of the file `walk`: a state, or an error to raise.
STAND_IN = """
import json, os, pathlib

class Unavailable(Exception):
    pass

class BudgetExceeded(Exception):
    pass

FOLDER = pathlib.Path(os.environ["FOLDER"])

def handler(event, context):
    with (FOLDER / "calls").open("a") as calls:
        calls.write(json.dumps(event) + "\\n")
    walk = (FOLDER / "walk").read_text().split()
    (FOLDER / "walk").write_text(" ".join(walk[1:]))
    said, _, run = walk[0].partition(":")
    for error in (Unavailable, BudgetExceeded):
        if said == error.__name__:
            raise error("no")
    if said == "exit":
        os._exit(1)
    ids = {name: event[name] for name in ("workspace_id", "investigation_id")}
    return {**ids, "state": said, "run": int(run or event["run"])}
"""
FUNCTIONS = ("Plan", "Retrieve", "Act", "Audit")


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A started execution and what its stand-in was asked."""

    steps: Any
    arn: str
    folder: Path

    def calls(self) -> list[dict[str, Any]]:
        path = self.folder / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def asked(self) -> list[str]:
        return [call["step"] for call in self.calls()]

    def ended(self) -> dict[str, Any]:
        def found() -> dict[str, Any] | None:
            described = self.steps.describe_execution(executionArn=self.arn)
            return described if described["status"] != "RUNNING" else None

        return eventually(found, what="the end of the execution", seconds=SECONDS)

    def outcome(self) -> tuple[str, Any]:
        """The state it ended with, or the error that it failed with."""
        ended = self.ended()
        if ended["status"] != "SUCCEEDED":
            return ended["status"], ended["error"]
        return "SUCCEEDED", json.loads(ended["output"])["state"]

    def token(self) -> str:
        """The task token of the approval it waits for."""

        def found() -> str | None:
            return next((call["token"] for call in self.calls() if call["step"] == "wait"), None)

        return eventually(found, what="the token", seconds=SECONDS)

    def answer(self, token: str, state: str) -> None:
        output = json.dumps({"state": state, "run": 1})
        self.steps.send_task_success(taskToken=token, output=output)


@pytest.fixture(scope="module")
def machine(
    cloud: EmptyCloud, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """The machine over one stand-in for all its functions; a person has four seconds."""
    mark, folder = uuid.uuid4().hex[:8], tmp_path_factory.mktemp("investigation")
    arn = cloud.create_function(
        f"investigation-{mark}", STAND_IN, env={"FOLDER": str(folder)}, timeout=30
    )
    text = (ROOT / "statemachines" / "investigation.asl.json").read_text(encoding="utf-8")
    for function in FUNCTIONS:
        text = text.replace(f"${{{function}FunctionArn}}", arn)
    created = cloud.client("stepfunctions").create_state_machine(
        name=f"investigation-{mark}",
        definition=text.replace('"TimeoutSeconds": 86400', '"TimeoutSeconds": 4'),
        roleArn=ROLE,
    )
    yield created["stateMachineArn"], folder


@pytest.fixture
def walk(cloud: EmptyCloud, machine: tuple[str, Path]) -> Any:
    """Starts the machine; its steps answer the words of a walk in turn."""
    arn, folder = machine

    def start(answers: str) -> Walk:
        (folder / "walk").write_text(answers, encoding="utf-8")
        (folder / "calls").unlink(missing_ok=True)
        steps = cloud.client("stepfunctions")
        given = {"workspace_id": "w", "investigation_id": "i", "run": 1}
        started = steps.start_execution(stateMachineArn=arn, input=json.dumps(given))
        return Walk(steps=steps, arn=started["executionArn"], folder=folder)

    return start


def test_walks_from_the_ticket_to_the_write_back(walk: Any) -> None:
    run = walk(
        "CREATED PLANNING RETRIEVING PLANNING SAFETY_CHECK ACTING OBSERVING PLANNING VERDICT"
        " WRITING_BACK DONE DONE"
    )
    assert run.outcome() == ("SUCCEEDED", "DONE")
    assert run.asked() == [
        "enter", "CREATED", "PLANNING", "RETRIEVING", "PLANNING", "SAFETY_CHECK", "ACTING",
        "OBSERVING", "PLANNING", "VERDICT", "WRITING_BACK", "DONE",
    ]  # fmt: skip
    ids = [(call["workspace_id"], call["investigation_id"], call["run"]) for call in run.calls()]
    assert set(ids) == {("w", "i", 1)}


def test_an_approval_goes_on_where_the_decision_says(walk: Any) -> None:
    run = walk("PLANNING SAFETY_CHECK WAITING_APPROVAL null OBSERVING HALTED HALTED")
    run.answer(run.token(), "ACTING")
    assert run.outcome() == ("SUCCEEDED", "HALTED")
    assert run.asked()[3:] == ["wait", "ACTING", "OBSERVING", "HALTED"]


def test_what_nobody_decides_expires(walk: Any) -> None:
    run = walk("WAITING_APPROVAL null HALTED HALTED")
    assert run.outcome() == ("SUCCEEDED", "HALTED")
    assert run.asked() == ["enter", "wait", "expire", "HALTED"]


def test_a_token_that_could_not_be_kept_is_given_again(walk: Any) -> None:
    run = walk("WAITING_APPROVAL exit null VERDICT WRITING_BACK DONE DONE")
    eventually(lambda: run.asked().count("wait") == 2, what="the second try", seconds=SECONDS)
    run.answer(run.calls()[-1]["token"], "PLANNING")
    assert run.outcome() == ("SUCCEEDED", "DONE")


def test_a_worker_that_dies_is_replaced_and_the_step_is_asked_again(walk: Any) -> None:
    run = walk("PLANNING exit VERDICT WRITING_BACK exit DONE DONE")
    assert run.outcome() == ("SUCCEEDED", "DONE")
    asked = ["enter", "PLANNING", "PLANNING", "VERDICT", "WRITING_BACK", "WRITING_BACK", "DONE"]
    assert run.asked() == asked


def test_what_is_out_of_reach_for_a_while_is_asked_again(walk: Any) -> None:
    run = walk("PLANNING Unavailable VERDICT WRITING_BACK DONE Unavailable DONE")
    assert run.outcome() == ("SUCCEEDED", "DONE")


def test_what_a_step_cannot_do_halts_with_the_reason(walk: Any) -> None:
    run = walk("PLANNING BudgetExceeded HALTED HALTED")
    assert run.outcome() == ("SUCCEEDED", "HALTED")
    (told,) = [call for call in run.calls() if call["step"] == "halt"]
    assert told["error"] == "BudgetExceeded"


def test_a_run_that_another_has_taken_the_place_of_ends_and_does_nothing(walk: Any) -> None:
    run = walk("PLANNING RETRIEVING:2")
    assert run.outcome() == ("SUCCEEDED", "superseded")
    assert run.asked() == ["enter", "PLANNING"]


def test_a_state_that_does_not_follow_fails_the_execution(walk: Any) -> None:
    run = walk("PLANNING DONE")
    assert run.outcome() == ("FAILED", "Astray")
