"""The act stage: what leaves the account. So far deliveries of webhooks, from their queue."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, ValidationError

from cairn.bootstrap.act import act_services
from cairn.errors import CairnError

services = act_services()


class Message(BaseModel):
    """A queue message: which delivery to make."""

    workspace_id: UUID
    outbox_id: UUID


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Deliver, and tell the queue which messages are to come again."""
    failed = [one["messageId"] for one in event["Records"] if not _delivered(one)]
    return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}


def _delivered(record: dict[str, Any]) -> bool:
    try:
        message = Message.model_validate_json(record["body"])
    except ValidationError:
        services.log.error("webhook.malformed", extra={"message_id": record["messageId"]})
        return False
    try:
        became = services.deliver(message.workspace_id, message.outbox_id)
    except CairnError as error:
        services.log.warning("webhook.failed", extra={"error": error.code, "reason": error.reason})
        return False
    services.log.info("webhook.sent", extra={"became": became})
    return True
