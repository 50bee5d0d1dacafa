"""Tools over workflows: list, run, read a run. Nobody defines or approves one over MCP."""

from datetime import datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name, Text, at_most
from cairn.api.mcp.tool import ADMINS, Effect, RepeatKey, Tool, ToolAnswer, repeated
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.workflows.definition import MOST_TEXT_CHARS
from cairn.workflows.runs import NewRun
from cairn.workflows.views import WorkflowRunView

MOST_SHOWN = 300
"""Characters of a step's output; `id` is its node, which has all of it."""


class WorkflowLine(TypedDict):
    """A workflow, and what a run of it is given."""

    name: str
    version: int
    description: NotRequired[str]
    inputs: NotRequired[list[str]]


class WorkflowList(TypedDict):
    """Workflows, by name."""

    items: list[WorkflowLine]


class StepLine(TypedDict):
    """What came of a step."""

    id: UUID
    step: str
    state: str
    text: NotRequired[str]
    error: NotRequired[str]


class RunBegun(TypedDict):
    """A run that has begun."""

    id: UUID
    state: str


class RunRead(TypedDict):
    """A run, and what it waits for."""

    id: UUID
    workflow: str
    state: str
    next_step: NotRequired[str]
    waiting: NotRequired[str]
    error: NotRequired[str]
    steps: NotRequired[list[StepLine]]
    created_at: datetime


class RunInput(Body):
    """A value by its name."""

    name: Annotated[Name, Field(description="Its name")]
    value: Annotated[Text, at_most(MOST_TEXT_CHARS), Field(description="Its value")]


class ListArguments(Body):
    """Nothing."""


class RunArguments(Body):
    """Which workflow, with what."""

    workflow: Name
    input: Annotated[list[RunInput], Field(max_length=100)] = Field(default_factory=list[RunInput])
    client_id: Name | None = None
    idempotency_key: RepeatKey | None = None


class ReadArguments(Body):
    """Which run."""

    id: Annotated[UUID, Field(strict=False)]


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    every = services.workflows.all(principal)
    items = [
        {
            "name": each.definition.name,
            "version": each.version,
            "description": each.definition.description or None,
            "inputs": list(each.inputs),
        }
        for each in every
    ]
    lines = [f"{each.definition.name} ({', '.join(each.inputs)})" for each in every]
    text = "\n".join(lines) or "There is no workflow."
    return ToolAnswer(text=text, structured={"items": items})


def _run(services: ApiServices, principal: Principal, arguments: RunArguments) -> ToolAnswer:
    values = {each.name: each.value for each in arguments.input}
    run = services.workflow_runs.start(
        principal,
        arguments.workflow,
        NewRun(input=values, client_id=arguments.client_id),
        idempotency=repeated(arguments, arguments.idempotency_key),
    )
    structured = {"id": run.id, "state": run.state.value}
    return ToolAnswer(text=f"{run.workflow} runs: {run.id}", structured=structured)


def _read(services: ApiServices, principal: Principal, arguments: ReadArguments) -> ToolAnswer:
    return _shown(services.workflow_runs.get(principal, arguments.id))


def _shown(run: WorkflowRunView) -> ToolAnswer:
    steps: list[dict[str, Any]] = [
        {
            "id": result.id,
            "step": result.step,
            "state": result.state.value,
            "text": str(result.output.get("text") or result.output)[:MOST_SHOWN],
            "error": result.error,
        }
        for result in run.results
    ]
    structured = {
        "id": run.id,
        "workflow": run.workflow,
        "state": run.state.value,
        "next_step": run.next_step,
        "waiting": run.waiting.message if run.waiting else None,
        "error": run.error,
        "steps": steps,
        "created_at": run.created_at,
    }
    lines = [f"{step['step']}: {step['state']} {step['text']}" for step in steps]
    return ToolAnswer(
        text="\n".join([f"{run.workflow} {run.id}: {run.state.value}", *lines]),
        structured=structured,
    )


LIST = Tool(
    name="workflow_list",
    title="List workflows",
    description="Workflows that can be run, and the names of what a run is given.",
    arguments=ListArguments,
    parameters={},
    result=WorkflowList,
    call=_list,
    roles=ADMINS,
)
RUN = Tool(
    name="workflow_run",
    title="Run a workflow",
    description="Begin a run; read it until it is done. A person decides what waits for one.",
    arguments=RunArguments,
    parameters={
        "workflow": "Its name",
        "input": "A value for each of its inputs",
        "client_id": "Whose it is",
    },
    result=RunBegun,
    call=_run,
    roles=ADMINS,
    effect=Effect.CHANGE,
    repeatable=False,
)
READ = Tool(
    name="workflow_read",
    title="Read a run of a workflow",
    description="State, what came of each step, and what it waits for.",
    arguments=ReadArguments,
    parameters={"id": "As workflow_run gave it"},
    result=RunRead,
    call=_read,
    roles=ADMINS,
)
