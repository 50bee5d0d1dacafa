"""The emulator names Python errors as AWS does, so Retry and Catch by name work as deployed."""

import importlib.metadata
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from tests.plugins.cloud import EmptyCloud

FAILS_TWICE = """
import os
from pathlib import Path

class Unavailable(Exception): pass
class ValidationFailed(Exception): pass

def handler(event, context):
    calls = Path(os.environ["CALLS"])
    with calls.open("a") as stream:
        stream.write("x")
    if event.get("bad"):
        raise ValidationFailed("the input is wrong")
    if len(calls.read_text()) < 3:
        raise Unavailable("come back later")
    return {"calls": len(calls.read_text())}
"""
SLEEPS = """
import os, time
from pathlib import Path

def handler(event, context):
    Path(os.environ["STARTED"]).write_text("yes")
    time.sleep(30)
"""


def machine(function: str) -> str:
    retry = {"ErrorEquals": ["Unavailable"], "IntervalSeconds": 1, "MaxAttempts": 3}
    caught = {
        "ErrorEquals": ["ValidationFailed"],
        "Output": {"caught": "{% $states.errorOutput.Error %}"},
        "Next": "Caught",
    }
    task = {
        "Type": "Task",
        "Resource": "arn:aws:states:::lambda:invoke",
        "Arguments": {"FunctionName": function, "Payload": "{% $states.input %}"},
        "Output": "{% $states.result.Payload %}",
        "TimeoutSeconds": 30,
        "Retry": [retry],
        "Catch": [caught],
        "End": True,
    }
    states = {"Work": task, "Caught": {"Type": "Pass", "End": True}}
    return json.dumps({"QueryLanguage": "JSONata", "StartAt": "Work", "States": states})


@pytest.fixture(scope="module")
def run_machine(cloud: "EmptyCloud", tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("calls")
    states = cloud.client("stepfunctions")

    def run(name: str, event: dict[str, object]) -> dict[str, Any]:
        arn = cloud.create_function(name, FAILS_TWICE, env={"CALLS": str(folder / name)})
        created = states.create_state_machine(
            name=name, definition=machine(arn), roleArn="arn:aws:iam::000000000000:role/test"
        )
        started = states.start_execution(
            stateMachineArn=created["stateMachineArn"], input=json.dumps(event)
        )

        def ended() -> dict[str, Any] | None:
            found = states.describe_execution(executionArn=started["executionArn"])
            return found if found["status"] != "RUNNING" else None

        execution = eventually(ended, what="the end of the execution")
        return {**execution, "calls": len((folder / name).read_text())}

    return run


def test_the_emulator_is_the_version_that_was_tested() -> None:
    assert importlib.metadata.version("ministack") == "1.5.33"


def test_a_raised_error_keeps_its_class_name(cloud: "EmptyCloud", tmp_path: Path) -> None:
    cloud.create_function("names", FAILS_TWICE, env={"CALLS": str(tmp_path / "calls")})
    answer = cloud.client("lambda").invoke(FunctionName="names", Payload=b"{}")
    error = json.loads(answer["Payload"].read())
    assert answer["FunctionError"]
    assert (error["errorType"], error["errorMessage"]) == ("Unavailable", "come back later")


def test_unavailable_is_retried_by_name_until_it_works(run_machine: Any) -> None:
    execution = run_machine("retried", {})
    assert execution["status"] == "SUCCEEDED"
    assert json.loads(execution["output"]) == {"calls": 3}


def test_an_error_that_is_not_named_in_retry_is_caught_at_once(run_machine: Any) -> None:
    execution = run_machine("caught", {"bad": True})
    assert json.loads(execution["output"]) == {"caught": "ValidationFailed"}
    assert execution["calls"] == 1


DIES_AT_ONCE = "import os; os._exit(1)"


def test_a_worker_that_dies_while_it_starts_is_reported_as_an_exit(cloud: "EmptyCloud") -> None:
    cloud.create_function("stillborn", DIES_AT_ONCE)
    answer = cloud.client("lambda").invoke(FunctionName="stillborn", Payload=b"{}")
    assert json.loads(answer["Payload"].read())["errorType"] == "Runtime.ExitError"


WAITS = """
class Unavailable(Exception): pass

def handler(event, context):
    raise Unavailable("come back later")
"""


def test_a_task_that_waits_for_its_token_fails_with_its_function(cloud: "EmptyCloud") -> None:
    arn = cloud.create_function("waits", WAITS)
    definition = json.loads(machine(arn))
    definition["States"]["Work"] |= {
        "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
        "Retry": [],
        "Output": "{% $states.result %}",
        "Catch": [
            {
                "ErrorEquals": ["Unavailable"],
                "Output": {"caught": "{% $states.errorOutput.Error %}"},
                "Next": "Caught",
            }
        ],
    }
    states = cloud.client("stepfunctions")
    created = states.create_state_machine(
        name="waits",
        definition=json.dumps(definition),
        roleArn="arn:aws:iam::000000000000:role/test",
    )
    started = states.start_execution(stateMachineArn=created["stateMachineArn"], input="{}")

    def ended() -> dict[str, Any] | None:
        found = states.describe_execution(executionArn=started["executionArn"])
        return found if found["status"] != "RUNNING" else None

    execution = eventually(ended, what="the end of the execution")
    assert json.loads(execution["output"]) == {"caught": "Unavailable"}


def test_a_killed_worker_is_reported_as_an_exit_and_the_next_call_gets_a_new_one(
    cloud: "EmptyCloud", tmp_path: Path
) -> None:
    started = tmp_path / "started"
    cloud.create_function("killed", SLEEPS, env={"STARTED": str(started)}, timeout=60)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(cloud.client("lambda").invoke, FunctionName="killed", Payload=b"{}")
        eventually(started.exists, what="the start of the function")
        (pid,) = cloud.emulator.worker_pids("killed")
        os.kill(pid, signal.SIGKILL)
        error = json.loads(call.result(timeout=30)["Payload"].read())
    assert error["errorType"] == "Runtime.ExitError"
