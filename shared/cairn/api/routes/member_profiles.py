"""A member's own profile, and the premises that they state of themselves."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Idempotency, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, Text, Timestamp, at_most, examples
from cairn.api.routing import router
from cairn.discovery.intents.profile import (
    MOST_ATTRIBUTE_CHARS,
    MOST_ATTRIBUTES,
    MOST_BIO_CHARS,
    MOST_NAME_CHARS,
    MOST_TEXT_CHARS,
    ProfileText,
)
from cairn.discovery.intents.profiles import MOST_DOCUMENTS, MOST_LINKS, ProfileSources
from cairn.discovery.intents.views import PremiseView, ProfileView
from cairn.discovery.networks.acting import acting

routes = router("discovery")

PremiseId = Annotated[UUID, Path(description="The premise's id.")]
AsOf = Annotated[Timestamp | None, Query(description="As it was at this moment.")]
Short = Annotated[str, at_most(MOST_NAME_CHARS)]
Attributes = Annotated[
    list[Annotated[Text, at_most(MOST_ATTRIBUTE_CHARS)]], Field(max_length=MOST_ATTRIBUTES)
]
SelfDescription = Annotated[Text, at_most(20_000)]
PARTS = ("name", "bio", "location", "context", "skills", "interests")


class MemberProfileIn(Body):
    """A whole profile: who somebody is, their story, what they can do and care for."""

    model_config = examples(
        {"name": "Ines Prado", "location": "Porto", "skills": ["bread baking", "bookkeeping"]}
    )

    name: Short = ""
    bio: Annotated[str, at_most(MOST_BIO_CHARS)] = ""
    location: Short = ""
    context: Annotated[str, at_most(MOST_TEXT_CHARS)] = ""
    skills: Attributes = Field(default_factory=list[str])
    interests: Attributes = Field(default_factory=list[str])
    client_id: Name | None = None


class MemberProfileChangeIn(Body):
    """Parts of a profile, and a text that says more of it; what is left out stays."""

    text: SelfDescription | None = None
    name: Short | None = None
    bio: Annotated[str, at_most(MOST_BIO_CHARS)] | None = None
    location: Short | None = None
    context: Annotated[str, at_most(MOST_TEXT_CHARS)] | None = None
    skills: Attributes | None = None
    interests: Attributes | None = None
    client_id: Name | None = None


class MemberProfileSourcesIn(Body):
    """What a profile is made from; `memories` allows the member's own to be read."""

    text: SelfDescription | None = None
    document_ids: Annotated[
        list[Annotated[UUID, Field(strict=False)]], Field(max_length=MOST_DOCUMENTS)
    ] = Field(default_factory=list[UUID])
    links: Annotated[list[Annotated[Text, at_most(2_000)]], Field(max_length=MOST_LINKS)] = Field(
        default_factory=list[str]
    )
    memories: bool = False
    force: bool = False
    client_id: Name | None = None


class PremisesIn(Body):
    """A self-description; each statement of it becomes a premise."""

    text: SelfDescription
    expires_at: Timestamp | None = None
    client_id: Name | None = None


class PremiseRetracted(TypedDict):
    """The premise that no longer holds."""

    id: UUID


@routes.get(
    "/v1/profiles/me",
    summary="Show a member's own profile",
    response_model=None,
    responses={**answers(200, "The profile, at once", ProfileView), **problems()},
)
def get_member_profile(
    caller: ClientWriter, services: Services, client_id: ClientGiven, as_of: AsOf = None
) -> Response:
    """Show the profile as shared networks show it or showed it, and which parts are missing."""
    return answer(services.member_profiles.read(acting(caller, client_id), as_of=as_of))


@routes.put(
    "/v1/profiles/me",
    summary="Write a member's profile",
    response_model=None,
    responses={
        **answers(200, "The profile as it is now", ProfileView),
        **problems("conflict", body=True),
    },
)
def replace_member_profile(
    body: MemberProfileIn, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Write the whole profile; what is left out is empty then."""
    profile = ProfileText(**parts_of(body))
    done = services.member_profiles.replace(
        acting(caller, body.client_id), profile, idempotency=idempotency
    )
    return answer(done)


@routes.patch(
    "/v1/profiles/me",
    summary="Change a member's profile",
    response_model=None,
    responses={
        **answers(200, "The profile as it is now", ProfileView),
        **problems("conflict", body=True),
    },
)
def update_member_profile(
    body: MemberProfileChangeIn, caller: ClientWriter, services: Services
) -> Response:
    """Merge parts and a text into the profile; a mere confirmation says nothing."""
    member = acting(caller, body.client_id)
    return answer(services.member_profiles.merge(member, parts_of(body), body.text))


@routes.post(
    "/v1/profiles/me/generate",
    summary="Make a member's profile from sources",
    response_model=None,
    responses={
        **answers(200, "The profile as it is now", ProfileView),
        **problems("conflict", body=True),
    },
)
def generate_member_profile(
    body: MemberProfileSourcesIn, caller: ClientWriter, services: Services
) -> Response:
    """Make the missing parts from a text, documents, links or memories; `force` merges all."""
    member = acting(caller, body.client_id)
    return answer(services.member_profiles.generate(member, sources_of(body)))


@routes.get(
    "/v1/profiles/me/premises",
    summary="List what a member says of themselves",
    response_model=None,
    responses={**answers(200, "The oldest first", ListOf[PremiseView]), **problems()},
)
def list_premises(
    caller: ClientWriter, services: Services, client_id: ClientGiven, as_of: AsOf = None
) -> Response:
    """List premises; nobody else is shown them."""
    premises = services.member_profiles.premises(acting(caller, client_id), as_of=as_of)
    return answer({"items": premises})


@routes.post(
    "/v1/profiles/me/premises",
    summary="State premises",
    response_model=None,
    responses={
        **answers(200, "Those that stand now", ListOf[PremiseView]),
        **problems("conflict", body=True),
    },
)
def add_premises(body: PremisesIn, caller: ClientWriter, services: Services) -> Response:
    """Keep each statement of a self-description by itself, for good or until a moment."""
    member = acting(caller, body.client_id)
    items = services.member_profiles.add_premises(member, body.text, expires_at=body.expires_at)
    return answer({"items": items})


@routes.delete(
    "/v1/profiles/me/premises/{premise_id}",
    summary="Retract a premise",
    response_model=None,
    responses={**answers(200, "It no longer holds", PremiseRetracted), **problems("not-found")},
)
def retract_premise(
    premise_id: PremiseId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """Take back a premise; the profile no longer says so in its words either."""
    services.member_profiles.retract(acting(caller, client_id), premise_id)
    return answer({"id": premise_id})


def parts_of(body: MemberProfileIn | MemberProfileChangeIn) -> dict[str, Any]:
    """Return the parts of a profile that a body names; lists as the use case takes them."""
    parts = {name: getattr(body, name) for name in PARTS}
    lists = {name: tuple[str, ...](parts[name]) for name in PARTS[-2:] if parts[name] is not None}
    return {name: part for name, part in parts.items() if part is not None} | lists


def sources_of(body: MemberProfileSourcesIn) -> ProfileSources:
    """Return the sources that a body names."""
    return ProfileSources(
        text=body.text,
        document_ids=tuple(body.document_ids),
        links=tuple(body.links),
        memories=body.memories,
        force=body.force,
    )
