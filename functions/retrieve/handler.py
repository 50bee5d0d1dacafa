"""The retrieve stage: one search for a state machine, by the use case the API serves too.

A search of an investigation or of a workflow is a step: it keeps what it found. By schedule it
looks for who fits the intents of members, since it has the embedder.
"""

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel

from cairn.bootstrap.retrieve import retrieve_services
from cairn.bootstrap.telemetry import invocation
from cairn.kernel.access.system import system_principal
from cairn.workflows.event import WorkflowStep

SECONDS = 20.0  # of the function's 30: what is left is for what it is at
services = retrieve_services()


class Step(BaseModel):
    """A state of the investigation machine."""

    step: Literal["RETRIEVING"]
    workspace_id: UUID
    investigation_id: UUID
    run: int


@invocation
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Return results and meta as `POST /v1/search` does; `format: text` gives `text` instead."""
    if "workflow_run_id" in event:
        return services.workflow(**dict(WorkflowStep.model_validate(event)))
    if event.get("step") == "sweep_discovery":
        counts = services.sweep_discovery(seconds=SECONDS)
        services.log.info("discovery.swept", extra=counts)
        return counts
    if "step" in event:
        step = Step.model_validate(event)
        return services.investigation(
            step.step, step.workspace_id, step.investigation_id, run=step.run
        )
    values = dict(event)
    principal = system_principal(UUID(values.pop("workspace_id")))
    request = services.request(values)
    answer = services.search(principal, request)
    text = {} if answer.text is None else {"text": answer.text}
    return {"results": list(answer.results), "meta": dict(answer.meta)} | text
