"""Tools for tasks, and for what is said in conversations."""

from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.mcp.tool import WRITERS, Effect, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.conversations import (
    ConversationChange,
    ConversationChanged,
    ConversationSearchIn,
    MessageIn,
    found_messages,
)
from cairn.api.routes.tasks import EndIn, StepIn, TaskIn, TaskState
from cairn.bootstrap.api import ApiServices
from cairn.conversations.messages import Channel, NewMessage
from cairn.kernel.access import Principal
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.tasks.draft import NewTask, TaskStep
from cairn.tasks.work import TaskChanged

Id = Annotated[UUID, Field(strict=False)]
A_TASK = "As work_create gave it"
PRODUCED = "Ids of nodes that it made"


class Message(TypedDict):
    """A message that was found."""

    id: str
    conversation_id: str
    role: str
    text: str
    occurred_at: str
    score: float
    sender: NotRequired[str]


class Messages(TypedDict):
    """Messages, best first."""

    messages: list[Message]
    degraded: NotRequired[list[str]]


class Recorded(TypedDict):
    """A message that is recorded, or waits for the next one of its conversation."""

    conversation_id: UUID
    message_id: UUID
    persisted: bool
    warnings: NotRequired[list[str]]


class CreateArguments(TaskIn):
    """A task, and what makes starting it repeatable."""

    idempotency_key: RepeatKey | None = None


class UpdateArguments(StepIn):
    """A step of the task `id`."""

    id: Id


class CompleteArguments(EndIn):
    """The end of the task `id`."""

    id: Id


class RecordArguments(MessageIn):
    """A message, of the API's own channel where none is named."""

    channel: Annotated[Channel, Field(strict=False)] = Channel.API


class InferArguments(ConversationChange):
    """Whether memories are drawn from the conversation `id`."""

    id: Id


def _create(services: ApiServices, principal: Principal, arguments: CreateArguments) -> ToolAnswer:
    repeat = repeated(arguments, arguments.idempotency_key)
    new = convert(arguments, NewTask)
    return _answer(services.tasks.start(principal, new, idempotency=repeat))


def _update(services: ApiServices, principal: Principal, arguments: UpdateArguments) -> ToolAnswer:
    step = convert(arguments, TaskStep)
    return _answer(services.tasks.step(principal, arguments.id, step, idempotency=None))


def _complete(
    services: ApiServices, principal: Principal, arguments: CompleteArguments
) -> ToolAnswer:
    end = arguments.record()
    return _answer(services.tasks.end(principal, arguments.id, end, idempotency=None))


def _answer(done: TaskChanged) -> ToolAnswer:
    structured = {"id": done.id, "position": done.position, "status": done.status}
    return ToolAnswer(text=f"{done.status.value}: {done.id}", structured=structured)


def _search(
    services: ApiServices, principal: Principal, arguments: ConversationSearchIn
) -> ToolAnswer:
    answer = found_messages(services.search_conversations(principal, arguments.record()))
    messages: list[dict[str, Any]] = [
        {
            "id": str(each["id"]),
            "conversation_id": str(each["conversation_id"]),
            "role": each["role"],
            "text": each["content"],
            "occurred_at": format_timestamp(each["timestamp"]),
            "score": round(each["relevance_score"], 3),
            "sender": each["sender"],
        }
        for each in answer["messages"]
    ]
    structured = {"messages": messages, "degraded": list(answer["meta"]["degraded"])}
    text = "\n".join(map(_line, messages)) or "No message was found."
    return ToolAnswer(text=text, structured=structured)


def _line(message: dict[str, Any]) -> str:
    text = " ".join(message["text"].split())
    return f"[{message['role']}] {text} ({message['occurred_at']}, {message['id']})"


def _record(services: ApiServices, principal: Principal, arguments: MessageIn) -> ToolAnswer:
    done = services.record_message(principal, convert(arguments, NewMessage), idempotency=None)
    structured = {name: getattr(done, name) for name in Recorded.__annotations__}
    waits = "recorded" if done.persisted else "waits for the user's next message"
    return ToolAnswer(text=f"{waits}: {done.message_id}", structured=structured)


def _infer(services: ApiServices, principal: Principal, arguments: InferArguments) -> ToolAnswer:
    services.change_conversation(principal, arguments.id, infer=arguments.infer)
    says = "drawn" if arguments.infer else "not drawn"
    structured = {"conversation_id": arguments.id, "infer": arguments.infer}
    return ToolAnswer(text=f"memories are {says}: {arguments.id}", structured=structured)


SEARCH_CONVERSATIONS = Tool(
    name="conversation_search",
    aliases=("conversation-search",),
    title="Search conversations",
    description="Find earlier messages by meaning and words.",
    arguments=ConversationSearchIn,
    parameters={
        "query": "In plain words",
        "limit": "10 if null",
        "conversation_id": "Only this one",
    },
    result=Messages,
    call=_search,
    eager=True,
)
RECORD_MESSAGE = Tool(
    name="conversation_record",
    aliases=("conversation-record",),
    title="Record a message",
    description="Keep what was said. Memories are drawn from what people state.",
    arguments=RecordArguments,
    parameters={
        "session_id": "Which conversation",
        "role": "Who spoke",
        "text": "What was said",
        "infer": "Draw memories",
    },
    result=Recorded,
    call=_record,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
CHANGE_CONVERSATION = Tool(
    name="conversation_change",
    aliases=("conversation-change",),
    title="Draw memories or not",
    description="Whether memories are drawn from what is said from now on. What was drawn stays.",
    arguments=InferArguments,
    parameters={"id": "The conversation's id", "infer": "Whether they are drawn"},
    result=ConversationChanged,
    call=_infer,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
CREATE_TASK = Tool(
    name="work_create",
    aliases=("work-create",),
    title="Start a task",
    description=("Start a longer piece of work. Tell work_update and work_complete what it made."),
    arguments=CreateArguments,
    parameters={
        "kind": "Such as tunnel-login",
        "title": "What is to be done",
        "session_id": "This conversation",
    },
    result=TaskState,
    call=_create,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
UPDATE_TASK = Tool(
    name="work_update",
    aliases=("work-update",),
    title="Say how a task goes",
    description="Add a step to a running task.",
    arguments=UpdateArguments,
    parameters={"id": A_TASK, "note": "What happened", "produced": PRODUCED},
    result=TaskState,
    call=_update,
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
)
COMPLETE_TASK = Tool(
    name="work_complete",
    aliases=("work-complete",),
    title="End a task",
    description="End a task, with its outcome in a few words.",
    arguments=CompleteArguments,
    parameters={
        "id": A_TASK,
        "status": "completed if null",
        "outcome": "What came of it",
        "produced": PRODUCED,
    },
    result=TaskState,
    call=_complete,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
