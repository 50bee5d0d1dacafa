"""The audit stage: how machines ended, whether chains and indexes hold, what the outbox owes."""

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel

from cairn.bootstrap.audit import audit_services

SECONDS = 200.0  # of the function's 300: what is left is for the workspace it is at

services = audit_services()

Sweep = Literal["sweep_outbox", "sweep_investigations", "start_workflows"]
Kept = Literal["count_accesses", "maintain_search_index", "tell_gauges"]
Chains = Literal["list_chains", "verify_chain", "verify_and_anchor"]
Ended = Literal["finish_ingestion", "fail_ingestion", "OBSERVING", "DONE", "HALTED", "halt"]


class Step(BaseModel):
    """A schedule, or a state of a machine. What ran before `lost_before` lives no more."""

    step: Sweep | Kept | Ended | Chains
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
        subject = asked.workspace_id, asked.investigation_id
        result = services.investigation(asked.step, *subject, run=asked.run, **failure)
    elif asked.ingestion_id is not None:
        finish, ids = services.finish, (asked.workspace_id, asked.ingestion_id)
        failed = asked.step == "fail_ingestion"
        result = finish.fail(*ids, **failure) if failed else finish.succeed(*ids)
    else:
        result = _kept(asked)
    services.log.info("audit.step", extra={"step": asked.step, **result})
    return result


def _kept(asked: Step) -> dict[str, Any]:
    index, chain = services.search_index, (asked.workspace_id, asked.position, asked.hash)
    kept = {
        "maintain_search_index": lambda: index.maintain(seconds=SECONDS) if index else {},
        "count_accesses": lambda: services.count_accesses(seconds=SECONDS),
        "tell_gauges": services.tell_gauges,
        "sweep_investigations": lambda: services.sweep_investigations(asked.lost_before),
        "verify_and_anchor": lambda: services.verify(seconds=SECONDS),
        "verify_chain": lambda: services.verify.chain(*chain, seconds=SECONDS),
        "sweep_outbox": services.sweep,
        "start_workflows": services.start_workflows,
    }
    if asked.step in kept:
        return dict(kept[asked.step]())
    raise ValueError(f"the step {asked.step} needs the ids of what it is about")
