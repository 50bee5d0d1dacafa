"""The ingest stage: the steps of the ingestion machine that read, cut and store a document."""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.ingest import ingest_services

services = ingest_services()


class Step(BaseModel):
    """One state of the machine; it carries ids only."""

    step: Literal["parse", "chunk", "store"]
    workspace_id: UUID
    ingestion_id: UUID


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Run one step and return ids and counts."""
    asked = Step.model_validate(event)
    run = {
        "parse": services.ingest.parse,
        "chunk": services.ingest.chunk,
        "store": services.ingest.store,
    }[asked.step]
    result = run(asked.workspace_id, asked.ingestion_id)
    services.log.info("ingestion.step", extra={"step": asked.step, **result})
    return result
