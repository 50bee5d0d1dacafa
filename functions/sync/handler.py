"""The sync stage: runs of sources of knowledge, and the schedule that begins them."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ValidationError

from cairn.bootstrap.sync import sync_services
from cairn.bootstrap.telemetry import invocation
from cairn.kernel.errors import CairnError
from cairn.kernel.spans import received

SECONDS = 600.0  # of the function's 900: the rest is for the item it is at

services = sync_services()


class Step(BaseModel):
    """What the schedule asks for."""

    step: Literal["sync_sources"]


class Message(BaseModel):
    """A queue message: whose run is to go on."""

    workspace_id: UUID
    source_id: UUID


@invocation
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Go on with the runs that messages name, or wake those that are due."""
    if "Records" in event:
        failed = [record["messageId"] for record in event["Records"] if not _worked(record)]
        return {"batchItemFailures": [{"itemIdentifier": item} for item in failed]}
    step = Step.model_validate(event)
    woken = services.wake_due()
    services.log.info("sync.scheduled", extra={"step": step.step, "woken": woken})
    return {"woken": woken}


def _worked(record: dict[str, Any]) -> bool:
    try:
        message = Message.model_validate_json(record["body"])
    except ValidationError:
        services.log.error("sync.malformed", extra={"message_id": record["messageId"]})
        return False
    try:
        with received(record, "sync"):
            became = services.sync(message.workspace_id, message.source_id, seconds=SECONDS)
    except CairnError as error:
        services.log.warning("sync.failed", extra={"error": error.code, "reason": error.reason})
        return False
    services.log.info("sync.worked", extra={"became": became})
    return True
