"""Networks: what they are, who is in them, and the invites that let somebody in."""

from datetime import datetime
from functools import partial
from typing import Annotated, Any, TypeAlias
from uuid import UUID

from fastapi import Path, Query, Request, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Idempotency, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, Timestamp, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.discovery.networks.deeds import MOST_NAME_CHARS, MOST_PROMPT_CHARS
from cairn.discovery.networks.invites import MOST_DAYS
from cairn.discovery.networks.manage import NetworkChanges, NetworkView, NewNetwork
from cairn.discovery.networks.rows import InviteRow, JoinPolicy
from cairn.discovery.networks.showing import InNetwork
from cairn.kernel.records import convert

routes = router("networks")
_ONE = "/v1/networks/{network_id}"

NetworkId = Annotated[UUID, Path(description="The network's id.")]
Prompt: TypeAlias = Annotated[str, at_most(MOST_PROMPT_CHARS)]
NetworkName: TypeAlias = Annotated[Text, at_most(MOST_NAME_CHARS)]
Moment = Annotated[
    Timestamp | None, Query(alias="as_of", description="As it was at this time; now without one.")
]


class NetworkIn(Body):
    """A new network."""

    model_config = examples(
        {
            "name": "Quayside",
            "prompt": "People who build, mend and sail boats along the northern coasts.",
            "join_policy": "anyone",
        }
    )

    name: NetworkName
    prompt: Prompt = ""
    join_policy: Annotated[JoinPolicy, Field(strict=False)] = JoinPolicy.INVITE_ONLY
    client_id: Name | None = None


class NetworkChangesIn(Body):
    """What of a network is to be otherwise; what is left out stays."""

    model_config = examples({"prompt": "People who build and mend boats."})

    name: NetworkName | None = None
    prompt: Prompt | None = None
    join_policy: Annotated[JoinPolicy | None, Field(strict=False)] = None
    client_id: Name | None = None


class JoinIn(Body):
    """Who joins, and what of theirs belongs there."""

    model_config = examples({"prompt": "Only what concerns wooden boats."})

    prompt: Prompt = ""
    client_id: Name | None = None


class JoinByInviteIn(Body):
    """Who joins by which invite."""

    model_config = examples({"token": "the part of the link behind the #"})

    token: Annotated[str, Field(max_length=200)]
    prompt: Prompt = ""
    client_id: Name | None = None


class MemberPromptIn(Body):
    """What of a member's belongs to a network; empty: what belongs to the network."""

    model_config = examples({"prompt": "Only what concerns wooden boats."})

    prompt: Prompt
    client_id: Name | None = None


class LeaveIn(Body):
    """Who leaves."""

    model_config = examples({})

    client_id: Name | None = None


class InviteIn(Body):
    """For how many days an invite lets somebody in."""

    model_config = examples({"days": 7})

    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 7
    client_id: Name | None = None


class InviteMade(TypedDict):
    """A new invite. The link holds its token and is shown this once."""

    id: UUID
    network_id: UUID
    token: str
    link: str
    text: str
    by: str
    expires_at: datetime


class NetworkLeft(TypedDict):
    """The network that somebody is in no longer, or that is gone."""

    id: UUID


@routes.post(
    "/v1/networks",
    summary="Make a network",
    status_code=201,
    response_model=None,
    responses={**answers(201, "It is there", NetworkView), **problems("conflict", body=True)},
)
def create_network(
    body: NetworkIn, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Make a network and be in it as its owner; of an admin for nobody it is the workspace's."""
    made_of = convert(body, NewNetwork)
    network = services.networks.make(
        caller, made_of, client_id=body.client_id, idempotency=idempotency
    )
    return answer(network, status=201)


@routes.get(
    "/v1/networks",
    summary="List networks",
    response_model=None,
    responses={**answers(200, "Networks, the newest first", PageOf[NetworkView]), **problems()},
)
def list_networks(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    joined: Annotated[bool, Query(description="Only those that the member is in.")] = False,
    moment: Moment = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List networks that one is in, and those that anyone may join; or which one was in then."""
    pages = partial(
        services.networks.page, caller, client_id=client_id, joined=joined, as_of=moment
    )
    return newest_answer(
        pages,
        limit=limit,
        cursor=cursor,
        key="created_at",
        route="networks",
        filters={"client_id": client_id, "joined": joined, "as_of": moment},
        options=options,
    )


@routes.post(
    "/v1/networks/join",
    summary="Join a network by an invite",
    response_model=None,
    responses={
        **answers(200, "The network", NetworkView),
        **problems("not-found", "conflict", body=True),
    },
)
def join_by_invite(body: JoinByInviteIn, caller: ClientWriter, services: Services) -> Response:
    """Join by the token of an invite, which lets nobody else in then."""
    joined = services.places.join_by_invite(
        caller, body.token, client_id=body.client_id, prompt=body.prompt
    )
    return answer(joined)


@routes.get(
    _ONE,
    summary="Show a network",
    response_model=None,
    responses={**answers(200, "The network", NetworkView), **problems("not-found")},
)
def get_network(
    network_id: NetworkId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """Show a network that one is in, or that anyone may join."""
    return answer(services.networks.get(caller, network_id, client_id=client_id))


@routes.patch(
    _ONE,
    summary="Change a network",
    response_model=None,
    responses={
        **answers(200, "The network as it is now", NetworkView),
        **problems("not-found", "conflict", body=True),
    },
)
def update_network(
    network_id: NetworkId, body: NetworkChangesIn, caller: ClientWriter, services: Services
) -> Response:
    """Change a network as its owner; with another prompt what is in it is judged anew."""
    changes = convert(body, NetworkChanges)
    return answer(services.networks.update(caller, network_id, changes, client_id=body.client_id))


@routes.delete(
    _ONE,
    summary="Remove a network",
    response_model=None,
    responses={**answers(200, "It is gone", NetworkLeft), **problems("not-found", "conflict")},
)
def remove_network(
    network_id: NetworkId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """Remove a network as its owner, once nobody else is in it."""
    services.networks.remove(caller, network_id, client_id=client_id)
    return answer({"id": network_id})


@routes.post(
    f"{_ONE}/join",
    summary="Join a network",
    response_model=None,
    responses={**answers(200, "The network", NetworkView), **problems("not-found", body=True)},
)
def join_network(
    network_id: NetworkId, body: JoinIn, caller: ClientWriter, services: Services
) -> Response:
    """Join a network that anyone may join; one's intents are judged for it."""
    joined = services.places.join(caller, network_id, client_id=body.client_id, prompt=body.prompt)
    return answer(joined)


@routes.post(
    f"{_ONE}/leave",
    summary="Leave a network",
    response_model=None,
    responses={
        **answers(200, "One is in it no longer", NetworkLeft),
        **problems("not-found", "conflict", body=True),
    },
)
def leave_network(
    network_id: NetworkId, body: LeaveIn, caller: ClientWriter, services: Services
) -> Response:
    """Leave a network; what one had there is shown there no more."""
    services.places.leave(caller, network_id, client_id=body.client_id)
    return answer({"id": network_id})


@routes.put(
    f"{_ONE}/prompt",
    summary="Say what of a member's belongs to a network",
    response_model=None,
    responses={**answers(200, "The network", NetworkView), **problems("not-found", body=True)},
)
def set_member_prompt(
    network_id: NetworkId, body: MemberPromptIn, caller: ClientWriter, services: Services
) -> Response:
    """Say what of one's own is to be there; one's intents are judged anew for it."""
    shown = services.places.set_prompt(caller, network_id, body.prompt, client_id=body.client_id)
    return answer(shown)


@routes.get(
    f"{_ONE}/members",
    summary="List who is in a network",
    response_model=None,
    responses={**answers(200, "Members", PageOf[InNetwork]), **problems("not-found")},
)
def list_network_members(
    network_id: NetworkId,
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    moment: Moment = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List who is in a network that one is in, as they describe themselves."""
    pages = partial(
        services.show_members.of_network, caller, network_id, client_id=client_id, as_of=moment
    )
    return newest_answer(
        pages,
        limit=limit,
        cursor=cursor,
        key="joined_at",
        route="network-members",
        filters={"network_id": network_id, "client_id": client_id, "as_of": moment},
        options=options,
    )


@routes.delete(
    f"{_ONE}/members/{{member_id}}",
    summary="Let somebody be in a network no longer",
    response_model=None,
    responses={
        **answers(200, "They are in it no longer", NetworkLeft),
        **problems("not-found", "conflict"),
    },
)
def remove_network_member(
    network_id: NetworkId,
    member_id: Annotated[UUID, Path(description="The member's id.")],
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
) -> Response:
    """Let somebody go as the owner; what they had there is shown there no more."""
    services.places.let_go(caller, network_id, member_id, client_id=client_id)
    return answer({"id": network_id})


@routes.post(
    f"{_ONE}/invites",
    summary="Invite somebody to a network",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The invite, whose link is shown this once", InviteMade),
        **problems("not-found", "conflict", body=True),
    },
)
def create_invite(
    network_id: NetworkId,
    body: InviteIn,
    request: Request,
    caller: ClientWriter,
    services: Services,
) -> Response:
    """Make a link that lets one person in, once; the owner, or anybody in an open network."""
    invite = services.invites.make(caller, network_id, client_id=body.client_id, days=body.days)
    shown: dict[str, Any] = {
        name: getattr(invite, name)
        for name in ("id", "network_id", "token", "text", "by", "expires_at")
    }
    link = f"{request.base_url}v1/networks/join#{invite.token}"
    return answer({**shown, "link": link}, status=201)


@routes.get(
    f"{_ONE}/invites",
    summary="List invites to a network",
    response_model=None,
    responses={
        **answers(200, "Invites, the newest first", PageOf[InviteRow]),
        **problems("not-found"),
    },
)
def list_invites(
    network_id: NetworkId,
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List invites: an owner all, another member those they made. Tokens are in no list."""
    return newest_answer(
        partial(services.invites.page, caller, network_id, client_id=client_id),
        limit=limit,
        cursor=cursor,
        key="created_at",
        route="network-invites",
        filters={"network_id": network_id, "client_id": client_id},
        options=options,
    )


@routes.delete(
    f"{_ONE}/invites/{{invite_id}}",
    summary="Withdraw an invite",
    response_model=None,
    responses={**answers(200, "It lets nobody in", NetworkLeft), **problems("not-found")},
)
def revoke_invite(
    network_id: NetworkId,
    invite_id: Annotated[UUID, Path(description="The invite's id.")],
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
) -> Response:
    """Withdraw an invite that was not used."""
    services.invites.revoke(caller, network_id, invite_id, client_id=client_id)
    return answer({"id": invite_id})
