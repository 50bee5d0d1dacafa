"""Tools over tasks: start a piece of work, say how it goes, end it. Not the work itself."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from cairn.api.mcp.repeating import RepeatKey, repeated
from cairn.api.mcp.tool import WRITERS, Tool, ToolAnswer
from cairn.api.routes.tasks import EndIn, StepIn, TaskIn
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.tasks.work import TaskChanged

Id = Annotated[UUID, Field(strict=False)]


class CreateArguments(TaskIn):
    """A task, and what makes starting it repeatable."""

    idempotency_key: RepeatKey | None = None


class UpdateArguments(StepIn):
    """A step of the task `id`."""

    id: Id


class CompleteArguments(EndIn):
    """The end of the task `id`."""

    id: Id


def _create(services: ApiServices, principal: Principal, arguments: CreateArguments) -> ToolAnswer:
    repeat = repeated(arguments, arguments.idempotency_key)
    return _answer(services.tasks.start(principal, arguments.record(), idempotency=repeat))


def _update(services: ApiServices, principal: Principal, arguments: UpdateArguments) -> ToolAnswer:
    step = arguments.record()
    return _answer(services.tasks.step(principal, arguments.id, step, idempotency=None))


def _complete(
    services: ApiServices, principal: Principal, arguments: CompleteArguments
) -> ToolAnswer:
    end = arguments.record()
    return _answer(services.tasks.end(principal, arguments.id, end, idempotency=None))


def _answer(done: TaskChanged) -> ToolAnswer:
    structured = {"id": done.id, "position": done.position, "status": done.status}
    return ToolAnswer(text=f"{done.status.value}: {done.id}", structured=structured)


CREATE = Tool(
    name="work-create",
    title="Start a task",
    description=(
        "Start a longer piece of work. Pass the id it gives as produced_by_task_id to what the "
        "work writes, so that it is known what came of it. Inputs that input_schema marks as "
        "secret (writeOnly, format password) are not kept."
    ),
    arguments=CreateArguments,
    call=_create,
    roles=WRITERS,
    reads=False,
    eager=False,
)
UPDATE = Tool(
    name="work-update",
    title="Say how a task goes",
    description="Add a step to a running task, and the nodes it produced so far.",
    arguments=UpdateArguments,
    call=_update,
    roles=WRITERS,
    reads=False,
    repeatable=False,
    eager=False,
)
COMPLETE = Tool(
    name="work-complete",
    title="End a task",
    description="End a task as completed, failed or cancelled, with its outcome in a few words.",
    arguments=CompleteArguments,
    call=_complete,
    roles=WRITERS,
    reads=False,
    eager=False,
)
