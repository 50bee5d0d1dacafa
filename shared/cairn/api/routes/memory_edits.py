"""What people do about a memory: correct, merge, move, pin it, and keep it from recall."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api.answers import answer, replay_headers
from cairn.api.dependencies import ClientWriter, Idempotency, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Metadata, Name, Names, ScopeName, Text, Timestamp, at_most
from cairn.api.routes.memories import Importance, MemoryId
from cairn.api.routing import router
from cairn.graph.node import Category, KnowledgeCategory
from cairn.memories.edit import MAX_REASON_CHARS, Edited, EditOutcome, Mark, Move
from cairn.writing.checks import MAX_TEXT_CHARS

routes = router("memories")

Reason = Annotated[Text, Field(max_length=MAX_REASON_CHARS)]
MemoryText = Annotated[Text, at_most(MAX_TEXT_CHARS)]
_NOT_NULL = ("text", "importance", "confidence", "occurred_at", "metadata")


class EditResult(TypedDict):
    """What became of an edit: the memory that stands now, and those it stands in the place of."""

    outcome: EditOutcome
    id: UUID
    position: int
    replaced: list[UUID]
    warnings: list[str]


class MemoryCorrection(Body):
    """What a memory says otherwise, and why. What is left out stays; null clears."""

    reason: Reason
    text: MemoryText | None = None
    key: Name | None = None
    subject: Name | None = None
    status_value: Name | None = None
    category: Annotated[Category | None, Field(strict=False)] = None
    knowledge_category: Annotated[KnowledgeCategory | None, Field(strict=False)] = None
    importance: Importance | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    occurred_at: Timestamp | None = None
    valid_to: Timestamp | None = None
    metadata: Metadata | None = None

    @model_validator(mode="after")
    def something_to_clear(self) -> "MemoryCorrection":
        """Refuse null where a memory always has a value."""
        for name in _NOT_NULL:
            if name in self.model_fields_set and getattr(self, name) is None:
                raise PydanticCustomError("null", "{name} cannot be null", {"name": name})
        return self

    def changes(self) -> dict[str, Any]:
        """Return the fields that were given."""
        return {name: getattr(self, name) for name in self.model_fields_set if name != "reason"}


class MemoryMerge(Body):
    """The memory to merge with, and why. Without a text the new memory says what both say."""

    other_id: Annotated[UUID, Field(strict=False)]
    reason: Reason
    text: MemoryText | None = None


class MemoryMove(Body):
    """Where a memory goes, and why. What is left out stays; no agents tags it for everyone."""

    reason: Reason
    client_id: Name | None = None
    scope: ScopeName | None = None
    agents: Names | None = None


class NeverRecall(Body):
    """Why a memory is to be kept from recall."""

    reason: Reason


_RESULT = {
    "outcome": "created",
    "id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "position": 42,
    "replaced": ["019a8f0e-3b5c-7c11-9d2e-000000000001"],
    "warnings": [],
}
_REPLACED: dict[int | str, Any] = {
    **answers(200, "What became of it", EditResult, _RESULT),
    **problems("not-found", "conflict", body=True),
}
_MARKED: dict[int | str, Any] = {
    **answers(
        200, "What became of it", EditResult, {**_RESULT, "outcome": "changed", "replaced": []}
    ),
    **problems("not-found", "conflict"),
}


def _result(edited: Edited) -> Response:
    shown = {name: getattr(edited, name) for name in EditResult.__annotations__}
    return answer(shown, headers=replay_headers(replayed=edited.replayed))


@routes.patch(
    "/v1/memories/{memory_id}",
    summary="Correct a memory",
    response_model=None,
    responses=_REPLACED,
)
def correct_memory(
    memory_id: MemoryId,
    body: MemoryCorrection,
    caller: ClientWriter,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    """Put a new version in a memory's place; the old one is superseded and was never true."""
    return _result(
        services.edit_memories.correct(
            caller, memory_id, body.changes(), reason=body.reason, idempotency=idempotency
        )
    )


@routes.post(
    "/v1/memories/{memory_id}/merge",
    summary="Merge two memories",
    response_model=None,
    responses=_REPLACED,
)
def merge_memories(
    memory_id: MemoryId,
    body: MemoryMerge,
    caller: ClientWriter,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    """Put one memory in the place of two that the same readers see; it comes of both."""
    return _result(
        services.edit_memories.merge(
            caller,
            memory_id,
            body.other_id,
            text=body.text,
            reason=body.reason,
            idempotency=idempotency,
        )
    )


@routes.post(
    "/v1/memories/{memory_id}/move",
    summary="Move a memory to other readers",
    response_model=None,
    responses=_REPLACED,
)
def move_memory(
    memory_id: MemoryId,
    body: MemoryMove,
    caller: ClientWriter,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    """Give a memory to another client, scope or agents; those it was taken from lose it."""
    to = Move(
        client_id=body.client_id,
        scope=body.scope,
        agents=None if body.agents is None else tuple(body.agents),
    )
    return _result(
        services.edit_memories.move(
            caller, memory_id, to, reason=body.reason, idempotency=idempotency
        )
    )


@routes.put(
    "/v1/memories/{memory_id}/pin",
    summary="Pin a memory",
    response_model=None,
    responses=_MARKED,
)
def pin_memory(
    memory_id: MemoryId, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Keep a memory from ageing and fading, and rank it higher."""
    return _marked(memory_id, Mark.PINNED, caller, services, idempotency)


@routes.delete(
    "/v1/memories/{memory_id}/pin",
    summary="Unpin a memory",
    response_model=None,
    responses=_MARKED,
)
def unpin_memory(
    memory_id: MemoryId, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Let a memory age and fade like any other again."""
    return _marked(memory_id, Mark.UNPINNED, caller, services, idempotency)


@routes.put(
    "/v1/memories/{memory_id}/never-recall",
    summary="Keep a memory from recall",
    response_model=None,
    responses=_REPLACED,
)
def keep_memory_from_recall(
    memory_id: MemoryId,
    body: NeverRecall,
    caller: ClientWriter,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    """Keep a memory, and let no search, context or walk find it, nor what it was in the past."""
    edited = services.edit_memories.mark(
        caller, memory_id, Mark.NEVER_RECALL, reason=body.reason, idempotency=idempotency
    )
    return _result(edited)


@routes.delete(
    "/v1/memories/{memory_id}/never-recall",
    summary="Let a memory be recalled again",
    response_model=None,
    responses=_MARKED,
)
def let_memory_be_recalled(
    memory_id: MemoryId, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Give a memory that was kept from recall the state it would have had."""
    return _marked(memory_id, Mark.RECALL, caller, services, idempotency)


@routes.post(
    "/v1/memories/{memory_id}/restore",
    summary="Take the deletion of a memory back",
    response_model=None,
    responses=_MARKED,
)
def restore_memory(
    memory_id: MemoryId, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Let a memory that was deleted in the last seven days be found again."""
    return _result(services.restore_memory(caller, memory_id, idempotency=idempotency))


def _marked(
    memory_id: UUID,
    mark: Literal[Mark.PINNED, Mark.UNPINNED, Mark.RECALL],
    caller: ClientWriter,
    services: Services,
    idempotency: Idempotency,
) -> Response:
    return _result(services.edit_memories.mark(caller, memory_id, mark, idempotency=idempotency))
