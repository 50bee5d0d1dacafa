"""Memories: write one or many, read, list, follow their history, delete softly."""

from dataclasses import asdict
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Body as BodyParameter
from fastapi import Path, Query, Response
from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    SkipValidation,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer
from cairn.api.batches import Answers, Batch, BatchOf, checked_item, one_or_many
from cairn.api.conditions import WhereParameter, conditions_of
from cairn.api.dependencies import ClientGiven, ClientWriter, Idempotency, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import (
    AsOf,
    Body,
    Metadata,
    Name,
    Names,
    Namespace,
    ScopeName,
    Text,
    Timestamp,
    at_most,
)
from cairn.api.pages import Cursor, Limit, page_answer
from cairn.api.routing import router
from cairn.bootstrap.api import ApiServices
from cairn.graph.node import Category, KnowledgeCategory
from cairn.kernel.access import Principal
from cairn.kernel.records import convert
from cairn.memories.draft import MAX_TTL_SECONDS
from cairn.memories.items import MemoryOutcome, NewMemory, Remembered
from cairn.memories.kinds import MemoryKind, importance_number
from cairn.reading.views import MemoryFilter, MemoryVersion, MemoryView
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.batches import MAX_BATCH
from cairn.writing.checks import MAX_TEXT_CHARS
from cairn.writing.items import Deleted, IdempotencyKey, Outcome

routes = router("memories")


class MemoryResult(TypedDict):
    """What became of one memory."""

    outcome: Literal[Outcome.CREATED, Outcome.DUPLICATE, Outcome.CORROBORATED, Outcome.SUPERSEDED]
    id: UUID
    position: int
    superseded: list[UUID]
    observation_count: int
    warnings: list[str]


class MemoryItemResult(MemoryResult):
    """What became of one item of a batch, at its place among the items."""

    index: int


class MemoryHistory(TypedDict):
    """The versions of a memory, oldest first."""

    versions: list[MemoryVersion]


def _importance(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise PydanticCustomError("importance", "Expected a band or a whole number from 1 to 10")
    try:
        return importance_number(value)
    except ValueError as exc:
        raise PydanticCustomError("importance", "{wrong}", {"wrong": str(exc)}) from exc


Importance = Annotated[
    int | Literal["critical", "high", "medium", "low"], BeforeValidator(_importance)
]
KindName = Annotated[MemoryKind, Field(strict=False)]


class MemoryIn(Body):
    """One memory to write."""

    text: Annotated[Text, at_most(MAX_TEXT_CHARS)]
    type: KindName
    client_id: Name = GLOBAL_CLIENT
    key: Name | None = None
    subject: Name | None = None
    status_value: Name | None = None
    source_agent: Name | None = None
    category: Annotated[Category | None, Field(strict=False)] = None
    importance: Importance | None = None
    knowledge_category: Annotated[KnowledgeCategory, Field(strict=False)] = (
        KnowledgeCategory.GENERAL
    )
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    occurred_at: Timestamp | None = None
    valid_from: Timestamp | None = None
    valid_to: Timestamp | None = None
    session_id: Name | None = None
    sequence: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    trace_id: Name | None = None
    parent_id: Annotated[UUID, Field(strict=False)] | None = None
    produced_by_task_id: Annotated[UUID, Field(strict=False)] | None = None
    data_subjects: Names = Field(default_factory=list[str])
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    metadata: Metadata = Field(default_factory=dict[str, Any])
    namespace: Namespace | None = None
    ttl_seconds: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS)] | None = None

    @model_validator(mode="after")
    def end_after_beginning(self) -> "MemoryIn":
        """Refuse a validity that ends before it begins."""
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise PydanticCustomError("order", "valid_to is before valid_from")
        return self


class MemoryBatch(Batch):
    """Up to 500 memories; each is validated and answered for itself."""

    items: Annotated[list[SkipValidation[MemoryIn]], Field(min_length=1, max_length=MAX_BATCH)]


OneOrMany = Annotated[
    Annotated[MemoryIn, Tag("as-one")] | Annotated[MemoryBatch, Tag("as-batch")],
    Discriminator(one_or_many),
    BodyParameter(
        openapi_examples={
            "one": {
                "value": {
                    "text": "Acme moved its website to Next.js.",
                    "type": "fact",
                    "key": "acme-tech-stack",
                    "client_id": "acme",
                    "importance": "high",
                    "occurred_at": "2026-03-15T10:00:00Z",
                }
            },
            "many": {
                "value": {
                    "items": [
                        {
                            "text": "Dana: the migration is finished.",
                            "type": "event",
                            "session_id": "standup-12",
                            "sequence": 4,
                        }
                    ]
                }
            },
        }
    ),
]
_RESULT: dict[str, Any] = {
    "outcome": "created",
    "id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "position": 17,
    "superseded": [],
    "observation_count": 1,
    "warnings": [],
}


def _more(outcome: MemoryOutcome) -> dict[str, Any]:
    return {
        "superseded": outcome.superseded,
        "observation_count": outcome.observation_count,
        "warnings": outcome.warnings,
    }


_ANSWERS = Answers(more=_more, possible=tuple(Outcome), new=(Outcome.CREATED, Outcome.SUPERSEDED))


@routes.post(
    "/v1/memories",
    summary="Remember one memory or a batch",
    response_model=None,
    responses={
        **answers(
            200,
            "A duplicate or corroborated memory; or a batch's results, in order",
            MemoryResult | BatchOf[MemoryItemResult],
            {"results": [{"index": 0, **_RESULT}], "counts": {"created": 1}},
        ),
        **answers(201, "The memory is new, or it superseded another", MemoryResult, _RESULT),
        **problems("conflict", body=True),
    },
)
def remember(
    body: OneOrMany, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Store memories durably; they are searchable by keyword at once and by vector soon after."""

    return remember_all(services, caller, body, idempotency)


def remember_all(
    services: ApiServices,
    caller: Principal,
    body: MemoryIn | MemoryBatch,
    idempotency: IdempotencyKey | None,
) -> Response:
    """Write the memories of a body and answer for each; also for who is no key's holder."""

    def write(memories: tuple[NewMemory, ...]) -> Remembered:
        return services.remember(caller, memories, idempotency=idempotency)

    if isinstance(body, MemoryIn):
        return _ANSWERS.one(write((convert(body, NewMemory),)))
    return _ANSWERS.many([checked_item(_record, item) for item in body.items], write)


def _record(item: object) -> NewMemory:
    return convert(MemoryIn.model_validate(item), NewMemory)


State = Literal[
    "provisional",
    "active",
    "superseded",
    "expired",
    "archived",
    "quarantined",
    "any",
]
MemoryId = Annotated[UUID, Path(description="The memory's id.")]


@routes.get(
    "/v1/memories",
    summary="List memories, newest first",
    response_model=None,
    responses={**answers(200, "One page", PageOf[MemoryView]), **problems()},
)
def list_memories(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    type: Annotated[MemoryKind | None, Query()] = None,
    key: Annotated[Name | None, Query()] = None,
    subject: Annotated[Name | None, Query()] = None,
    session_id: Annotated[Name | None, Query()] = None,
    state: Annotated[State, Query()] = "active",
    id_prefix: Annotated[str | None, Query(pattern=r"^[0-9a-f-]{1,36}$")] = None,
    namespace: Annotated[Namespace | None, Query()] = None,
    namespace_prefix: Annotated[Namespace | None, Query()] = None,
    where: WhereParameter = None,
    occurred_from: Annotated[Timestamp | None, Query()] = None,
    occurred_to: Annotated[Timestamp | None, Query()] = None,
    as_of: AsOf | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what the key may see, with every filter given; `state=any` shows all states.

    With `as_of` memories are as they stood then, in the state they had.
    """
    memory_filter = MemoryFilter(
        type=type,
        client_id=client_id,
        key=key,
        subject=subject,
        session_id=session_id,
        state=None if state == "any" else state,
        id_prefix=id_prefix.replace("-", "")[:32] if id_prefix else None,
        namespace=namespace,
        namespace_prefix=namespace_prefix,
        where=conditions_of(where),
        occurred_from=occurred_from,
        occurred_to=occurred_to,
        as_of=as_of,
    )
    filters = asdict(memory_filter)
    after = pages.decode(cursor, route="memories", filters=filters)
    page = services.browse.list_memories(caller, memory_filter, limit=limit, after=after)
    return page_answer(page, route="memories", filters=filters, options=options)


@routes.get(
    "/v1/memories/{memory_id}",
    summary="Read one memory",
    response_model=None,
    responses={**answers(200, "The memory", MemoryView), **problems("not-found")},
)
def get_memory(memory_id: MemoryId, caller: ClientWriter, services: Services) -> Response:
    """Read a memory whatever its state, unless it was deleted."""
    return answer(services.browse.get_memory(caller, memory_id))


@routes.get(
    "/v1/memories/{memory_id}/history",
    summary="Follow one memory through the ledger",
    response_model=None,
    responses={
        **answers(
            200,
            "Its versions, oldest first",
            MemoryHistory,
        ),
        **problems("not-found"),
    },
)
def get_memory_history(memory_id: MemoryId, caller: ClientWriter, services: Services) -> Response:
    """Show each version with the ledger positions it held over."""
    return answer({"versions": services.browse.get_memory_history(caller, memory_id)})


@routes.delete(
    "/v1/memories/{memory_id}",
    summary="Delete one memory softly",
    response_model=None,
    responses={**answers(200, "It is hidden now", Deleted), **problems("not-found", "conflict")},
)
def delete_memory(memory_id: MemoryId, caller: ClientWriter, services: Services) -> Response:
    """Hide a memory from search and lists; its ledger entries stay."""
    return answer(services.delete_memory(caller, memory_id))
