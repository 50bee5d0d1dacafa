"""Events: observe one or many, read, list. They are append-only: nothing changes or deletes one."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Body as BodyParameter
from fastapi import Path, Query, Response
from pydantic import Discriminator, Field, SkipValidation, Tag
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer
from cairn.api.batches import Answers, Batch, BatchOf, checked_item, one_or_many
from cairn.api.dependencies import ClientGiven, ClientWriter, Idempotency, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, Names, ScopeName, Text, Timestamp, at_most
from cairn.api.pages import Cursor, Limit, page_answer
from cairn.api.problems import Problem, from_error
from cairn.api.routes.memories import Importance
from cairn.api.routing import router
from cairn.events.draft import MAX_TYPE_CHARS, EventOutcome, NewEvent, Observed
from cairn.events.read import EventFilter, EventView
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.records import convert
from cairn.ledger.entry import ENTRY_TYPE
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.batches import MAX_BATCH
from cairn.writing.checks import MAX_TEXT_CHARS
from cairn.writing.items import Outcome

routes = router("events")

TypeName = Annotated[
    str,
    Field(max_length=MAX_TYPE_CHARS, pattern=f"^{ENTRY_TYPE.pattern}$", examples=["tool.execute"]),
]
Namespace = Annotated[
    str | None,
    Query(max_length=MAX_TYPE_CHARS, description="A type, or the namespace of types: `tool`."),
]


class EventResult(TypedDict):
    """What became of one event."""

    outcome: Literal[Outcome.CREATED, Outcome.DUPLICATE]
    id: UUID
    position: int
    warnings: list[str]


class EventItemResult(EventResult):
    """What became of one item of a batch, at its place among the items."""

    index: int


class EventIn(Body):
    """One event to write."""

    type: TypeName
    occurred_at: Timestamp | None = None
    session_id: Name | None = None
    sequence: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    agent_id: Name | None = None
    trace_id: Name | None = None
    parent_id: Annotated[UUID, Field(strict=False)] | None = None
    parent_item: Annotated[int, Field(ge=0, lt=MAX_BATCH)] | None = None
    tool_name: Name | None = None
    status: Name | None = None
    payload: dict[str, Any] = Field(default_factory=dict[str, Any])
    text: Annotated[Text, at_most(MAX_TEXT_CHARS)] | None = None
    importance: Importance | None = None
    client_id: Name = GLOBAL_CLIENT
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    data_subjects: Names = Field(default_factory=list[str])


class EventBatch(Batch):
    """Up to 500 events; each is validated and answered for itself."""

    items: Annotated[list[SkipValidation[EventIn]], Field(min_length=1, max_length=MAX_BATCH)]


_EXAMPLE: dict[str, Any] = {
    "type": "tool.execute",
    "occurred_at": "2026-03-15T10:00:00Z",
    "session_id": "deploy-7",
    "agent_id": "deployer",
    "trace_id": "4f1c",
    "tool_name": "kubectl",
    "status": "failed",
    "payload": {"service": "billing", "error": "image not found"},
}
OneOrMany = Annotated[
    Annotated[EventIn, Tag("as-one")] | Annotated[EventBatch, Tag("as-batch")],
    Discriminator(one_or_many),
    BodyParameter(
        openapi_examples={"one": {"value": _EXAMPLE}, "many": {"value": {"items": [_EXAMPLE]}}}
    ),
]
_RESULT: dict[str, Any] = {
    "outcome": "created",
    "id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "position": 17,
    "warnings": [],
}


def _more(outcome: EventOutcome) -> dict[str, Any]:
    return {"warnings": outcome.warnings}


_ANSWERS = Answers(more=_more)


@routes.post(
    "/v1/events",
    summary="Observe one event or a batch",
    response_model=None,
    responses={
        **answers(
            200,
            "A duplicate; or a batch's results, in order",
            EventResult | BatchOf[EventItemResult],
            {"results": [{"index": 0, **_RESULT}], "counts": {"created": 1}},
        ),
        **answers(201, "The event is new", EventResult, _RESULT),
        **problems("conflict", body=True),
    },
)
def observe_events(
    body: OneOrMany, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Store events durably, in the order they happened; what caused what is kept as edges."""

    def write(events: tuple[NewEvent, ...]) -> Observed:
        return services.observe(caller, events, idempotency=idempotency)

    if isinstance(body, EventIn):
        return _ANSWERS.one(write((convert(body, NewEvent),)))
    return _ANSWERS.many(_checked_items(body.items), write)


def _checked_items(items: Sequence[object]) -> list[NewEvent | Problem]:
    """Return each item checked; a parent_item then counts the good ones, which alone go on."""
    checked: list[NewEvent | Problem] = []
    for item in items:
        event = checked_item(_record, item)
        good = not isinstance(event, Problem)
        checked.append(_with_parent_among_good(event, checked) if good else event)
    return checked


def _record(item: object) -> NewEvent:
    return convert(EventIn.model_validate(item), NewEvent)


def _with_parent_among_good(
    event: NewEvent, before: Sequence[NewEvent | Problem]
) -> NewEvent | Problem:
    parent = event.parent_item
    if parent is None:
        return event
    if parent >= len(before) or isinstance(before[parent], Problem):
        message = "must be the place, from 0, of an earlier good event of the same batch"
        error = ValidationFailed(
            f"parent_item {message}.", errors=[FieldError("parent_item", message)]
        )
        return from_error(error)
    good = sum(isinstance(item, NewEvent) for item in before[:parent])
    return replace(event, parent_item=good)


@routes.get(
    "/v1/events",
    summary="List events, newest first",
    response_model=None,
    responses={**answers(200, "One page", PageOf[EventView]), **problems()},
)
def list_events(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    type: Namespace = None,
    session_id: Annotated[Name | None, Query()] = None,
    agent_id: Annotated[Name | None, Query()] = None,
    trace_id: Annotated[Name | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what the key may see, with every filter given, by the order of the ledger."""
    where = EventFilter(
        type=type, session_id=session_id, agent_id=agent_id, trace_id=trace_id, client_id=client_id
    )
    filters = asdict(where)
    after = pages.decode(cursor, route="events", filters=filters)
    page = services.events.page(caller, where, limit=limit, after=after)
    return page_answer(page, route="events", filters=filters, options=options)


@routes.get(
    "/v1/events/{event_id}",
    summary="Read one event",
    response_model=None,
    responses={**answers(200, "The event", EventView), **problems("not-found")},
)
def get_event(
    event_id: Annotated[UUID, Path(description="The event's id.")],
    caller: ClientWriter,
    services: Services,
) -> Response:
    """Read an event with its payload."""
    return answer(services.events.get(caller, event_id))
