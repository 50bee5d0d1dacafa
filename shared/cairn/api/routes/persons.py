"""People who sign in to the console: listing, adding, changing, removing them, and their links."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.accounts.people import PersonLink, PersonView, SignedOut
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, examples
from cairn.api.routing import router
from cairn.kernel.access import PersonRole

routes = router("people")

PersonId = Annotated[UUID, Path(description="The person's id.")]
LINK_PATH = "/console/link?token="


class LinkMade(TypedDict):
    """A link that signs somebody in once, as a path of this deployment; it is shown this once."""

    person: PersonView
    path: str
    expires_at: datetime


class PersonIn(Body):
    """Somebody who may sign in from now on."""

    model_config = examples({"login": "ada@example.org", "name": "Ada", "role": "operator"})

    login: Annotated[str, Field(min_length=1, max_length=254)]
    name: Name
    role: Annotated[PersonRole, Field(strict=False)]


class TieIn(Body):
    """The member of networks that somebody is, by its client."""

    model_config = examples({"client_id": "ines"})

    client_id: Name


class PersonChangeIn(Body):
    """What is to change; `disabled` true ends their sessions, false lets them sign in again."""

    role: Annotated[PersonRole, Field(strict=False)] | None = None
    disabled: bool | None = None


def _link(link: PersonLink, status: int) -> Response:
    shown = {
        "person": link.person,
        "path": LINK_PATH + link.token,
        "expires_at": link.expires_at,
    }
    return answer(shown, status=status)


@routes.get(
    "/v1/people",
    summary="List who signs in",
    response_model=None,
    responses={**answers(200, "Everybody, by login", ListOf[PersonView]), **problems()},
)
def list_people(caller: Admin, services: Services) -> Response:
    """List the people of the workspace who may sign in to the console, disabled ones too."""
    return answer({"items": services.people.all(caller)})


@routes.post(
    "/v1/people",
    summary="Let somebody sign in",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The person, with a link that signs them in once", LinkMade),
        **problems("conflict", body=True),
    },
)
def add_person(body: PersonIn, caller: Admin, services: Services) -> Response:
    """Add a person. Give them the link: it is good once, for 15 minutes."""
    link = services.people.add(caller, login=body.login, name=body.name, role=body.role)
    return _link(link, 201)


@routes.post(
    "/v1/people/{person_id}/link",
    summary="Make a link that signs somebody in once",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The link, in the place of the one before", LinkMade),
        **problems("not-found", "conflict"),
    },
)
def link_person(person_id: PersonId, caller: Admin, services: Services) -> Response:
    """Make a new link for somebody who lost password or session; it is good for 15 minutes."""
    return _link(services.people.link(caller, person_id), 201)


@routes.post(
    "/v1/people/{person_id}/sign-out",
    summary="Sign somebody out everywhere",
    response_model=None,
    responses={
        **answers(200, "How many sessions are over", SignedOut),
        **problems("not-found"),
    },
)
def sign_person_out(person_id: PersonId, caller: Admin, services: Services) -> Response:
    """End every session of a person, and the link they may have; they may sign in again."""
    return answer(services.people.sign_out(caller, person_id))


@routes.patch(
    "/v1/people/{person_id}",
    summary="Change what somebody may do",
    response_model=None,
    responses={
        **answers(200, "The person as they are now", PersonView),
        **problems("not-found", "conflict", body=True),
    },
)
def change_person(
    person_id: PersonId, body: PersonChangeIn, caller: Admin, services: Services
) -> Response:
    """Change a role, or whether somebody may sign in. The last owner stays one."""
    return answer(services.people.change(caller, person_id, role=body.role, disabled=body.disabled))


@routes.delete(
    "/v1/people/{person_id}",
    summary="Remove somebody who signs in",
    response_model=None,
    responses={
        **answers(200, "They are gone", PersonView),
        **problems("not-found", "conflict"),
    },
)
def remove_person(person_id: PersonId, caller: Admin, services: Services) -> Response:
    """Remove a person with their login, name, password and sessions. The last owner stays."""
    return answer(services.people.remove(caller, person_id))


@routes.put(
    "/v1/people/{person_id}/member",
    summary="Say which member somebody is",
    response_model=None,
    responses={
        **answers(200, "The person as they are now", PersonView),
        **problems("not-found", "conflict", body=True),
    },
)
def tie_person(person_id: PersonId, body: TieIn, caller: Admin, services: Services) -> Response:
    """Tie a person to a member of networks: in the console they see and do what it may."""
    return answer(services.people.tie(caller, person_id, client_id=body.client_id))


@routes.delete(
    "/v1/people/{person_id}/member",
    summary="Let somebody be no member",
    response_model=None,
    responses={
        **answers(200, "The person as they are now", PersonView),
        **problems("not-found"),
    },
)
def untie_person(person_id: PersonId, caller: Admin, services: Services) -> Response:
    """Untie a person from their member, which stays as it is."""
    return answer(services.people.untie(caller, person_id))
