"""Directories that bring people by SCIM: their tokens, and the roles of their groups."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field

from cairn.accounts.scim import MAX_DAYS, ScimGroup, ScimToken, ScimTokenMade
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, examples
from cairn.api.routing import router
from cairn.kernel.access import PersonRole

routes = router("people")


class ScimTokenIn(Body):
    """A directory that is to bring people and groups."""

    model_config = examples({"name": "Entra ID", "days": 365})

    name: Name
    days: Annotated[int, Field(ge=1, le=MAX_DAYS)] | None = None


class ScimRoleIn(Body):
    """The role that a group gives; null for none."""

    model_config = examples({"role": "operator"})

    role: Annotated[PersonRole, Field(strict=False)] | None


@routes.post(
    "/v1/scim/tokens",
    summary="Make a token for a directory",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The token; it is in this answer only", ScimTokenMade),
        **problems(body=True),
    },
)
def make_scim_token(body: ScimTokenIn, caller: Admin, services: Services) -> Response:
    """Let a directory bring people and groups by SCIM, at `/scim/v2`. An owner's to make."""
    return answer(services.scim.make(caller, name=body.name, days=body.days), status=201)


@routes.get(
    "/v1/scim/tokens",
    summary="List tokens of directories",
    response_model=None,
    responses={**answers(200, "Every one, newest first", ListOf[ScimToken]), **problems()},
)
def list_scim_tokens(caller: Admin, services: Services) -> Response:
    """List the tokens of directories, when each was used last, and until when it is good."""
    return answer({"items": services.scim.tokens(caller)})


@routes.delete(
    "/v1/scim/tokens/{token_id}",
    summary="Revoke a directory's token",
    response_model=None,
    responses={**answers(200, "It opens nothing any more", ScimToken), **problems("not-found")},
)
def revoke_scim_token(
    token_id: Annotated[UUID, Path(description="The token's id.")],
    caller: Admin,
    services: Services,
) -> Response:
    """Revoke a token at once. The people and groups that it brought stay as they are."""
    return answer(services.scim.revoke(caller, token_id))


@routes.get(
    "/v1/scim/groups",
    summary="List groups of directories",
    response_model=None,
    responses={**answers(200, "The first 200, by name", ListOf[ScimGroup]), **problems()},
)
def list_scim_groups(caller: Admin, services: Services) -> Response:
    """List the groups that directories brought, how many are in each, and the role it gives."""
    return answer({"items": services.scim.groups(caller)})


@routes.put(
    "/v1/scim/groups/{group_id}",
    summary="Let a group give a role",
    response_model=None,
    responses={
        **answers(200, "The group as it is now", ScimGroup),
        **problems("not-found", body=True),
    },
)
def set_scim_role(
    group_id: Annotated[UUID, Path(description="The group's id.")],
    body: ScimRoleIn,
    caller: Admin,
    services: Services,
) -> Response:
    """Set what a group's people may do, at once; of several groups the strongest role counts."""
    return answer(services.scim.give(caller, group_id, body.role))
