"""The retrieve stage: one search for a state machine, by the use case the API serves too.

A search of an investigation or of a workflow is a step: it keeps what it found.
"""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.retrieve import retrieve_services
from cairn.kernel.access.system import system_principal
from cairn.workflows.event import WorkflowStep

services = retrieve_services()


class Step(BaseModel):
    """A state of the investigation machine."""

    step: Literal["RETRIEVING"]
    workspace_id: UUID
    investigation_id: UUID
    run: int


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Return results and meta as `POST /v1/search` does; `format: text` gives `text` instead."""
    if "workflow_run_id" in event:
        return services.workflow(**dict(WorkflowStep.model_validate(event)))
    if "step" in event:
        step = Step.model_validate(event)
        return services.investigation(
            step.step, step.workspace_id, step.investigation_id, run=step.run
        )
    asked = dict(event)
    principal = system_principal(UUID(asked.pop("workspace_id")))
    request = services.request(asked)
    given = services.search(principal, request)
    text = {} if given.text is None else {"text": given.text}
    return {"results": list(given.results), "meta": dict(given.meta)} | text
