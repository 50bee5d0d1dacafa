"""The function that answers searches starts without what only writing needs."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
WRITING = ("cairn.writing", "cairn.ledger", "cairn.rebuild", "cairn.documents", "cairn.api")
HEAVY = ("cryptography", "onnxruntime", "fastapi", "anthropic", "openai", "opensearchpy", "boto3")
LOADED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import handler
print(json.dumps(sorted(sys.modules)))
"""
ENVIRONMENT = {
    "AWS_REGION": "eu-central-1",
    "CAIRN_APP_DATABASE_URL": "postgresql://cairn_app@database.example.org/cairn",
    "CAIRN_DATABASE_AUTH": "iam",
    "CAIRN_MODEL_DIR": "/nowhere/model",
    "CAIRN_STAGE": "prod",
    "CAIRN_KEY_STORE": "file:/nowhere/keys",
    "CAIRN_EMBED_QUEUE_URL": "https://queue.example.org/embed",
    "CAIRN_WEBHOOK_QUEUE_URL": "https://queue.example.org/webhook",
    "CAIRN_TICKET_QUEUE_URL": "https://queue.example.org/ticket",
    "CAIRN_SOURCE_QUEUE_URL": "https://queue.example.org/source",
    "CAIRN_ESCALATION_QUEUE_URL": "https://queue.example.org/escalation",
    "CAIRN_CHANNEL_QUEUE_URL": "https://queue.example.org/channel",
    "CAIRN_INVESTIGATION_MACHINE_ARN": "arn:aws:states:eu-central-1:1:stateMachine:investigation",
}


def test_retrieve_loads_nothing_of_the_write_path_and_no_big_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(ROOT / "functions" / "retrieve")],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    unwanted = {name for name in loaded if name.startswith(WRITING + HEAVY)}
    assert not unwanted
