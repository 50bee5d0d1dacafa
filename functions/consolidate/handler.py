"""The consolidate stage: the steps of the consolidation machine."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.consolidate import consolidate_services

STEP_SECONDS = 240.0  # of the function's 900: the rest is for the batch it is at, and its model

services = consolidate_services()


class Step(BaseModel):
    """A state of the machine. It carries ids; `run_id` is null where nothing was to be done."""

    step: Literal["plan_run", "consolidate", "summarise", "cleanup", "finish", "fail"]
    workspace_id: UUID | None = None
    run_id: UUID | None = None
    client_id: UUID | None = None
    execution: str | None = None
    error: str = ""
    cause: str = ""
    ends: bool = False


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step and return ids and counts."""
    asked = Step.model_validate(event)
    ids = {"workspace_id": asked.workspace_id, "run_id": asked.run_id}
    if asked.step == "plan_run":
        return services.begin(**ids, execution=asked.execution)
    result = _worked(asked)
    services.log.info("consolidation.step", extra={"step": asked.step, **result})
    return {**{name: str(one) if one else None for name, one in ids.items()}, **result}


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
