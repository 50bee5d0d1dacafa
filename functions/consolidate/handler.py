"""The consolidate stage: the steps of the consolidation machine."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.consolidate import consolidate_services
from cairn.bootstrap.telemetry import invocation

STEP_SECONDS = 240.0  # of the function's 900: the rest is for the batch it is at, and its model

services = consolidate_services()


class Step(BaseModel):
    """A state of the machine. It carries ids; `run_id` is null where nothing was to be done."""

    step: Literal[
        "plan_run",
        "consolidate",
        "summarise",
        "cleanup",
        "finish",
        "fail",
        "rebuild",
        "fail_rebuild",
    ]
    workspace_id: UUID | None = None
    run_id: UUID | None = None
    client_id: UUID | None = None
    execution: str | None = None
    after: UUID | None = None
    error: str = ""
    cause: str = ""
    ends: bool = False
    rebuild_id: UUID | None = None


@invocation
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step and return ids and counts."""
    step = Step.model_validate(event)
    if step.workspace_id is not None and step.rebuild_id is not None:
        return _rebuilt(step, step.workspace_id, step.rebuild_id)
    ids = {"workspace_id": step.workspace_id, "run_id": step.run_id}
    if step.step == "plan_run":
        return services.begin(**ids, execution=step.execution, after=step.after)
    result = _worked(step)
    services.log.info("consolidation.step", extra={"step": step.step, **result})
    return {**{name: str(id_) if id_ else None for name, id_ in ids.items()}, **result}


def _rebuilt(step: Step, workspace_id: UUID, rebuild_id: UUID) -> dict[str, Any]:
    ids = workspace_id, rebuild_id
    if step.step == "rebuild":
        result = services.rebuild.step(*ids, seconds=STEP_SECONDS)
    else:
        result = services.rebuild.fail(*ids, error=step.error)
    services.log.info("rebuild.step", extra={"step": step.step, **result})
    return {"workspace_id": str(workspace_id), "rebuild_id": str(rebuild_id), **result}


def _worked(step: Step) -> dict[str, Any]:
    if step.workspace_id is None:
        return {"failed": True}
    if step.step in ("summarise", "cleanup"):
        keep = services.summarise if step.step == "summarise" else services.cleanup
        return keep(step.workspace_id, step.run_id, seconds=STEP_SECONDS)
    if step.run_id is None:
        return {"failed": step.step == "fail"}
    ids = step.workspace_id, step.run_id
    if step.step == "finish":
        return services.end.finish(*ids)
    if step.step == "fail":
        return services.end.fail(*ids, error=step.error, cause=step.cause, ends=step.ends)
    if step.client_id is None:
        raise ValueError("consolidating needs a client_id")
    done = services.consolidate(*ids, step.client_id, seconds=STEP_SECONDS)
    return {"client_id": str(step.client_id), **done}
