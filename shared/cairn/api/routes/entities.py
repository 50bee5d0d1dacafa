"""Entities: list and read them, and correct them: aliases, merging, splitting."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from cairn.api import pages
from cairn.api.answers import answer
from cairn.api.dependencies import Options, Services, Writer
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name
from cairn.api.pages import Cursor, Limit, key_page_answer
from cairn.api.routing import router
from cairn.graph.entity_names import MAX_NAME_CHARS
from cairn.nodes.views import (
    MAX_SPLIT_MENTIONS,
    EntityChanged,
    EntityDetail,
    EntityFilter,
    EntityView,
    Split,
)

routes = router("entities")

Id = Annotated[UUID, Field(strict=False)]
EntityId = Annotated[UUID, Path(description="The entity's id.")]
EntityName = Annotated[Name, Field(max_length=MAX_NAME_CHARS)]
EntityType = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$", examples=["person"])]


class AliasIn(Body):
    """Another name of an entity."""

    alias: EntityName


class MergeIn(Body):
    """The entity that another one becomes part of."""

    into: Id


class SplitIn(Body):
    """Either `undo`, a merged entity, or `mentions` that meant the entity `name`."""

    undo: Id | None = None
    name: EntityName | None = None
    type: EntityType | None = None
    mentions: Annotated[list[Id], Field(max_length=MAX_SPLIT_MENTIONS)] = Field(
        default_factory=list[UUID]
    )

    @model_validator(mode="after")
    def one_of_both(self) -> "SplitIn":
        """Refuse both ways at once, and neither."""
        is_named = self.name is not None and bool(self.mentions)
        if (self.undo is not None) == is_named or (self.undo and (self.name or self.mentions)):
            raise PydanticCustomError("split", "Send undo, or name with mentions")
        return self


@routes.get(
    "/v1/entities",
    summary="List entities by name",
    response_model=None,
    responses={**answers(200, "One page", PageOf[EntityView]), **problems()},
)
def list_entities(
    caller: Writer,
    services: Services,
    options: Options,
    q: Annotated[Name | None, Query(description="Part of a name or of an alias.")] = None,
    type: Annotated[Name | None, Query(description="Such as person or technology.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the entities the key may see; merged ones are left out."""
    where = EntityFilter(q=q, type=type)
    filters = asdict(where)
    after = pages.decode_key(cursor, kind=str, route="entities", filters=filters)
    entities = services.nodes.entities(caller, where, limit=limit + 1, after=after)
    return key_page_answer(
        entities, limit=limit, key="sort_key", route="entities", filters=filters, options=options
    )


@routes.get(
    "/v1/entities/{entity_id}",
    summary="Read one entity: names, mentions, relations",
    response_model=None,
    responses={**answers(200, "The entity", EntityDetail), **problems("not-found")},
)
def get_entity(entity_id: EntityId, caller: Writer, services: Services) -> Response:
    """Read an entity; a merged one names what it went into as `superseded_by`."""
    return answer(services.nodes.entity(caller, entity_id))


@routes.post(
    "/v1/entities/{entity_id}/aliases",
    summary="Give an entity one more name",
    response_model=None,
    responses={
        **answers(200, "The name means this entity", EntityChanged),
        **problems("conflict", "not-found", body=True),
    },
)
def add_alias(entity_id: EntityId, body: AliasIn, caller: Writer, services: Services) -> Response:
    """Let a name in texts and questions mean this entity, for those who see it."""
    return answer(services.entities.add_alias(caller, entity_id, body.alias))


@routes.delete(
    "/v1/entities/{entity_id}/aliases",
    summary="Take a name from an entity",
    response_model=None,
    responses={
        **answers(200, "The name means nothing", EntityChanged),
        **problems("conflict", "not-found"),
    },
)
def remove_alias(
    entity_id: EntityId,
    caller: Writer,
    services: Services,
    alias: Annotated[Name, Query(description="The alias, in any case.")],
) -> Response:
    """Remove an alias; entities already made from it stay as they are."""
    return answer(services.entities.remove_alias(caller, entity_id, alias))


@routes.post(
    "/v1/entities/{entity_id}/merge",
    summary="Make an entity part of another one",
    response_model=None,
    responses={
        **answers(200, "The other entity has it all now", EntityChanged),
        **problems("conflict", "not-found", body=True),
    },
)
def merge_entity(
    entity_id: EntityId, body: MergeIn, caller: Writer, services: Services
) -> Response:
    """Move mentions, relations and names; strengths add up, the stronger role stays."""
    return answer(services.entities.merge(caller, entity_id, body.into))


@routes.post(
    "/v1/entities/{entity_id}/split",
    summary="Undo a merge, or part mentions of two things",
    response_model=None,
    responses={
        **answers(200, "The entity that stands beside it now", EntityChanged),
        **problems("conflict", "not-found", body=True),
    },
)
def split_entity(
    entity_id: EntityId, body: SplitIn, caller: Writer, services: Services
) -> Response:
    """With `undo` a merged entity stands again; with `mentions` those move to the one named."""
    new_split = Split(undo=body.undo, name=body.name, type=body.type, mentions=tuple(body.mentions))
    return answer(services.entities.split(caller, entity_id, new_split))
