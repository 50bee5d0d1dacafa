"""Tasks: start a longer piece of work, say how it goes, end it with what it produced."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer, replay_headers
from cairn.api.dependencies import Idempotency, Services, Writer
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Metadata, Name, Names, ScopeName, Text, Timestamp, at_most
from cairn.api.routing import router
from cairn.kernel.records import convert
from cairn.tasks.draft import (
    MAX_NOTE_CHARS,
    MAX_OUTCOME_CHARS,
    MAX_PRODUCED,
    MAX_TITLE_CHARS,
    NewTask,
    TaskStep,
)
from cairn.tasks.work import TaskChanged
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.task_ports import TaskStatus

routes = router("tasks")

Id = Annotated[UUID, Field(strict=False)]
TaskId = Annotated[UUID, Path(description="The task's id.")]


class TaskState(TypedDict):
    """A task, how it stands, and the ledger position of the change."""

    id: UUID
    position: int
    status: TaskStatus


class TaskIn(Body):
    """A piece of work about to begin."""

    kind: Annotated[str, Field(max_length=200, examples=["tunnel-login"])]
    title: Annotated[Text, at_most(MAX_TITLE_CHARS)]
    inputs: Metadata = Field(default_factory=dict[str, Any])
    input_schema: Metadata | None = None
    conversation_id: Id | None = None
    session_id: Name | None = None
    trace_id: Name | None = None
    source_agent: Name | None = None
    occurred_at: Timestamp | None = None
    client_id: Name = GLOBAL_CLIENT
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    data_subjects: Names = Field(default_factory=list[str])


class StepIn(Body):
    """What happened, and whether the task goes on or waits."""

    note: Annotated[Text, at_most(MAX_NOTE_CHARS)]
    status: Annotated[TaskStatus, Field(strict=False)] = TaskStatus.RUNNING
    produced: Annotated[list[Id], Field(max_length=MAX_PRODUCED)] = Field(
        default_factory=list[UUID]
    )


class EndIn(Body):
    """How a task ended, what came of it in a few words, and the nodes it produced."""

    status: Annotated[TaskStatus, Field(strict=False)] = TaskStatus.COMPLETED
    outcome: Annotated[Text, at_most(MAX_OUTCOME_CHARS)] | None = None
    produced: Annotated[list[Id], Field(max_length=MAX_PRODUCED)] = Field(
        default_factory=list[UUID]
    )

    def record(self) -> TaskStep:
        """Return the use case's record."""
        return convert(self, TaskStep, note=self.outcome)


@routes.post(
    "/v1/tasks",
    summary="Start a task",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It runs", TaskState),
        **problems("not-found", "conflict", body=True),
    },
)
def start_task(
    body: TaskIn, caller: Writer, services: Services, idempotency: Idempotency
) -> Response:
    """Start a piece of work whose writes name it; inputs the schema calls secret are not kept."""
    return _answer(
        services.tasks.start(caller, convert(body, NewTask), idempotency=idempotency), 201
    )


@routes.patch(
    "/v1/tasks/{task_id}",
    summary="Say how a task goes",
    response_model=None,
    responses={
        **answers(200, "How it stands", TaskState),
        **problems("not-found", "conflict", body=True),
    },
)
def update_task(
    task_id: TaskId, body: StepIn, caller: Writer, services: Services, idempotency: Idempotency
) -> Response:
    """Add a step, and what it produced; of many steps the newest hundred are kept."""
    return _answer(
        services.tasks.step(caller, task_id, convert(body, TaskStep), idempotency=idempotency)
    )


@routes.post(
    "/v1/tasks/{task_id}/complete",
    summary="End a task",
    response_model=None,
    responses={
        **answers(200, "It has ended", TaskState),
        **problems("not-found", "conflict", body=True),
    },
)
def complete_task(
    task_id: TaskId, body: EndIn, caller: Writer, services: Services, idempotency: Idempotency
) -> Response:
    """End a task: completed, failed or cancelled. The same end again changes nothing."""
    return _answer(services.tasks.end(caller, task_id, body.record(), idempotency=idempotency))


def _answer(done: TaskChanged, status: int = 200) -> Response:
    shown = {"id": done.id, "position": done.position, "status": done.status}
    return answer(shown, status=status, headers=replay_headers(replayed=done.replayed))
