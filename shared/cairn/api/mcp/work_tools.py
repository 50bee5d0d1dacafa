"""Tools for tasks, reports and the search in conversations."""

from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from cairn.api.answers import encode
from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import WRITERS, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.conversations import (
    ConversationChange,
    ConversationSearchIn,
    MessageHit,
    MessageIn,
    found_messages,
    message_recorded,
)
from cairn.api.routes.reports import ReportIn, report_json
from cairn.api.routes.tasks import EndIn, StepIn, TaskIn
from cairn.bootstrap.api import ApiServices
from cairn.conversations.messages import NewMessage
from cairn.kernel.access import Principal
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.reports.read import MAX_LATEST, ReportFilter
from cairn.reports.write import MAX_KEYWORD_CHARS, NewReport
from cairn.tasks.draft import NewTask, TaskStep
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


CREATE_TASK = Tool(
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
UPDATE_TASK = Tool(
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
COMPLETE_TASK = Tool(
    name="work-complete",
    title="End a task",
    description="End a task as completed, failed or cancelled, with its outcome in a few words.",
    arguments=CompleteArguments,
    call=_complete,
    roles=WRITERS,
    reads=False,
    eager=False,
)


MAX_LISTED = 100
Keyword = Annotated[str, Field(min_length=1, max_length=MAX_KEYWORD_CHARS)]


class WriteReportArguments(ReportIn):
    """A report, and what makes writing it repeatable."""

    idempotency_key: RepeatKey | None = None


class LatestArguments(Body):
    """Which reports, and how many of the newest."""

    keyword: Keyword | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LATEST)] = 1


class ListArguments(Body):
    """Which reports; `after` is `next_after` of the answer before."""

    keyword: Keyword | None = None
    source_workflow: Name | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20
    after: Annotated[int, Field(ge=1, le=2**53 - 1)] | None = None


def _write_report(
    services: ApiServices, principal: Principal, arguments: WriteReportArguments
) -> ToolAnswer:
    repeat = repeated(arguments, arguments.idempotency_key)
    done = services.write_report(principal, convert(arguments, NewReport), idempotency=repeat)
    said = "written" if done.created else "already there from this minute"
    structured = {
        "id": done.id,
        "position": done.position,
        "created": done.created,
        "parent_id": done.parent_id,
    }
    return ToolAnswer(text=f"{said}: {done.id}", structured=structured)


def _latest(services: ApiServices, principal: Principal, arguments: LatestArguments) -> ToolAnswer:
    found = services.reports.latest(principal, keyword=arguments.keyword, limit=arguments.limit)
    texts = [
        f"# {item.report.title}\n"
        f"(id: {item.report.id}, {item.report.occurred_at:%Y-%m-%d %H:%M} UTC)\n\n{item.body}"
        for item in found
    ]
    structured = {"items": [report_json(item) for item in found]}
    return ToolAnswer(text="\n---\n".join(texts) or "There is no report.", structured=structured)


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    keyword = arguments.keyword.casefold() if arguments.keyword else None
    where = ReportFilter(keyword=keyword, source_workflow=arguments.source_workflow)
    found = services.reports.list(principal, where, limit=arguments.limit, after=arguments.after)
    structured: dict[str, Any] = {
        "items": [asdict(item) for item in found.page.items],
        "next_after": found.page.next_after,
        "total": found.total,
    }
    return ToolAnswer(text=encode(structured).decode(), structured=structured)


WRITE_REPORT = Tool(
    name="memory-report-write",
    title="Write a report",
    description=(
        "Keep the output of a workflow that somebody may want back: a briefing, an analysis. The "
        "same title within the same minute is the same report. At most 10,000 characters."
    ),
    arguments=WriteReportArguments,
    call=_write_report,
    roles=WRITERS,
    reads=False,
)
LATEST_REPORTS = Tool(
    name="memory-report-read-latest",
    title="Read the newest report",
    description='For "the latest briefing", "last night\'s run": the newest report of a keyword.',
    arguments=LatestArguments,
    call=_latest,
    roles=WRITERS,
)
LIST_REPORTS = Tool(
    name="memory-report-list",
    title="List reports",
    description="Scan the catalogue of reports, newest first, without their bodies.",
    arguments=ListArguments,
    call=_list,
    roles=WRITERS,
    eager=False,
)


def _search(
    services: ApiServices, principal: Principal, arguments: ConversationSearchIn
) -> ToolAnswer:
    found = found_messages(services.search_conversations(principal, arguments.record()))
    lines = [_line(message) for message in found["messages"]]
    return ToolAnswer(text="\n".join(lines) or "No message was found.", structured=dict(found))


def _line(message: MessageHit) -> str:
    said = " ".join(str(message["content"]).split())
    when = format_timestamp(message["timestamp"])
    return f"[{message['role']}] {when} (score: {message['relevance_score']:.3f}) {said}"


def _record(services: ApiServices, principal: Principal, arguments: MessageIn) -> ToolAnswer:
    done = services.record_message(principal, convert(arguments, NewMessage), idempotency=None)
    structured = message_recorded(done)
    waits = "recorded" if done.persisted else "waits for the user's next message"
    return ToolAnswer(text=f"{waits}: {done.message_id}", structured=dict(structured))


RECORD_MESSAGE = Tool(
    name="conversation-record",
    title="Record a message",
    description=(
        "Keep what a person or you said, in its conversation. Memories are drawn from what people "
        "state; with infer false it stays a message."
    ),
    arguments=MessageIn,
    call=_record,
    roles=WRITERS,
    reads=False,
    eager=False,
)


class InferArguments(ConversationChange):
    """Whether memories are drawn from the conversation `id`."""

    id: Id


def _infer(services: ApiServices, principal: Principal, arguments: InferArguments) -> ToolAnswer:
    services.change_conversation(principal, arguments.id, infer=arguments.infer)
    says = "drawn" if arguments.infer else "not drawn"
    structured = {"conversation_id": arguments.id, "infer": arguments.infer}
    return ToolAnswer(text=f"memories are {says}: {arguments.id}", structured=structured)


CHANGE_CONVERSATION = Tool(
    name="conversation-change",
    title="Draw memories or not",
    description=(
        "With infer false, what is said in a conversation from now on stays messages; with true, "
        "memories are drawn from it again. What was drawn stays."
    ),
    arguments=InferArguments,
    call=_infer,
    roles=WRITERS,
    reads=False,
    eager=False,
)
SEARCH_CONVERSATIONS = Tool(
    name="conversation-search",
    title="Search conversations",
    description=(
        "Find earlier messages by meaning and by words, each with who said it and when. A public "
        "key finds its own conversation only."
    ),
    arguments=ConversationSearchIn,
    call=_search,
)
