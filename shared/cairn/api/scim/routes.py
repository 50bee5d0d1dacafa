"""The routes of SCIM 2.0, for directories: Entra ID, Okta and others. Not in the OpenAPI document.

A directory has a token of its own, no API key; it is refused in the form that SCIM has.
"""

from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, cast
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from cairn.api.dependencies import Services, services_of
from cairn.api.problems import Problem, from_error, from_http
from cairn.api.routing import require_json
from cairn.api.scim import messages, patches, schemas
from cairn.api.scim.messages import MESSAGES, scim_answer, wrong
from cairn.api.strict_json import parse
from cairn.kernel.access import Principal
from cairn.kernel.errors import CairnError, NotFound, Unauthenticated

BASE = "/scim/v2"
TYPES = {
    "invalidFilter", "tooMany", "uniqueness", "mutability", "invalidSyntax", "invalidPath",
    "noTarget", "invalidValue", "invalidVers", "sensitive",
}  # fmt: skip
"""SCIM's own words for what is wrong with a request."""
UNIQUE = ("login-taken", "group-taken", "constraint")


class ScimRoute(APIRoute):
    """Answers a refusal as SCIM says it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the framework's handler behind that."""
        handle = super().get_route_handler()

        async def served(request: Request) -> Response:
            try:
                return await handle(request)
            except CairnError as error:
                return _refusal(from_error(error))
            except HTTPException as error:
                return _refusal(from_http(error))

        return served


def _refusal(problem: Problem) -> Response:
    status = 400 if problem.kind.status == 422 else problem.kind.status
    kind = problem.reason if problem.reason in TYPES else None
    if problem.reason in UNIQUE:
        kind = "uniqueness"
    elif status == 400 and kind is None:
        kind = "invalidSyntax" if problem.kind.code == "malformed-body" else "invalidValue"
    headers: dict[str, str] = {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if problem.retry_after:
        headers["retry-after"] = str(max(1, round(problem.retry_after)))
    body = {
        "schemas": [f"{MESSAGES}Error"],
        "status": str(status),
        **({"scimType": kind} if kind else {}),
        "detail": problem.detail,
    }
    return scim_answer(body, status, headers)


routes = APIRouter(route_class=ScimRoute, include_in_schema=False)


async def directory(request: Request) -> Principal:
    """Return who asks: the holder of a directory's token."""
    services = await services_of(request)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        services.scim.require_offered()
        raise Unauthenticated("Send a directory's token: Authorization: Bearer scim_....")
    principal = await run_in_threadpool(services.scim.admit, token.strip())
    request.state.principal = principal
    return principal


async def record(request: Request) -> dict[str, Any]:
    """Return the body, which is an object."""
    require_json(request)
    body = parse(await request.body())
    if not isinstance(body, dict):
        wrong("invalidSyntax", "The body is an object.")
    return cast("dict[str, Any]", body)


Directory = Annotated[Principal, Depends(directory)]
Record = Annotated[dict[str, Any], Depends(record)]
USERS = {"userName": "login", "externalId": "external_id"}
GROUPS = {"displayName": "name", "externalId": "external_id"}
"""What lists are filtered by, and its name here."""


def _base(request: Request) -> str:
    return f"{str(request.base_url).rstrip('/')}{BASE}"


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound("There is nothing with this id.") from error


# What there is


@routes.get(BASE + "/ServiceProviderConfig")
def show_provider(request: Request, caller: Directory) -> Response:
    """Say what can be done."""
    return scim_answer(schemas.provider(_base(request)))


@routes.get(BASE + "/ResourceTypes")
@routes.get(BASE + "/Schemas")
def list_kinds(request: Request, caller: Directory) -> Response:
    """List the kinds of resources, or what they have."""
    items = _kinds(request)
    return scim_answer(messages.list_body(items, len(items)))


@routes.get(BASE + "/ResourceTypes/{kind}")
@routes.get(BASE + "/Schemas/{kind}")
def show_kind(request: Request, caller: Directory, kind: str) -> Response:
    """Show one kind of resources, or what it has."""
    item = next((each for each in _kinds(request) if each["id"].lower() == kind.lower()), None)
    if item is None:
        raise NotFound("There is no such schema or kind of resource.")
    return scim_answer(item)


def _kinds(request: Request) -> list[dict[str, Any]]:
    of_types = "/ResourceTypes" in request.url.path
    return (schemas.resource_types if of_types else schemas.schemas)(_base(request))


# Users


@routes.get(BASE + "/Users")
def list_users(request: Request, caller: Directory, services: Services) -> Response:
    """List people, or who is called so."""
    query = request.query_params
    page, first = messages.page_of(query)
    narrow = messages.filter_of(query, USERS)
    users, total = services.scim_people.users(caller, page, **narrow)
    bodies = [messages.cut(messages.user_body(user, _base(request)), query) for user in users]
    return scim_answer(messages.list_body(bodies, total, first))


@routes.post(BASE + "/Users")
def add_user(request: Request, caller: Directory, services: Services, body: Record) -> Response:
    """Add somebody."""
    return _user(request, services.scim_people.add_user(caller, messages.new_user(body)), 201)


@routes.get(BASE + "/Users/{user_id}")
def show_user(request: Request, caller: Directory, services: Services, user_id: str) -> Response:
    """Show somebody."""
    return _user(request, services.scim_people.user(caller, _id(user_id)))


@routes.put(BASE + "/Users/{user_id}")
def replace_user(
    request: Request, caller: Directory, services: Services, user_id: str, body: Record
) -> Response:
    """Say all of somebody anew."""
    change = messages.new_user(body)
    return _user(request, services.scim_people.change_user(caller, _id(user_id), change))


@routes.patch(BASE + "/Users/{user_id}")
def patch_user(
    request: Request, caller: Directory, services: Services, user_id: str, body: Record
) -> Response:
    """Change some of somebody."""
    change = patches.patched_user(body)
    return _user(request, services.scim_people.change_user(caller, _id(user_id), change))


@routes.delete(BASE + "/Users/{user_id}")
def remove_user(caller: Directory, services: Services, user_id: str) -> Response:
    """Take somebody out."""
    services.scim_people.remove_user(caller, _id(user_id))
    return scim_answer(None, 204)


def _user(request: Request, user: Any, status: int = 200) -> Response:
    body = messages.user_body(user, _base(request))
    location = body["meta"]["location"]
    return scim_answer(messages.cut(body, request.query_params), status, {"location": location})


# Groups


@routes.get(BASE + "/Groups")
def list_groups(request: Request, caller: Directory, services: Services) -> Response:
    """List groups, or the one that is called so."""
    query = request.query_params
    page, first = messages.page_of(query)
    narrow = messages.filter_of(query, GROUPS)
    members = "members" not in query.get("excludedAttributes", "").lower()
    groups, total = services.scim_people.groups(caller, page, members=members, **narrow)
    bodies = [
        messages.cut(messages.group_body(group, people, _base(request)), query)
        for group, people in groups
    ]
    return scim_answer(messages.list_body(bodies, total, first))


@routes.post(BASE + "/Groups")
def add_group(request: Request, caller: Directory, services: Services, body: Record) -> Response:
    """Add a group."""
    new = messages.new_group(body, new=True)
    return _group(request, *services.scim_people.add_group(caller, new), status=201)


@routes.get(BASE + "/Groups/{group_id}")
def show_group(request: Request, caller: Directory, services: Services, group_id: str) -> Response:
    """Show a group with its people."""
    return _group(request, *services.scim_people.group(caller, _id(group_id)))


@routes.put(BASE + "/Groups/{group_id}")
def replace_group(
    request: Request, caller: Directory, services: Services, group_id: str, body: Record
) -> Response:
    """Say all of a group anew, its people with it."""
    change = messages.new_group(body, new=False)
    return _group(request, *services.scim_people.change_group(caller, _id(group_id), change))


@routes.patch(BASE + "/Groups/{group_id}")
def patch_group(
    request: Request, caller: Directory, services: Services, group_id: str, body: Record
) -> Response:
    """Change some of a group."""
    change = patches.patched_group(body)
    return _group(request, *services.scim_people.change_group(caller, _id(group_id), change))


@routes.delete(BASE + "/Groups/{group_id}")
def remove_group(caller: Directory, services: Services, group_id: str) -> Response:
    """Take a group away."""
    services.scim_people.remove_group(caller, _id(group_id))
    return scim_answer(None, 204)


def _group(
    request: Request, group: Any, members: Mapping[UUID, str], *, status: int = 200
) -> Response:
    body = messages.group_body(group, members, _base(request))
    location = body["meta"]["location"]
    return scim_answer(messages.cut(body, request.query_params), status, {"location": location})


@routes.api_route(
    BASE + "/{rest:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], name="scim_nothing"
)
def nothing(caller: Directory, rest: str) -> Response:
    """Say that there is nothing else: no Bulk, no Me, no search by POST."""
    raise NotFound("There is nothing here; this deployment has Users and Groups.")
