"""The audit stage: how machines ended, whether chains and indexes hold, what the outbox owes."""

from typing import Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel

from cairn.bootstrap.audit import audit_services
from cairn.bootstrap.telemetry import invocation

SECONDS = 200.0  # of the function's 300: what is left is for the workspace it is at
services = audit_services()
Sweep = Literal["sweep_outbox", "sweep_investigations", "start_workflows"]
Kept = Literal["count_accesses", "maintain_search_index", "tell_gauges", "maintain_feeds"]
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


@invocation
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step, or look after an execution that failed; return counts and ids."""
    if "detail" in event:
        execution, status = Execution.model_validate_json(event["detail"]["input"]), event["detail"]
        return services.investigation.ended(**dict(execution), status=status["status"])
    step = Step.model_validate(event)
    if step.step == "list_chains":
        return services.verify.page(step.after)
    failure = {"error": step.error, "cause": step.cause}
    if step.investigation_id is not None:
        subject = step.workspace_id, step.investigation_id
        result = services.investigation(step.step, *subject, run=step.run, **failure)
    elif step.ingestion_id is not None:
        finish, ids = services.finish, (step.workspace_id, step.ingestion_id)
        failed = step.step == "fail_ingestion"
        result = finish.fail(*ids, **failure) if failed else finish.succeed(*ids)
    else:
        result = _run_task(step)
    services.log.info("audit.step", extra={"step": step.step, **result})
    return result


def _run_task(step: Step) -> dict[str, Any]:
    index, chain = services.search_index, (step.workspace_id, step.position, step.hash)
    tasks = {
        "maintain_search_index": lambda: index.maintain(seconds=SECONDS) if index else {},
        "count_accesses": lambda: services.count_accesses(seconds=SECONDS),
        **{name: getattr(services, name) for name in ("tell_gauges", "maintain_feeds")},
        "sweep_investigations": lambda: services.sweep_investigations(step.lost_before),
        "verify_and_anchor": lambda: services.verify(seconds=SECONDS),
        "verify_chain": lambda: services.verify.chain(*chain, seconds=SECONDS),
        "sweep_outbox": services.sweep,
        "start_workflows": services.start_workflows,
    }
    if step.step in tasks:
        return dict(tasks[step.step]())
    raise ValueError(f"the step {step.step} needs the ids of what it is about")
