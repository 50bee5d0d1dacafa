"""Ways to break the running stack and mend it again: the embedder, the queue, the emulator."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

EMBED = "cairn-local-embed"
AUDIT = "cairn-local-audit"
API = "cairn-local-api"


@dataclass(frozen=True)
class EmbedQueue:
    """The queue in front of the embed function, with its dead letters."""

    laptop: "Laptop"

    @cached_property
    def sqs(self) -> Any:
        return self.laptop.client("sqs")

    @property
    def url(self) -> str:
        return self.laptop.env["CAIRN_EMBED_QUEUE_URL"]

    @property
    def dead_url(self) -> str:
        return self.sqs.get_queue_url(QueueName=f"{EMBED}-dead-letters")["QueueUrl"]

    def dead(self) -> int:
        """How many messages wait in the dead letter queue."""
        return self._count(self.dead_url, "ApproximateNumberOfMessages")

    def in_flight(self) -> int:
        """How many messages a worker has in its hands."""
        return self._count(self.url, "ApproximateNumberOfMessagesNotVisible")

    def send(self, body: str) -> None:
        """Put a message into the queue."""
        self.sqs.send_message(QueueUrl=self.url, MessageBody=body)

    def _count(self, url: str, name: str) -> int:
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
        return int(found["Attributes"][name])

    @contextmanager
    def hiding(self, seconds: int) -> Iterator[None]:
        """Let a message come back `seconds` after a try that failed, instead of a minute."""
        name = "VisibilityTimeout"
        found = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=[name])
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes={name: str(seconds)})
        yield
        self.sqs.set_queue_attributes(QueueUrl=self.url, Attributes=found["Attributes"])

    def empty_dead_letters(self) -> None:
        """Throw the dead letters away."""
        self.sqs.purge_queue(QueueUrl=self.dead_url)


@contextmanager
def without_model(laptop: "Laptop") -> Iterator[None]:
    """Point the embed function at a folder without a model."""
    functions = laptop.client("lambda")
    found = functions.get_function_configuration(FunctionName=EMBED)["Environment"]["Variables"]
    nowhere = str(laptop.stack.layout.base / "no-model")
    _configure(functions, {**found, "CAIRN_MODEL_DIR": nowhere})
    try:
        yield
    finally:
        _configure(functions, found)


@contextmanager
def without_aws(laptop: "Laptop") -> Iterator[None]:
    """Stop the emulator: no queue, no object store, no functions."""
    emulator = laptop.stack.emulator(laptop.stack.saved())
    emulator.stop()
    try:
        yield
    finally:
        emulator.start()


def sweep(laptop: "Laptop") -> int:
    """Run the audit function's sweep as its schedule does; how many rows it sent."""
    given = json.dumps({"step": "sweep_outbox"}).encode()
    answer = laptop.client("lambda").invoke(FunctionName=AUDIT, Payload=given)
    result = json.loads(answer["Payload"].read())
    assert "FunctionError" not in answer, result
    return result["sent"]


@contextmanager
def allowing(laptop: "Laptop", **per_minute: int) -> Iterator[None]:
    """Let workspaces ask the api function for so much in a minute: `items=20`."""
    functions = laptop.client("lambda")
    found = functions.get_function_configuration(FunctionName=API)["Environment"]["Variables"]
    few = {f"CAIRN_{kind.upper()}_PER_MINUTE": str(size) for kind, size in per_minute.items()}
    _configure(functions, {**found, **few}, API)
    try:
        yield
    finally:
        _configure(functions, found, API)


def _configure(functions: Any, variables: dict[str, str], function: str = EMBED) -> None:
    functions.update_function_configuration(
        FunctionName=function, Environment={"Variables": variables}
    )
