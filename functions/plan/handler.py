"""The plan stage: what investigations and workflows think; tickets, from their queue."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ValidationError

from cairn.bootstrap.plan import plan_services
from cairn.bootstrap.telemetry import invocation
from cairn.kernel.errors import CairnError
from cairn.kernel.spans import received
from cairn.workflows.event import WorkflowStep

services = plan_services()


class Step(BaseModel):
    """A state of the investigation machine."""

    step: Literal["enter", "CREATED", "PLANNING", "VERDICT"]
    workspace_id: UUID
    investigation_id: UUID
    run: int


class Message(BaseModel):
    """A queue message: which ticket to take in."""

    workspace_id: UUID
    outbox_id: UUID
    ticket_id: UUID


@invocation
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step, or take tickets in and tell the queue which are to come again."""
    if "Records" in event:
        failed = [record["messageId"] for record in event["Records"] if not _taken(record)]
        return {"batchItemFailures": [{"itemIdentifier": item} for item in failed]}
    if "workflow_run_id" in event:
        return services.workflow(**dict(WorkflowStep.model_validate(event)))
    step = Step.model_validate(event)
    return services.investigation(step.step, step.workspace_id, step.investigation_id, run=step.run)


def _taken(record: dict[str, Any]) -> bool:
    try:
        message = Message.model_validate_json(record["body"])
    except ValidationError:
        services.log.error("ticket.malformed", extra={"message_id": record["messageId"]})
        return False
    try:
        with received(record, "ticket"):
            status = services.take(message.workspace_id, message.ticket_id, [message.outbox_id])
    except CairnError as error:
        services.log.warning("ticket.failed", extra={"error": error.code, "reason": error.reason})
        return False
    services.log.info("ticket.taken", extra={"status": status})
    return True
