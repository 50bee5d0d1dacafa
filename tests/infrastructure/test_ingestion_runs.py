"""The ingestion machine, run by the emulator over stand-in functions: walk, retries, failure."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.infrastructure.assembly import ROOT
from tests.plugins.cloud import ROLE, EmptyCloud
from tests.plugins.waiting import eventually

SECONDS = 60
# Answers each step as the real functions do; `ingestion_id` says what goes wrong, and where.
STAND_IN = """
import json, os, pathlib

class Unavailable(Exception):
    pass

class ValidationFailed(Exception):
    pass

FOLDER = pathlib.Path(os.environ["FOLDER"])

def handler(event, context):
    with (FOLDER / "calls").open("a") as calls:
        calls.write(json.dumps(event) + "\\n")
    trouble, step = event["ingestion_id"], event["step"]
    if trouble == "refused" and step == "parse":
        raise ValidationFailed("encrypted-pdf")
    if trouble == "one-batch" and step == "embed" and event["batch"] == 1:
        raise ValidationFailed("no vectors")
    if trouble == "busy" and step == "chunk" and not (FOLDER / "busy").exists():
        (FOLDER / "busy").touch()
        raise Unavailable("try again")
    if trouble == "killed" and step == "store" and not (FOLDER / "killed").exists():
        (FOLDER / "killed").touch()
        os.kill(os.getpid(), 9)
    if step == "store":
        return {"document_id": "d1", "batches": [0, 1, 2]}
    return {"sections": 3}
"""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """One finished execution and what its functions were asked."""

    status: str
    output: dict[str, Any] | None
    error: str | None
    calls: list[dict[str, Any]]

    def steps(self) -> list[str]:
        return [call["step"] for call in self.calls]


@pytest.fixture
def ingest(cloud: EmptyCloud, tmp_path: Path) -> Callable[[str], Ended]:
    """Runs one document whose id says what goes wrong."""
    mark = uuid.uuid4().hex[:8]
    arn = cloud.create_function(
        f"stand-in-{mark}", STAND_IN, env={"FOLDER": str(tmp_path)}, timeout=30
    )
    definition = (ROOT / "statemachines" / "ingestion.asl.json").read_text(encoding="utf-8")
    for token in ("IngestFunctionArn", "EmbedFunctionArn", "AuditFunctionArn"):
        definition = definition.replace(f"${{{token}}}", arn)
    steps = cloud.client("stepfunctions")
    machine = steps.create_state_machine(
        name=f"ingestion-{mark}", definition=definition, roleArn=ROLE
    )["stateMachineArn"]

    def run(trouble: str) -> Ended:
        given = json.dumps({"workspace_id": "w1", "ingestion_id": trouble})
        execution = steps.start_execution(stateMachineArn=machine, input=given)["executionArn"]
        ended = _wait(steps, execution)
        output = ended.get("output") if ended["status"] == "SUCCEEDED" else None
        calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
        return Ended(
            status=ended["status"],
            output=json.loads(output) if output else None,
            error=ended.get("error"),
            calls=[json.loads(call) for call in calls],
        )

    return run


def test_a_document_walks_through_every_step(ingest: Callable[[str], Ended]) -> None:
    ended = ingest("fine")
    assert ended.status == "SUCCEEDED"
    assert ended.output == {
        "workspace_id": "w1",
        "ingestion_id": "fine",
        "document_id": "d1",
        "status": "completed",
    }
    assert sorted(ended.steps()) == sorted(
        ["parse", "chunk", "store", "embed", "embed", "embed", "finish_ingestion"]
    )
    batches = [call["batch"] for call in ended.calls if call["step"] == "embed"]
    assert sorted(batches) == [0, 1, 2]
    assert all(call["workspace_id"] == "w1" for call in ended.calls)


def test_a_refused_document_is_recorded_once_and_the_execution_fails(
    ingest: Callable[[str], Ended],
) -> None:
    ended = ingest("refused")
    assert (ended.status, ended.error) == ("FAILED", "ValidationFailed")
    assert ended.steps() == ["parse", "fail_ingestion"]
    assert ended.calls[-1]["error"] == "ValidationFailed"
    assert "encrypted-pdf" in ended.calls[-1]["cause"]


def test_a_batch_that_fails_fails_the_document(ingest: Callable[[str], Ended]) -> None:
    ended = ingest("one-batch")
    assert (ended.status, ended.error) == ("FAILED", "ValidationFailed")
    assert ended.steps()[-1] == "fail_ingestion"
    assert "finish_ingestion" not in ended.steps()


@pytest.mark.parametrize("trouble", ["busy", "killed"])
def test_what_passes_is_tried_again(ingest: Callable[[str], Ended], trouble: str) -> None:
    ended = ingest(trouble)
    assert ended.status == "SUCCEEDED"
    step = {"busy": "chunk", "killed": "store"}[trouble]
    assert ended.steps().count(step) == 2


def _wait(steps: Any, execution: str) -> dict[str, Any]:
    def ended() -> dict[str, Any] | None:
        described: dict[str, Any] = steps.describe_execution(executionArn=execution)
        return None if described["status"] == "RUNNING" else described

    found = eventually(ended, seconds=SECONDS, what=f"the end of {execution}")
    assert found is not None
    return found
