"""The consolidate stage: the steps of the consolidation machine."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.consolidate import consolidate_services

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


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step and return ids and counts."""
    asked = Step.model_validate(event)
    if asked.workspace_id is not None and asked.rebuild_id is not None:
        return _rebuilt(asked, asked.workspace_id, asked.rebuild_id)
    ids = {"workspace_id": asked.workspace_id, "run_id": asked.run_id}
    if asked.step == "plan_run":
        return services.begin(**ids, execution=asked.execution, after=asked.after)
    result = _worked(asked)
    services.log.info("consolidation.step", extra={"step": asked.step, **result})
    return {**{name: str(one) if one else None for name, one in ids.items()}, **result}


def _rebuilt(asked: Step, workspace_id: UUID, rebuild_id: UUID) -> dict[str, Any]:
    ids = workspace_id, rebuild_id
    if asked.step == "rebuild":
        result = services.rebuild.step(*ids, seconds=STEP_SECONDS)
    else:
        result = services.rebuild.fail(*ids, error=asked.error)
    services.log.info("rebuild.step", extra={"step": asked.step, **result})
    return {"workspace_id": str(workspace_id), "rebuild_id": str(rebuild_id), **result}


def _worked(asked: Step) -> dict[str, Any]:
    if asked.workspace_id is None:
        return {"failed": True}
    if asked.step in ("summarise", "cleanup"):
        keep = services.summarise if asked.step == "summarise" else services.cleanup
        return keep(asked.workspace_id, asked.run_id, seconds=STEP_SECONDS)
    if asked.run_id is None:
        return {"failed": asked.step == "fail"}
    ids = asked.workspace_id, asked.run_id
    if asked.step == "finish":
        return services.end.finish(*ids)
    if asked.step == "fail":
        return services.end.fail(*ids, error=asked.error, cause=asked.cause, ends=asked.ends)
    if asked.client_id is None:
        raise ValueError("consolidating needs a client_id")
    done = services.consolidate(*ids, asked.client_id, seconds=STEP_SECONDS)
    return {"client_id": str(asked.client_id), **done}
