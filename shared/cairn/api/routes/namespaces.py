"""Namespaces of memories, and memories that last for a time."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Namespace
from cairn.api.pages import Limit
from cairn.api.routing import router
from cairn.memories.expiry import MAX_REFRESHED
from cairn.reading.views import NamespaceFilter

routes = router("memories")
MAX_OFFSET = 100_000


class NamespaceList(TypedDict):
    """Namespaces in their order, and whether there are more after these."""

    namespaces: list[str]
    more: bool


class RefreshIn(Body):
    """Memories that are to last as long again as they did when they were written."""

    ids: Annotated[
        list[Annotated[UUID, Field(strict=False)]], Field(min_length=1, max_length=MAX_REFRESHED)
    ]


class RefreshedMemory(TypedDict):
    """A memory that was refreshed, and when it expires now."""

    id: UUID
    expires_at: datetime


class Refreshed(TypedDict):
    """The memories that were refreshed."""

    refreshed: list[RefreshedMemory]


@routes.get(
    "/v1/namespaces",
    summary="List the namespaces of memories",
    response_model=None,
    responses={**answers(200, "The namespaces", NamespaceList), **problems()},
)
def list_namespaces(
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
    prefix: Annotated[Namespace | None, Query()] = None,
    suffix: Annotated[Namespace | None, Query()] = None,
    max_depth: Annotated[int | None, Query(ge=1, le=20)] = None,
    limit: Limit = 50,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> Response:
    """Name those with active memories that the key may see, each once."""
    where = NamespaceFilter(prefix=prefix, suffix=suffix, max_depth=max_depth, client_id=client_id)
    rows = services.browse.list_namespaces(caller, where, limit=limit, offset=offset)
    return answer({"namespaces": rows[:limit], "more": len(rows) > limit})


@routes.post(
    "/v1/memories/refresh",
    summary="Refresh memories that last for a time",
    response_model=None,
    responses={**answers(200, "When each expires now", Refreshed), **problems(body=True)},
)
def refresh_memories(body: RefreshIn, caller: ClientWriter, services: Services) -> Response:
    """Let memories last as long again from now on; those without `ttl_seconds` are left out."""
    until = services.refresh_memories(caller, body.ids)
    return answer({"refreshed": [{"id": id_, "expires_at": at} for id_, at in until.items()]})
