"""The audit stage: how machines ended, whether chains and indexes hold, what the outbox owes."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.audit import audit_services

MAINTAIN_SECONDS = 200.0  # of the function's 300: what is left is for the workspace it is at

services = audit_services()


class Step(BaseModel):
    """A state of a machine, or a schedule."""

    step: Literal[
        "finish_ingestion",
        "fail_ingestion",
        "sweep_outbox",
        "verify_and_anchor",
        "maintain_search_index",
        "count_accesses",
    ]
    workspace_id: UUID | None = None
    ingestion_id: UUID | None = None
    error: str = ""
    cause: str = ""


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step and return what it found, as counts and ids."""
    asked = Step.model_validate(event)
    if asked.step == "sweep_outbox":
        result: dict[str, Any] = dict(services.sweep())
    elif asked.step == "verify_and_anchor":
        result = services.verify()
    elif asked.step == "maintain_search_index":
        keep = services.search_index
        result = keep.maintain(seconds=MAINTAIN_SECONDS) if keep else {"configured": False}
    elif asked.step == "count_accesses":
        result = services.count_accesses(seconds=MAINTAIN_SECONDS)
    else:
        result = _end(asked)
    services.log.info("audit.step", extra={"step": asked.step, **result})
    return result


def _end(asked: Step) -> dict[str, Any]:
    if asked.workspace_id is None or asked.ingestion_id is None:
        raise ValueError("ending an ingestion needs workspace_id and ingestion_id")
    if asked.step == "finish_ingestion":
        return services.finish.succeed(asked.workspace_id, asked.ingestion_id)
    return services.finish.fail(
        asked.workspace_id, asked.ingestion_id, error=asked.error, cause=asked.cause
    )
