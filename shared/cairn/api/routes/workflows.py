"""Workflows: what they are made of, and their runs."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from anyio import to_thread
from fastapi import Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import streams, workflow_streams
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Idempotency, Options, Services
from cairn.api.documentation import ListOf, PageOf, answers, problems
from cairn.api.fields import Body, Metadata, Name, Text, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.workflows.definition import MOST_TEXT_CHARS, Definition, Kind, Step
from cairn.workflows.definitions import WorkflowView, body_of, schedule_of, step_of
from cairn.workflows.rows import RunState
from cairn.workflows.runs import MOST_COMMENT_CHARS, NewRun
from cairn.workflows.views import WorkflowRunView

routes = router("workflows")

WorkflowName = Annotated[str, Path(max_length=64, description="The workflow's name.")]
RunId = Annotated[UUID, Path(description="The run's id.")]
_STREAM = streams.documented(
    "Events until the run ends or waits for a person",
    'id: 1\nevent: step_end\ndata: {"step": "news", "state": "done"}\n\n',
)


class WorkflowStepIn(Body):
    """A step: its name, its kind, and the fields that its kind has."""

    name: str
    kind: str
    needs: Annotated[list[str], Field(max_length=20)] = Field(default_factory=list[str])
    query: str | None = None
    limit: int | None = None
    hours: int | None = None
    prompt: str | None = None
    tool: str | None = None
    arguments: Metadata | None = None
    message: str | None = None
    title: str | None = None
    body: str | None = None
    keywords: list[str] | None = None


class ScheduleIn(Body):
    """When it runs by itself: a time of day by the clocks of a time zone; no days are all."""

    at: str
    timezone: str = "UTC"
    days: list[str] = Field(default_factory=list[str])


class WorkflowIn(Body):
    """What a workflow does, step by step."""

    description: str = ""
    steps: Annotated[list[WorkflowStepIn], Field(max_length=100)]
    schedule: ScheduleIn | None = None


class NewWorkflowIn(WorkflowIn):
    """A new workflow."""

    model_config = examples(
        {
            "name": "news",
            "description": "What changed about a subject, as a report.",
            "steps": [
                {
                    "name": "found",
                    "kind": "recall",
                    "query": "What changed about {{ input.about }}?",
                },
                {
                    "name": "written",
                    "kind": "report",
                    "title": "News of {{ run.date }}",
                    "body": "{{ steps.found.text }}",
                    "keywords": ["news"],
                },
            ],
        }
    )

    name: str


class WorkflowRunIn(Body):
    """What a run is given: a value for each `input.NAME` of the workflow."""

    model_config = examples({"input": {"about": "the harbour project"}})

    input: Annotated[
        dict[str, Annotated[Text, at_most(MOST_TEXT_CHARS)]], Field(max_length=100)
    ] = Field(default_factory=dict[str, str])
    client_id: Name | None = None


class WorkflowWordIn(Body):
    """A person's word on what a run waits for."""

    decision: Literal["approve", "reject"]
    comment: Annotated[str, at_most(MOST_COMMENT_CHARS)] = ""


class WorkflowStepShown(TypedDict):
    """A step as it was written; fields that it has not are left out."""

    name: str
    kind: Kind
    needs: NotRequired[list[str]]
    query: NotRequired[str]
    limit: NotRequired[int]
    hours: NotRequired[int]
    prompt: NotRequired[str]
    tool: NotRequired[str]
    arguments: NotRequired[Mapping[str, Any]]
    message: NotRequired[str]
    title: NotRequired[str]
    body: NotRequired[str]
    keywords: NotRequired[list[str]]


class ScheduleShown(TypedDict):
    """When it runs by itself."""

    at: str
    timezone: str
    days: list[str]


class WorkflowShown(TypedDict):
    """A workflow, its steps in the order in which they run."""

    name: str
    description: str
    steps: list[WorkflowStepShown]
    schedule: ScheduleShown | None
    due_at: datetime | None
    version: int
    inputs: list[str]
    changed_at: datetime | None
    changed_by: UUID | None
    removed: bool


class WorkflowRemoved(TypedDict):
    """The workflow that is gone."""

    name: str


@routes.post(
    "/v1/workflows",
    summary="Make a workflow",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It can be run", WorkflowShown),
        **problems("conflict", body=True),
    },
)
def create_workflow(body: NewWorkflowIn, caller: Admin, services: Services) -> Response:
    """Make a workflow; its name stays for good."""
    workflow = services.workflows.create(caller, definition_of(body.name, body))
    return answer(_shown(workflow), status=201)


@routes.get(
    "/v1/workflows",
    summary="List workflows",
    response_model=None,
    responses={**answers(200, "Every workflow, by name", ListOf[WorkflowShown]), **problems()},
)
def list_workflows(caller: Admin, services: Services) -> Response:
    """List workflows as they are now."""
    return answer({"items": [_shown(item) for item in services.workflows.all(caller)]})


@routes.get(
    "/v1/workflows/{workflow}",
    summary="Show a workflow",
    response_model=None,
    responses={**answers(200, "The workflow", WorkflowShown), **problems("not-found")},
)
def get_workflow(workflow: WorkflowName, caller: Admin, services: Services) -> Response:
    """Show a workflow as it is now, and what a run of it is given."""
    return answer(_shown(services.workflows.get(caller, workflow)))


@routes.get(
    "/v1/workflows/{workflow}/versions",
    summary="Show how a workflow changed",
    response_model=None,
    responses={
        **answers(200, "Every version, the newest first", ListOf[WorkflowShown]),
        **problems("not-found"),
    },
)
def list_workflow_versions(workflow: WorkflowName, caller: Admin, services: Services) -> Response:
    """List every version a workflow had; each is an entry of the ledger, too."""
    versions = services.workflows.versions(caller, workflow)
    return answer({"items": [_shown(item) for item in versions]})


@routes.put(
    "/v1/workflows/{workflow}",
    summary="Change a workflow",
    response_model=None,
    responses={
        **answers(200, "The workflow as it is now", WorkflowShown),
        **problems("not-found", "conflict", body=True),
    },
)
def replace_workflow(
    workflow: WorkflowName, body: WorkflowIn, caller: Admin, services: Services
) -> Response:
    """Replace a workflow by another version; runs under way go on with theirs."""
    return answer(_shown(services.workflows.put(caller, definition_of(workflow, body))))


@routes.delete(
    "/v1/workflows/{workflow}",
    summary="Remove a workflow",
    response_model=None,
    responses={
        **answers(200, "No new run of it begins", WorkflowRemoved),
        **problems("not-found", "conflict"),
    },
)
def remove_workflow(workflow: WorkflowName, caller: Admin, services: Services) -> Response:
    """Remove a workflow; its runs stay, and those under way go on."""
    services.workflows.remove(caller, workflow)
    return answer({"name": workflow})


@routes.post(
    "/v1/workflows/{workflow}/runs",
    summary="Run a workflow",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "It runs; follow it by its id", WorkflowRunView),
        **problems("not-found", "conflict", body=True),
    },
)
def run_workflow(
    workflow: WorkflowName,
    body: WorkflowRunIn,
    caller: Admin,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    """Begin a run of the present version. With a client it reads and writes that client's."""
    new = NewRun(input=body.input, client_id=body.client_id)
    run = services.workflow_runs.start(caller, workflow, new, idempotency=idempotency)
    return answer(run, status=202)


@routes.get(
    "/v1/workflow-runs",
    summary="List runs of workflows",
    response_model=None,
    responses={**answers(200, "Runs, the newest first", PageOf[WorkflowRunView]), **problems()},
)
def list_workflow_runs(
    caller: Admin,
    services: Services,
    options: Options,
    workflow: Annotated[Name | None, Query(description="Only those of this one.")] = None,
    state: Annotated[RunState | None, Query(description="Only those in this state.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List runs with what came of their steps."""
    return newest_answer(
        partial(services.workflow_runs.page, caller, name=workflow, state=state),
        limit=limit,
        cursor=cursor,
        key="created_at",
        route="workflow-runs",
        filters={"workflow": workflow, "state": state},
        options=options,
    )


@routes.get(
    "/v1/workflow-runs/{workflow_run_id}",
    summary="Show a run of a workflow",
    response_model=None,
    responses={**answers(200, "How it stands", WorkflowRunView), **problems("not-found")},
)
def get_workflow_run(workflow_run_id: RunId, caller: Admin, services: Services) -> Response:
    """Show where a run is, what came of its steps, and what it waits for."""
    return answer(services.workflow_runs.get(caller, workflow_run_id))


@routes.get(
    "/v1/workflow-runs/{workflow_run_id}/events",
    summary="Follow a run live (server-sent events)",
    response_model=None,
    response_class=StreamingResponse,
    responses={**_STREAM, **problems("not-found", "not-streamable")},
)
async def follow_workflow_run(
    workflow_run_id: RunId,
    caller: Admin,
    services: Services,
    options: Options,
    request: Request,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event a reader has.")
    ] = None,
) -> Response:
    """Stream what comes of a run's steps, with durations, until it ends or waits for a person.

    Only where the API runs as a server: behind API Gateway poll the run.
    """
    poll = f"poll GET /v1/workflow-runs/{workflow_run_id}"
    streams.require_stream(request, poll, reason="poll-run")
    seen = streams.last_seen(last_event_id, None)
    options.open_streams.check()
    find = partial(services.workflow_runs.get, caller, workflow_run_id)
    first = await to_thread.run_sync(find)
    look = workflow_streams.RunEvents(find, first, seen)
    watch = streams.Watch(look, streams.readmission(services, request), options.pace)
    return streams.streaming(watch.parts(), options.open_streams)


@routes.post(
    "/v1/workflow-runs/{workflow_run_id}/decide",
    summary="Approve or reject what a run waits for",
    response_model=None,
    responses={
        **answers(200, "The run as it is now", WorkflowRunView),
        **problems("not-found", "conflict", body=True),
    },
)
def decide_workflow_run(
    workflow_run_id: RunId, body: WorkflowWordIn, caller: Admin, services: Services
) -> Response:
    """Let a run go on, or end it. What was decided first counts."""
    approve = body.decision == "approve"
    done = services.workflow_runs.decide(
        caller, workflow_run_id, approve=approve, comment=body.comment
    )
    return answer(done)


@routes.post(
    "/v1/workflow-runs/{workflow_run_id}/cancel",
    summary="Cancel a run",
    response_model=None,
    responses={
        **answers(200, "The run as it is now", WorkflowRunView),
        **problems("not-found", "conflict"),
    },
)
def cancel_workflow_run(workflow_run_id: RunId, caller: Admin, services: Services) -> Response:
    """End a run where it is; what was done stays done."""
    return answer(services.workflow_runs.cancel(caller, workflow_run_id))


@routes.post(
    "/v1/workflow-runs/{workflow_run_id}/resume",
    summary="Try a run's failed step again",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "The run as it is now", WorkflowRunView),
        **problems("not-found", "conflict"),
    },
)
def resume_workflow_run(workflow_run_id: RunId, caller: Admin, services: Services) -> Response:
    """Go on from the step that failed, or where an execution was lost; steps done stay done."""
    return answer(services.workflow_runs.resume(caller, workflow_run_id), status=202)


def definition_of(name: str, body: WorkflowIn) -> Definition:
    """Return the definition that a body says."""
    steps: list[Step] = [step_of(step.model_dump()) for step in body.steps]
    schedule = schedule_of(body.schedule.model_dump()) if body.schedule else None
    return Definition(
        name=name, description=body.description, steps=tuple(steps), schedule=schedule
    )


def _shown(view: WorkflowView) -> WorkflowShown:
    shown: Any = body_of(view.definition)
    for name in ("version", "inputs", "changed_at", "changed_by", "removed", "due_at"):
        shown[name] = getattr(view, name)
    return shown
