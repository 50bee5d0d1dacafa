"""The act stage: what leaves the account. Steps of investigations, deliveries, calls, polls."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ValidationError

from cairn.bootstrap.act import act_services
from cairn.bootstrap.telemetry import invocation
from cairn.kernel.errors import CairnError
from cairn.kernel.spans import received
from cairn.workflows.event import WorkflowStep

SCHEDULED = {"poll_tickets": 80.0, "check_connectors": 70.0}  # seconds, of the function's 120
WEBHOOK, ESCALATION = ("webhook.failed", "webhook.sent"), ("escalation.failed", "escalation.sent")

services = act_services()


class Step(BaseModel):
    """A state of the investigation machine; `token` answers it once a person has decided."""

    step: Literal["SAFETY_CHECK", "ACTING", "WRITING_BACK", "wait", "expire"]
    workspace_id: UUID
    investigation_id: UUID
    run: int
    token: str = ""


class Message(BaseModel):
    """A queue message: which webhook to deliver, or about which investigation to call a person."""

    workspace_id: UUID
    outbox_id: UUID
    investigation_id: UUID | None = None


@invocation
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step, or poll, or deliver and tell the queue which messages are to come again."""
    if "Records" in event:
        failed = [record["messageId"] for record in event["Records"] if not _delivered(record)]
        return {"batchItemFailures": [{"itemIdentifier": item} for item in failed]}
    if event.get("step") in SCHEDULED:
        return _scheduled(event["step"])
    if "workflow_run_id" in event:
        return services.workflow(**dict(WorkflowStep.model_validate(event)))
    step = Step.model_validate(event)
    ids = step.workspace_id, step.investigation_id
    return services.investigation(step.step, *ids, run=step.run, token=step.token)


def _scheduled(step: str) -> dict[str, Any]:
    run = services.poll_tickets if step == "poll_tickets" else services.check_connectors
    done = dict(run(seconds=SCHEDULED[step]))
    services.log.info("act.scheduled", extra={"step": step, **done})
    return done


def _delivered(record: dict[str, Any]) -> bool:
    try:
        message = Message.model_validate_json(record["body"])
    except ValidationError:
        services.log.error("delivery.malformed", extra={"message_id": record["messageId"]})
        return False
    failed, sent = WEBHOOK if message.investigation_id is None else ESCALATION
    try:
        with received(record, "delivery"):
            became = _sent(message)
    except CairnError as error:
        services.log.warning(failed, extra={"error": error.code, "reason": error.reason})
        return False
    services.log.info(sent, extra={"became": became})
    return True


def _sent(message: Message) -> str:
    if message.investigation_id is None:
        return services.deliver(message.workspace_id, message.outbox_id)
    return services.escalate(message.workspace_id, message.investigation_id, message.outbox_id)
