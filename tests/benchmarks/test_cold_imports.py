"""What importing a handler costs beside its big libraries alone: a ratio, in fresh interpreters.

Processor time, so that a busy machine does not change it; the least of several runs.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from infra.cdk.constructs.cairn_function import FASTER
from infra.cdk.functions import discover

ROOT = Path(__file__).parents[2]
RUNS, MOST_RUNS = 3, 10
ALLOWED = 1.5
LIBRARIES = {"api": "import fastapi, psycopg, boto3"}
OTHERS = "import psycopg, boto3"
TIMED = """
import sys, time
sys.path.insert(0, sys.argv[1])
started = time.process_time()
exec(sys.argv[2])
print(time.process_time() - started)
"""
MACHINE = "arn:aws:states:eu-central-1:111122223333:stateMachine"
ENVIRONMENT = {
    **FASTER,
    "AWS_REGION": "eu-central-1",
    "CAIRN_ANCHOR_BUCKET": "anchors",
    "CAIRN_APP_DATABASE_URL": "postgresql://cairn_app@database.example.org/cairn",
    "CAIRN_EMBED_QUEUE_URL": "https://queue.example.org/embed",
    "CAIRN_WEBHOOK_QUEUE_URL": "https://queue.example.org/webhook",
    "CAIRN_CONSOLIDATION_MACHINE_ARN": f"{MACHINE}:consolidation",
    "CAIRN_INGESTION_MACHINE_ARN": f"{MACHINE}:ingestion",
    "CAIRN_REBUILD_MACHINE_ARN": f"{MACHINE}:rebuild",
    "CAIRN_WORKFLOW_MACHINE_ARN": f"{MACHINE}:workflow",
    "CAIRN_INVESTIGATION_MACHINE_ARN": f"{MACHINE}:investigation",
    "CAIRN_ESCALATION_QUEUE_URL": "https://queue.example.org/escalation",
    "CAIRN_CHANNEL_QUEUE_URL": "https://queue.example.org/channel",
    "CAIRN_TICKET_QUEUE_URL": "https://queue.example.org/ticket",
    "CAIRN_SOURCE_QUEUE_URL": "https://queue.example.org/source",
    "CAIRN_DATABASE_AUTH": "iam",
    "CAIRN_KEY_STORE": "dynamodb:keys",
    "CAIRN_KMS_KEY_ARN": "arn:aws:kms:eu-central-1:111122223333:key/k",
    "CAIRN_MODEL_DIR": "/nowhere/model",
    "CAIRN_SIGNING_KEY": "kms:arn:aws:kms:eu-central-1:111122223333:key/s",
    "CAIRN_STAGE": "prod",
    "CAIRN_UPLOADS_BUCKET": "uploads",
}


def seconds(name: str, code: str) -> float:
    """Return the processor time of `code` in a fresh interpreter that finds the handler."""
    done = subprocess.run(
        [sys.executable, "-c", TIMED, str(ROOT / "functions" / name), code],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def ratio(name: str) -> float:
    """Return the ratio of the least times; measured on while a busy machine makes it too large."""
    libraries: list[float] = []
    handler: list[float] = []
    for run in range(MOST_RUNS):
        libraries.append(seconds(name, LIBRARIES.get(name, OTHERS)))
        handler.append(seconds(name, "import handler"))
        if run >= RUNS - 1 and min(handler) <= ALLOWED * min(libraries):
            break
    return min(handler) / min(libraries)


@pytest.mark.parametrize("name", sorted(discover()))
def test_a_handler_adds_at_most_half_of_its_libraries(name: str) -> None:
    assert ratio(name) <= ALLOWED
