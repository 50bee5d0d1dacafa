"""The audit stage: how machines ended, whether chains and indexes hold, what the outbox owes."""

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel

from cairn.bootstrap.audit import audit_services

SECONDS = 200.0  # of the function's 300: what is left is for the workspace it is at

services = audit_services()

Kept = Literal[
    "sweep_outbox", "sweep_investigations", "tell_gauges", "count_accesses", "maintain_search_index"
]
Chains = Literal["list_chains", "verify_chain", "verify_and_anchor"]
Ingestion = Literal["finish_ingestion", "fail_ingestion"]
Investigation = Literal["OBSERVING", "DONE", "HALTED", "halt"]


class Step(BaseModel):
    """A schedule, or a state of a machine. What ran before `lost_before` lives no more."""

    step: Kept | Ingestion | Investigation | Chains
    workspace_id: UUID = UUID(int=0)
    ingestion_id: UUID | None = None
    investigation_id: UUID | None = None
    run: int = 1
    lost_before: AwareDatetime | None = None
    after: UUID | None = None
    position: int | None = None
    hash: str | None = None
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
    if asked.step == "list_chains":
        return services.verify.page(asked.after)
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
    keep, verify, step = services.search_index, services.verify, asked.step
    if step == "maintain_search_index":
        return keep.maintain(seconds=SECONDS) if keep else {"configured": False}
    if step == "count_accesses":
        return services.count_accesses(seconds=SECONDS)
    if step == "tell_gauges":
        return services.tell_gauges()
    if step == "sweep_investigations":
        return services.sweep_investigations(asked.lost_before)
    if step == "verify_and_anchor":
        return verify(seconds=SECONDS)
    if step == "verify_chain":
        return verify.chain(asked.workspace_id, asked.position, asked.hash, seconds=SECONDS)
    if step == "sweep_outbox":
        return dict(services.sweep())
    raise ValueError(f"the step {step} needs the ids of what it is about")
