"""Checkpoints: states that programs of agents go on from, and what tasks wrote meanwhile."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from pydantic import AfterValidator, Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, at_most, clean, examples
from cairn.api.pages import Cursor, decode_key, encode_key
from cairn.api.routing import router
from cairn.checkpoints.keep import (
    MAX_DATA_CHARS,
    MAX_TTL_SECONDS,
    MAX_WRITES,
    CheckpointFilter,
    NewCheckpoint,
    NewWrite,
    NewWrites,
)
from cairn.kernel.records import convert
from cairn.writing.audience import GLOBAL_CLIENT

routes = router("checkpoints")
_LIST = "/v1/checkpoints"
_ROOM = 65_536

Id = Annotated[str, Field(min_length=1, max_length=128), AfterValidator(clean)]
Place = Annotated[str, Field(max_length=512), AfterValidator(clean)]
Data = Annotated[str, at_most(MAX_DATA_CHARS)]


class CheckpointIn(Body):
    """A state of a thread; one of the same id takes the place of the one before."""

    model_config = examples(
        {
            "thread_id": "support-4711",
            "checkpoint_id": "1f0c8a34-6f1e-6d8c-8001-2b7d6f0a9c11",
            "data": "eyJzdGVwIjogMX0=",
            "client_id": "dana",
        }
    )

    thread_id: Name
    namespace: Place = ""
    checkpoint_id: Id
    parent_id: Id | None = None
    run_id: Id | None = None
    data: Data
    client_id: Name = GLOBAL_CLIENT
    ttl_seconds: Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS)] | None = None


class CheckpointWriteIn(Body):
    """What a task wrote to a channel."""

    idx: Annotated[int, Field(ge=-1000, le=1_000_000)]
    channel: Name
    data: Data


class CheckpointWritesIn(Body):
    """What a task wrote after a checkpoint. Each counts once; the last one below `idx` 0."""

    thread_id: Name
    namespace: Place = ""
    checkpoint_id: Id
    task_id: Id
    task_path: Annotated[str, Field(max_length=2000)] = ""
    writes: Annotated[list[CheckpointWriteIn], Field(min_length=1, max_length=MAX_WRITES)]
    client_id: Name = GLOBAL_CLIENT


class CheckpointKept(TypedDict):
    """The checkpoint that was put, or was written beside."""

    checkpoint_id: str


class CheckpointsRemoved(TypedDict):
    """How many checkpoints went."""

    removed: int


class CheckpointWriteItem(TypedDict):
    """What a task wrote to a channel."""

    task_id: str
    task_path: str
    idx: int
    channel: str
    data: str


class CheckpointItem(TypedDict):
    """A checkpoint with what tasks wrote after it, in the order of their paths."""

    id: UUID
    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    run_id: str | None
    data: str
    writes: list[CheckpointWriteItem]
    created_at: datetime


@routes.put(
    _LIST,
    summary="Keep a checkpoint",
    response_model=None,
    responses={**answers(200, "It is kept", CheckpointKept), **problems("conflict", body=True)},
)
def put_checkpoint(body: CheckpointIn, caller: ClientWriter, services: Services) -> Response:
    """Keep a state, sealed as it came; no search finds it, and the ledger has no entry of it."""
    services.checkpoints.put(caller, convert(body, NewCheckpoint))
    return answer({"checkpoint_id": body.checkpoint_id})


@routes.put(
    "/v1/checkpoints/writes",
    summary="Keep what a task wrote after a checkpoint",
    response_model=None,
    responses={**answers(200, "It is kept", CheckpointKept), **problems("conflict", body=True)},
)
def put_checkpoint_writes(
    body: CheckpointWritesIn, caller: ClientWriter, services: Services
) -> Response:
    """Keep what a program needs to go on from the middle of a step."""
    writes = tuple(convert(write, NewWrite) for write in body.writes)
    services.checkpoints.put_writes(caller, convert(body, NewWrites, writes=writes))
    return answer({"checkpoint_id": body.checkpoint_id})


@routes.get(
    _LIST,
    summary="List checkpoints",
    response_model=None,
    responses={**answers(200, "The newest first", PageOf[CheckpointItem]), **problems()},
)
def list_checkpoints(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    thread_id: Annotated[Name | None, Query()] = None,
    namespace: Annotated[Place | None, Query()] = None,
    checkpoint_id: Annotated[Id | None, Query()] = None,
    before: Annotated[Id | None, Query()] = None,
    run_id: Annotated[Id | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 20,
    cursor: Cursor = None,
) -> Response:
    """List those of this key's agent and one client, by their ids; a page is at most 5 MiB."""
    where = CheckpointFilter(
        thread_id=thread_id,
        namespace=namespace,
        checkpoint_id=checkpoint_id,
        before=before,
        run_id=run_id,
        client_id=client_id,
    )
    filters = {"where": where}
    after = decode_key(cursor, kind=str, route=_LIST, filters=filters)
    room = options.max_answer_bytes - _ROOM
    items, last = services.checkpoints.list(caller, where, after=after, limit=limit, max_bytes=room)
    more = encode_key(last, route=_LIST, filters=filters) if last else None
    return answer({"items": items, "next_cursor": more})


@routes.delete(
    _LIST,
    summary="Take checkpoints away",
    response_model=None,
    responses={**answers(200, "How many went", CheckpointsRemoved), **problems()},
)
def remove_checkpoints(
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
    thread_id: Annotated[Name | None, Query()] = None,
    namespace: Annotated[Place | None, Query()] = None,
    checkpoint_id: Annotated[Id | None, Query()] = None,
    before: Annotated[Id | None, Query()] = None,
    run_id: Annotated[Id | None, Query()] = None,
) -> Response:
    """Take away those of a thread or of a run, for good, with what tasks wrote beside them."""
    where = CheckpointFilter(
        thread_id=thread_id,
        namespace=namespace,
        checkpoint_id=checkpoint_id,
        before=before,
        run_id=run_id,
        client_id=client_id,
    )
    return answer({"removed": services.checkpoints.remove(caller, where)})
