"""The ingest stage: the steps of the ingestion machine that read, cut and store a document."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.ingest import ingest_services
from cairn.bootstrap.telemetry import invocation

services = ingest_services()


class Step(BaseModel):
    """One state of the machine; it carries ids only."""

    step: Literal["parse", "chunk", "store"]
    workspace_id: UUID
    ingestion_id: UUID
    execution: str | None = None


@invocation
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step and return ids and counts."""
    step = Step.model_validate(event)
    ids = (step.workspace_id, step.ingestion_id)
    if step.step == "parse":
        result = services.ingest.parse(*ids, execution=step.execution)
    elif step.step == "chunk":
        result = services.ingest.chunk(*ids)
    else:
        result = services.ingest.store(*ids)
    services.log.info("ingestion.step", extra={"step": step.step, **result})
    return result
