"""Sources of knowledge: folders, repositories, services that documents are read of. For admins."""

from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, ScopeName, examples
from cairn.api.routing import router
from cairn.kernel.records import convert
from cairn.sources.keep import (
    LEAST_SYNC_SECONDS,
    MOST_BYTES,
    MOST_ITEMS,
    MOST_SYNC_SECONDS,
    NewSource,
    SourceChange,
)
from cairn.sources.source import KnowledgeKind, KnowledgeSource
from cairn.writing.audience import GLOBAL_CLIENT

routes = router("sources")

SourceId = Annotated[UUID, Path(description="The source's id.")]
Seconds = Annotated[int, Field(ge=LEAST_SYNC_SECONDS, le=MOST_SYNC_SECONDS)]
Items = Annotated[int, Field(ge=1, le=MOST_ITEMS)]
Bytes = Annotated[int, Field(ge=1, le=MOST_BYTES)]
Kind = Annotated[KnowledgeKind, Field(strict=False, examples=["git"])]


class KnowledgeSourceIn(Body):
    """Where documents are read of. `config` and `secrets` are its kind's: see the guide."""

    model_config = examples(
        {
            "name": "runbooks",
            "kind": "git",
            "config": {
                "url": "https://github.com/harbour-lane/runbooks",
                "branch": "main",
                "include": ["docs/", "*.md"],
            },
            "secrets": {"token": "github_pat_..."},
            "sync_seconds": 3600,
        }
    )

    name: Annotated[str, Field(min_length=1, max_length=64)]
    kind: Kind
    config: dict[str, Any]
    secrets: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    client_id: Name = GLOBAL_CLIENT
    scope: ScopeName | None = None
    sync_seconds: Seconds = 86_400
    max_items: Items = 5_000
    max_bytes: Bytes = 200_000_000


class KnowledgeSourceChangeIn(Body):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    config: dict[str, Any] | None = None
    secrets: dict[str, str | None] | None = Field(default=None, repr=False)
    sync_seconds: Seconds | None = None
    max_items: Items | None = None
    max_bytes: Bytes | None = None
    paused: bool | None = None


class SourceSyncIn(Body):
    """How a source is to be read now."""

    accept_deletions: bool = False


@routes.post(
    "/v1/sources",
    summary="Add a source of knowledge",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is read from now on", KnowledgeSource),
        **problems("conflict", body=True),
    },
)
def add_source(body: KnowledgeSourceIn, caller: Admin, services: Services) -> Response:
    """Keep a source, and read it at once. Its secrets are sealed, and never shown again."""
    return answer(_shown(services.sources.add(caller, convert(body, NewSource))), status=201)


@routes.get(
    "/v1/sources",
    summary="List sources of knowledge",
    response_model=None,
    responses={**answers(200, "Every source, by name", ListOf[KnowledgeSource]), **problems()},
)
def list_sources(caller: Admin, services: Services) -> Response:
    """List sources, what stands of each, and how reading it goes."""
    return answer({"items": [_shown(item) for item in services.sources.all(caller)]})


@routes.get(
    "/v1/sources/{knowledge_id}",
    summary="Show a source of knowledge",
    response_model=None,
    responses={**answers(200, "The source", KnowledgeSource), **problems("not-found")},
)
def get_source(knowledge_id: SourceId, caller: Admin, services: Services) -> Response:
    """Show a source: the run under way, the last one, what a preview found out, the last error."""
    return answer(_shown(services.sources.get(caller, knowledge_id)))


@routes.patch(
    "/v1/sources/{knowledge_id}",
    summary="Change or pause a source of knowledge",
    response_model=None,
    responses={
        **answers(200, "The source as it is now", KnowledgeSource),
        **problems("not-found", "conflict", body=True),
    },
)
def change_source(
    knowledge_id: SourceId, body: KnowledgeSourceChangeIn, caller: Admin, services: Services
) -> Response:
    """Change a source. It is read anew with the next minutes; a paused one is not."""
    change = convert(body, SourceChange)
    return answer(_shown(services.sources.change(caller, knowledge_id, change)))


@routes.delete(
    "/v1/sources/{knowledge_id}",
    summary="Remove a source of knowledge",
    response_model=None,
    responses={
        **answers(200, "It is gone, or goes with its documents", KnowledgeSource),
        **problems("not-found", "conflict"),
    },
)
def remove_source(
    knowledge_id: SourceId,
    caller: Admin,
    services: Services,
    documents: Annotated[
        bool, Query(description="Delete what it brought, too; otherwise that stays.")
    ] = False,
) -> Response:
    """Remove a source with its secrets. To destroy what it brought, forget it instead."""
    return answer(_shown(services.sources.remove(caller, knowledge_id, documents=documents)))


@routes.post(
    "/v1/sources/{knowledge_id}/sync",
    summary="Read a source of knowledge now",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "A run has begun, or goes on", KnowledgeSource),
        **problems("not-found", "conflict", body=True),
    },
)
def sync_source(
    knowledge_id: SourceId, body: SourceSyncIn, caller: Admin, services: Services
) -> Response:
    """Read a source at once. Follow `run` until it is null; then `last_sync` says what it did."""
    synced = services.sources.sync(caller, knowledge_id, accept_deletions=body.accept_deletions)
    return answer(_shown(synced), status=202)


@routes.post(
    "/v1/sources/{knowledge_id}/preview",
    summary="Find out what a sync would change",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "It is being found out", KnowledgeSource),
        **problems("not-found", "conflict"),
    },
)
def preview_source(knowledge_id: SourceId, caller: Admin, services: Services) -> Response:
    """Read a source and change nothing. Follow `run` until it is null; then see `last_preview`."""
    return answer(_shown(services.sources.preview(caller, knowledge_id)), status=202)


def _shown(source: KnowledgeSource) -> dict[str, Any]:
    shown = {name: getattr(source, name) for name in KnowledgeSource.__dataclass_fields__}
    for name in ("run", "last_sync", "last_preview"):
        shown[name] = asdict(shown[name]) if shown[name] is not None else None
    return shown
