"""Investigations, their steps and tool calls, and what people think of them."""

from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

from anyio import to_thread
from fastapi import Header, Path, Query, Request, Response
from pydantic import Field
from starlette.responses import StreamingResponse
from typing_extensions import TypedDict

from cairn.api import streams
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services, Writer
from cairn.api.documentation import ListOf, PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, at_most
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.investigations.people.learning import HIGHEST, LOWEST
from cairn.investigations.people.proposing import Remembered
from cairn.investigations.state import State
from cairn.investigations.views import (
    InvestigationDetail,
    InvestigationView,
    OpinionView,
    Present,
    StepsView,
    ToolCallView,
)

routes = router("investigations")

InvestigationId = Annotated[UUID, Path(description="The investigation's id.")]
After = Annotated[
    int, Query(ge=0, le=streams.MOST_STEPS, description="`seq` of the last step you have.")
]
QUEUED = "queued"
MAX_TEXT_CHARS = 2_000
_STREAM = streams.documented(
    "Events until the investigation ends",
    'id: 3\nevent: step_end\ndata: {"duration_ms": 41}\n\n',
)


class InvestigationQueued(TypedDict):
    """The ticket waits for a slot: there is no investigation yet."""

    ticket_id: UUID
    state: Literal["queued"]


class InvestigationStarted(TypedDict):
    """Where the investigation of a ticket is; `run` is how many executions it had."""

    ticket_id: UUID
    workspace_id: UUID
    investigation_id: UUID
    state: State
    run: int


class InvestigationIn(Body):
    """Which ticket is to be investigated."""

    ticket_id: Annotated[UUID, Field(strict=False)]


@routes.post(
    "/v1/investigations",
    summary="Investigate a ticket",
    status_code=202,
    response_model=None,
    responses={
        **answers(
            202, "Where it is; follow it by its id", InvestigationStarted | InvestigationQueued
        ),
        **problems("not-found", "conflict", body=True),
    },
)
def start_investigation(body: InvestigationIn, caller: Writer, services: Services) -> Response:
    """Queue a ticket and start its investigation if there is room.

    A ticket that was answered or handed over is a conflict: put it back with
    `POST /v1/tickets/{ticket_id}/requeue`. While it waits for a slot, `state` is `queued` and
    there is no investigation yet.
    """
    begun = services.start_investigation(caller, body.ticket_id)
    if begun is None:
        return answer({"ticket_id": body.ticket_id, "state": QUEUED}, status=202)
    return answer({"ticket_id": body.ticket_id, **begun.as_answer()}, status=202)


@routes.get(
    "/v1/investigations",
    summary="List investigations",
    response_model=None,
    responses={
        **answers(200, "Investigations, the newest first", PageOf[InvestigationView]),
        **problems(),
    },
)
def list_investigations(
    caller: Writer,
    services: Services,
    options: Options,
    state: Annotated[State | None, Query(description="Only those in this state.")] = None,
    ticket_id: Annotated[UUID | None, Query(description="Only those of this ticket.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List investigations with their state, their verdict and what they spent."""
    filters: dict[str, Any] = {"state": state, "ticket_id": ticket_id}
    return newest_answer(
        partial(services.investigations.page, caller, **filters),
        limit=limit,
        cursor=cursor,
        key="created_at",
        route="investigations",
        filters=filters,
        options=options,
    )


@routes.post(
    "/v1/investigations/resume",
    summary="Take up every investigation that has stopped moving",
    status_code=202,
    response_model=None,
    responses={**answers(202, "Those that run again", ListOf[Present]), **problems()},
)
def resume_investigations(caller: Admin, services: Services) -> Response:
    """Start new executions of those that lost theirs; who waits for a person goes on waiting."""
    return answer({"items": services.resume.stale(caller)}, status=202)


@routes.get(
    "/v1/investigations/{investigation_id}",
    summary="Show an investigation",
    response_model=None,
    responses={**answers(200, "How it stands", InvestigationDetail), **problems("not-found")},
)
def get_investigation(
    investigation_id: InvestigationId, caller: Writer, services: Services
) -> Response:
    """Show state, verdict, spending by purpose, the budget and what is left, questions, actions."""
    return answer(services.investigations.show(caller, investigation_id))


@routes.get(
    "/v1/investigations/{investigation_id}/steps",
    summary="List an investigation's steps, and poll for new ones",
    response_model=None,
    responses={**answers(200, "Steps after a number", StepsView), **problems("not-found")},
)
def list_investigation_steps(
    investigation_id: InvestigationId,
    caller: Writer,
    services: Services,
    after: After = 0,
    limit: Limit = 100,
) -> Response:
    """List the timeline. Ask again with `after` of the answer, each second or so, until `ended`."""
    steps = services.investigations.steps(caller, investigation_id, after=after, limit=limit)
    return answer(steps)


@routes.get(
    "/v1/investigations/{investigation_id}/events",
    summary="Follow an investigation live (server-sent events)",
    response_model=None,
    response_class=StreamingResponse,
    responses={**_STREAM, **problems("not-found", "not-streamable")},
)
async def follow_investigation(
    investigation_id: InvestigationId,
    caller: Writer,
    services: Services,
    options: Options,
    request: Request,
    last_event_id: Annotated[
        str | None, Header(description="The id of the last event a reader has.")
    ] = None,
    after: After = 0,
) -> Response:
    """Stream starts and ends of states and steps, with durations, until the investigation ends.

    Only where the API runs as a server: behind API Gateway answers come whole, so poll the steps.
    """
    poll = f"poll GET /v1/investigations/{investigation_id}/steps?after=0"
    streams.require_stream(request, poll, reason="poll-steps")
    seen = streams.last_seen(last_event_id, after)
    browse = services.investigations
    options.open_streams.check()

    def look(number: int) -> Any:
        return browse.look(caller, investigation_id, after=number, limit=streams.PAGE)

    first = streams.resumed(await to_thread.run_sync(look, max(0, seen - 1)), seen)
    steps = streams.Steps(look, streams.ReaderPosition(seq=seen), first)
    watch = streams.Watch(steps, streams.readmission(services, request), options.pace)
    return streams.streaming(watch.parts(), options.open_streams)


@routes.post(
    "/v1/investigations/{investigation_id}/resume",
    summary="Take up an investigation",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "Where it goes on", Present),
        **problems("not-found", "conflict"),
    },
)
def resume_investigation(
    investigation_id: InvestigationId, caller: Admin, services: Services
) -> Response:
    """Start a new execution from the last snapshot; actions that were applied are not repeated."""
    return answer(services.resume.one(caller, investigation_id), status=202)


class RememberedAs(StrEnum):
    """What a line is remembered as."""

    FACT = "fact"
    OBSERVATION = "observation"
    RESOLUTION = "resolution"


class RatingIn(Body):
    """How well it was done."""

    rating: Annotated[int, Field(ge=LOWEST, le=HIGHEST)]
    comment: Annotated[str, at_most(MAX_TEXT_CHARS)] = ""


class DisputeIn(Body):
    """What was wrong."""

    reason: Annotated[Text, at_most(MAX_TEXT_CHARS)]


class RememberIn(Body):
    """What to remember of a line; without `text` what the line says."""

    label: Annotated[RememberedAs, Field(strict=False)] = RememberedAs.FACT
    text: Annotated[Text, at_most(MAX_TEXT_CHARS)] | None = None


@routes.post(
    "/v1/investigations/{investigation_id}/rating",
    summary="Rate an investigation",
    response_model=None,
    responses={
        **answers(200, "What you said", OpinionView),
        **problems("not-found", "conflict", body=True),
    },
)
def rate_investigation(
    investigation_id: InvestigationId, body: RatingIn, caller: Admin, services: Services
) -> Response:
    """Rate one that ended; 4 and 5 stage what may be learned of it. Your last word counts."""
    opinion = services.opinions.rate(
        caller, investigation_id, rating=body.rating, comment=body.comment
    )
    return answer(opinion)


@routes.post(
    "/v1/investigations/{investigation_id}/dispute",
    summary="Dispute how an investigation ended",
    response_model=None,
    responses={
        **answers(200, "What you said", OpinionView),
        **problems("not-found", "conflict", body=True),
    },
)
def dispute_investigation(
    investigation_id: InvestigationId, body: DisputeIn, caller: Admin, services: Services
) -> Response:
    """Say that it did not end well: nothing is learned of it. Your last word counts."""
    return answer(services.opinions.dispute(caller, investigation_id, reason=body.reason))


@routes.get(
    "/v1/investigations/{investigation_id}/opinions",
    summary="List what people said of an investigation",
    response_model=None,
    responses={
        **answers(200, "The last word of each", ListOf[OpinionView]),
        **problems("not-found"),
    },
)
def list_opinions(investigation_id: InvestigationId, caller: Admin, services: Services) -> Response:
    """List ratings and disputes that stand; earlier words are in the ledger."""
    return answer({"items": services.opinions.of(caller, investigation_id)})


@routes.post(
    "/v1/investigations/{investigation_id}/steps/{seq}/remember",
    summary="Remember a step",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The node that holds it", Remembered),
        **problems("not-found", "conflict", body=True),
    },
)
def remember_step(
    investigation_id: InvestigationId,
    seq: Annotated[int, Path(ge=1, le=2**31 - 1, description="The step's number.")],
    body: RememberIn,
    caller: Admin,
    services: Services,
) -> Response:
    """Make a line of the timeline an active node of the memory graph, tied to its investigation."""
    memory = services.remember_step(
        caller, investigation_id, seq, label=body.label.value, text=body.text
    )
    return answer(memory, status=201)


@routes.get(
    "/v1/tool-calls",
    summary="List tool calls",
    response_model=None,
    responses={
        **answers(200, "Tool calls, the newest first", PageOf[ToolCallView]),
        **problems(),
    },
)
def list_tool_calls(
    caller: Writer,
    services: Services,
    options: Options,
    investigation_id: Annotated[UUID | None, Query(description="Only those of this one.")] = None,
    connector: Annotated[Name | None, Query(description="Only those of its tools.")] = None,
    session_id: Annotated[Name | None, Query(description="Only those of this session.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what agents asked tools for: owner, input and output (redacted, cut), error, times.

    Calls that agents made over MCP and HTTP are among them, with the owner `cairn`.
    """
    filters: dict[str, Any] = {
        "investigation_id": investigation_id,
        "connector": connector,
        "session_id": session_id,
    }
    return newest_answer(
        partial(services.investigations.tool_calls, caller, **filters),
        limit=limit,
        cursor=cursor,
        key="proposed_at",
        route="tool-calls",
        filters=filters,
        options=options,
    )


@routes.get(
    "/v1/tool-calls/{action_id}",
    summary="Show a tool call",
    response_model=None,
    responses={**answers(200, "The tool call", ToolCallView), **problems("not-found")},
)
def get_tool_call(
    action_id: Annotated[UUID, Path(description="The id in a citation: `[tool:<id>]`.")],
    caller: Writer,
    services: Services,
) -> Response:
    """Show what a citation of a tool names: the call, and what the tool said."""
    return answer(services.investigations.tool_call(caller, action_id))
