"""`cairn redrive`, and what waits in queues: for `cairn doctor` and `cairn status`."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, print_json
from cairn.kernel.clock import utc_now
from cairn.operations.backlog import Backlog
from cairn.settings.cli import CliSettings

_BATCH = 10


def redrive(
    ctx: typer.Context,
    queue: Annotated[
        str, typer.Option(help="embed, webhook, ticket, escalation, or a queue's URL.")
    ] = "embed",
    limit: Annotated[int, typer.Option(min=1, help="At most so many messages.")] = 1000,
    as_json: Json = False,
) -> None:
    """Send messages from a queue's dead letter queue back to it.

    A message is deleted from the dead letter queue only after it was sent again.
    """
    deps = deps_of(ctx)
    url = queue_urls(deps.settings).get(queue, queue)
    if not url:
        raise Failure("There is no queue to redrive.", advice="give --queue URL")
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        moved = move(deps.aws("sqs"), url, limit)
    except ClientError as exc:
        code = exc.response.get("Error", {}).get("Code", "unknown")
        raise Failure(
            f"The queue {url} refused: {code}.",
            advice="give --queue URL, from `aws sqs list-queues`",
        ) from exc
    except BotoCoreError as exc:
        raise Failure(
            f"The queue {url} cannot be reached.", advice="is the stack up? see `cairn status`"
        ) from exc
    if as_json:
        print_json({"queue": url, "redriven": moved})
    else:
        deps.out.print(f"{moved} messages are back in {url.rpartition('/')[2]}")


def queue_urls(settings: CliSettings) -> dict[str, str | None]:
    """Return the queues by name; None where the environment names none."""
    return {
        "embed": settings.embed_queue_url,
        "webhook": settings.webhook_queue_url,
        "ticket": settings.ticket_queue_url,
        "escalation": settings.escalation_queue_url,
    }


def depths(sqs: Any, url: str) -> tuple[int, int]:
    """Return how many messages wait in a queue, and how many in its dead letter queue."""
    wanted = ["ApproximateNumberOfMessages"]
    waiting, dead = (
        int(sqs.get_queue_attributes(QueueUrl=each, AttributeNames=wanted)["Attributes"][wanted[0]])
        for each in (url, _dead_letter_url(sqs, url))
    )
    return waiting, dead


def waiting_since(status: Mapping[str, Any]) -> Backlog:
    """Return how long the oldest text of a workspace has waited for its embedding."""
    since = status["oldest_pending_at"]
    if since is None:
        return Backlog()
    waited = utc_now() - datetime.fromisoformat(since)
    return Backlog(topic="embed", seconds=max(0, int(waited.total_seconds())))


def move(sqs: Any, url: str, limit: int) -> int:
    """Move up to `limit` messages and return how many were moved."""
    dead = _dead_letter_url(sqs, url)
    moved = 0
    while moved < limit:
        received = sqs.receive_message(
            QueueUrl=dead,
            MaxNumberOfMessages=min(_BATCH, limit - moved),
            MessageAttributeNames=["All"],
            WaitTimeSeconds=1,
        )
        messages = received.get("Messages", [])
        if not messages:
            break
        for message in messages:
            _move_one(sqs, message, source=dead, target=url)
            moved += 1
    return moved


def _move_one(sqs: Any, message: dict[str, Any], *, source: str, target: str) -> None:
    attributes = message.get("MessageAttributes", {})
    sqs.send_message(QueueUrl=target, MessageBody=message["Body"], MessageAttributes=attributes)
    sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])


def _dead_letter_url(sqs: Any, url: str) -> str:
    answer = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
    policy = answer.get("Attributes", {}).get("RedrivePolicy")
    if not policy:
        raise Failure("This queue has no dead letter queue.")
    name = json.loads(policy)["deadLetterTargetArn"].rpartition(":")[2]
    return sqs.get_queue_url(QueueName=name)["QueueUrl"]
