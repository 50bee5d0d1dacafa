"""Sending messages to queues, marked with their workspace: a queue lets workspaces take turns.

SQS does so for messages with a group (fair queues); a standard queue orders nothing by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.clients import aws_client
from cairn.kernel.errors import Unavailable
from cairn.kernel.spans import Kind, span
from cairn.kernel.traces import TRACEPARENT

if TYPE_CHECKING:
    from uuid import UUID


def send_message(
    queue_url: str,
    body: str,
    *,
    workspace_id: UUID,
    traceparent: str | None = None,
    delay_seconds: int = 0,
) -> None:
    """Send one message; what boto3 raises says that the queue did not take it."""
    queue = queue_url.rpartition("/")[2]
    attributes = {
        "messaging.system": "aws_sqs",
        "messaging.operation.type": "send",
        "messaging.destination.name": queue,
    }
    with span(f"send {queue}", attributes, kind=Kind.PRODUCER, parent=traceparent) as sending:
        aws_client("sqs").send_message(
            QueueUrl=queue_url,
            MessageBody=body,
            MessageGroupId=str(workspace_id),
            **({"DelaySeconds": delay_seconds} if delay_seconds else {}),
            **_attributes(sending.traceparent),
        )


def require_sent(
    queue_url: str,
    body: str,
    *,
    workspace_id: UUID,
    traceparent: str | None = None,
    delay_seconds: int = 0,
) -> None:
    """Send one message; Unavailable when the queue does not take it."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        send_message(
            queue_url,
            body,
            workspace_id=workspace_id,
            traceparent=traceparent,
            delay_seconds=delay_seconds,
        )
    except (BotoCoreError, ClientError) as exc:
        raise Unavailable("The queue does not take messages.", reason="queue") from exc


def _attributes(traceparent: str | None) -> dict[str, Any]:
    """Return what carries a trace with a message; nothing without one."""
    if traceparent is None:
        return {}
    value = {"DataType": "String", "StringValue": traceparent}
    return {"MessageAttributes": {TRACEPARENT: value}}
