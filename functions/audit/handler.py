"""The audit stage: how machines ended, whether chains and indexes hold, what the outbox owes."""

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel

from cairn.bootstrap.audit import audit_services

MAINTAIN_SECONDS = 200.0  # of the function's 300: what is left is for the workspace it is at

services = audit_services()


class Step(BaseModel):
    """A schedule, or a state of a machine. What ran before `lost_before` lives no more."""

    step: Literal[
        "sweep_outbox",
        "sweep_investigations",
        "verify_and_anchor",
        "maintain_search_index",
        "count_accesses",
        "finish_ingestion",
        "fail_ingestion",
        "OBSERVING",
        "DONE",
        "HALTED",
        "halt",
    ]
    workspace_id: UUID = UUID(int=0)
    ingestion_id: UUID | None = None
    investigation_id: UUID | None = None
    run: int = 1
    lost_before: AwareDatetime | None = None
    error: str = ""
    cause: str = ""


class Execution(BaseModel):
    """What an execution of an investigation was given."""

    workspace_id: UUID
    investigation_id: UUID
    run: int


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step, or look after an execution that failed; return counts and ids."""
    if "detail" in event:
        given, status = Execution.model_validate_json(event["detail"]["input"]), event["detail"]
        return services.investigation.ended(**dict(given), status=status["status"])
    asked = Step.model_validate(event)
    failure = {"error": asked.error, "cause": asked.cause}
    if asked.investigation_id is not None:
        ids = asked.workspace_id, asked.investigation_id
        result = services.investigation(asked.step, *ids, run=asked.run, **failure)
    elif asked.ingestion_id is not None:
        end = services.finish.fail if asked.step == "fail_ingestion" else services.finish.succeed
        told = failure if asked.step == "fail_ingestion" else {}
        result = end(asked.workspace_id, asked.ingestion_id, **told)
    else:
        result = _kept(asked)
    services.log.info("audit.step", extra={"step": asked.step, **result})
    return result


def _kept(asked: Step) -> dict[str, Any]:
    keep, step = services.search_index, asked.step
    if step == "maintain_search_index":
        return keep.maintain(seconds=MAINTAIN_SECONDS) if keep else {"configured": False}
    if step == "count_accesses":
        return services.count_accesses(seconds=MAINTAIN_SECONDS)
    if step == "sweep_investigations":
        return services.sweep_investigations(asked.lost_before)
    if step == "verify_and_anchor":
        return services.verify()
    if step == "sweep_outbox":
        return dict(services.sweep())
    raise ValueError(f"the step {step} needs the ids of what it is about")
