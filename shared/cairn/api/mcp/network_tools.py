"""Tools over networks: list, make, change, remove, join, leave, who is in them, invite."""

from datetime import datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name, Text, at_most
from cairn.api.mcp.tool import WRITERS, Effect, Tool, ToolAnswer
from cairn.bootstrap.api import ApiServices
from cairn.discovery.networks.deeds import MOST_NAME_CHARS, MOST_PROMPT_CHARS
from cairn.discovery.networks.invites import MOST_DAYS
from cairn.discovery.networks.manage import NetworkChanges, NetworkView, NewNetwork
from cairn.discovery.networks.rows import JoinPolicy
from cairn.kernel.access import Principal
from cairn.kernel.records import convert

MOST_SHOWN = 50
TEXT_CHARS = 300
Id = Annotated[UUID, Field(strict=False)]
Prompt = Annotated[str, at_most(MOST_PROMPT_CHARS)]
Policy = Annotated[JoinPolicy, Field(strict=False)]
_FOR = {"client_id": "The member"}


class NetworkLine(TypedDict):
    """A network; `role` when the member is in it."""

    id: UUID
    name: str
    prompt: NotRequired[str]
    join_policy: str
    role: NotRequired[str]
    members: int


class NetworkNow(TypedDict):
    """The network as it is now."""

    id: UUID
    name: str
    members: int


class NetworkLines(TypedDict):
    """Networks, the newest first."""

    items: list[NetworkLine]


class MemberLine(TypedDict):
    """Somebody in a network, as they describe themselves."""

    id: UUID
    role: str
    name: NotRequired[str]
    text: NotRequired[str]


class MemberLines(TypedDict):
    """Who is in a network."""

    items: list[MemberLine]


class NetworkGone(TypedDict):
    """The network that is gone, or that was left."""

    id: UUID


class Invited(TypedDict):
    """An invite; the token is shown this once."""

    id: UUID
    token: str
    text: str
    by: str
    expires_at: datetime


class ListArguments(Body):
    """Whose networks."""

    joined: bool = False
    client_id: Name | None = None


class CreateArguments(Body):
    """What a network is to be."""

    name: Annotated[Text, at_most(MOST_NAME_CHARS)]
    prompt: Prompt = ""
    join_policy: Policy = JoinPolicy.INVITE_ONLY
    client_id: Name | None = None


class UpdateArguments(Body):
    """What is to be otherwise."""

    id: Id
    name: Annotated[Text, at_most(MOST_NAME_CHARS)] | None = None
    prompt: Prompt | None = None
    join_policy: Policy | None = None
    client_id: Name | None = None


class OneArguments(Body):
    """Which network."""

    id: Id
    client_id: Name | None = None


class JoinArguments(Body):
    """Which network, or by which invite."""

    id: Id | None = None
    token: Annotated[str, Field(max_length=200)] = ""
    prompt: Prompt = ""
    client_id: Name | None = None


class InviteArguments(Body):
    """To which network, for how long."""

    id: Id
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = 7
    client_id: Name | None = None


def _line(network: NetworkView) -> dict[str, Any]:
    return {
        "id": network.id,
        "name": network.name,
        "prompt": network.prompt[:TEXT_CHARS],
        "join_policy": network.join_policy.value,
        "role": network.role.value if network.role else None,
        "members": network.members,
    }


def _shown(network: NetworkView) -> ToolAnswer:
    text = f"{network.name} ({network.id}): {network.role or 'not in it'}, {network.members} in it"
    structured = {"id": network.id, "name": network.name, "members": network.members}
    return ToolAnswer(text=text, structured=structured)


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    networks = services.networks.page(
        principal, client_id=arguments.client_id, joined=arguments.joined, limit=MOST_SHOWN
    )
    lines = [f"{each.name} ({each.id}) {each.role or ''}".strip() for each in networks]
    items = [_line(each) for each in networks]
    return ToolAnswer(text="\n".join(lines) or "None.", structured={"items": items})


def _create(services: ApiServices, principal: Principal, arguments: CreateArguments) -> ToolAnswer:
    new = convert(arguments, NewNetwork)
    return _shown(services.networks.make(principal, new, client_id=arguments.client_id))


def _update(services: ApiServices, principal: Principal, arguments: UpdateArguments) -> ToolAnswer:
    changes = convert(arguments, NetworkChanges)
    client_id = arguments.client_id
    return _shown(services.networks.update(principal, arguments.id, changes, client_id=client_id))


def _delete(services: ApiServices, principal: Principal, arguments: OneArguments) -> ToolAnswer:
    services.networks.remove(principal, arguments.id, client_id=arguments.client_id)
    return ToolAnswer(text="It is gone.", structured={"id": arguments.id})


def _join(services: ApiServices, principal: Principal, arguments: JoinArguments) -> ToolAnswer:
    client_id, prompt = arguments.client_id, arguments.prompt
    if arguments.id is not None and not arguments.token:
        join = services.places.join
        return _shown(join(principal, arguments.id, client_id=client_id, prompt=prompt))
    by_invite, token = services.places.join_by_invite, arguments.token
    return _shown(by_invite(principal, token, client_id=client_id, prompt=prompt))


def _leave(services: ApiServices, principal: Principal, arguments: OneArguments) -> ToolAnswer:
    services.places.leave(principal, arguments.id, client_id=arguments.client_id)
    return ToolAnswer(text="Left.", structured={"id": arguments.id})


def _members(services: ApiServices, principal: Principal, arguments: OneArguments) -> ToolAnswer:
    rows = services.show_members.of_network(
        principal, arguments.id, client_id=arguments.client_id, limit=MOST_SHOWN
    )
    items = [
        {
            "id": each.id,
            "role": each.role.value,
            "name": each.profile.name,
            "text": (each.profile.text or "")[:TEXT_CHARS],
        }
        for each in rows
    ]
    lines = [f"{each['name'] or each['id']}: {each['role']}" for each in items]
    return ToolAnswer(text="\n".join(lines) or "Nobody.", structured={"items": items})


def _invite(services: ApiServices, principal: Principal, arguments: InviteArguments) -> ToolAnswer:
    invite = services.invites.make(
        principal, arguments.id, client_id=arguments.client_id, days=arguments.days
    )
    names = ("id", "token", "text", "by", "expires_at")
    structured = {name: getattr(invite, name) for name in names}
    return ToolAnswer(text=f"{invite.text}\nToken: {invite.token}", structured=structured)


_ID = {"id": "As network_list gave it"}
LIST = Tool(
    name="network_list",
    title="List networks",
    description="Networks a member is in, and those that anyone may join.",
    arguments=ListArguments,
    parameters={"joined": "Only those they are in", **_FOR},
    result=NetworkLines,
    call=_list,
    aliases=("read_indexes",),
    roles=WRITERS,
    of_a_client=True,
)
CREATE = Tool(
    name="network_create",
    title="Make a network",
    description="Make a network and be its owner. The prompt says what belongs there.",
    arguments=CreateArguments,
    parameters={
        "name": "Its name",
        "prompt": "What belongs there",
        "join_policy": "Who may join",
        **_FOR,
    },
    result=NetworkNow,
    call=_create,
    aliases=("create_index",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
    of_a_client=True,
)
UPDATE = Tool(
    name="network_update",
    title="Change a network",
    description="Change a network one owns. Ask the person first.",
    arguments=UpdateArguments,
    parameters={
        **_ID,
        "name": "Its name",
        "prompt": "What belongs there",
        "join_policy": "Who may join",
        **_FOR,
    },
    result=NetworkNow,
    call=_update,
    aliases=("update_index",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
DELETE = Tool(
    name="network_delete",
    title="Remove a network",
    description="Remove a network one owns and is alone in. Ask the person first.",
    arguments=OneArguments,
    parameters={**_ID, **_FOR},
    result=NetworkGone,
    call=_delete,
    aliases=("delete_index",),
    roles=WRITERS,
    effect=Effect.DELETE,
    of_a_client=True,
)
JOIN = Tool(
    name="network_join",
    title="Join a network",
    description="Join an open network by its id, another one by an invite.",
    arguments=JoinArguments,
    parameters={
        **_ID,
        "token": "Of an invite",
        "prompt": "What of theirs belongs there",
        **_FOR,
    },
    result=NetworkNow,
    call=_join,
    aliases=("create_index_membership",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
LEAVE = Tool(
    name="network_leave",
    title="Leave a network",
    description="Be in a network no longer; what one had there is shown there no more.",
    arguments=OneArguments,
    parameters={**_ID, **_FOR},
    result=NetworkGone,
    call=_leave,
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
MEMBERS = Tool(
    name="network_members",
    title="List who is in a network",
    description="Who is in a network one is in, as they describe themselves.",
    arguments=OneArguments,
    parameters={**_ID, **_FOR},
    result=MemberLines,
    call=_members,
    aliases=("read_users",),
    roles=WRITERS,
    of_a_client=True,
)
INVITE = Tool(
    name="network_invite",
    title="Invite somebody to a network",
    description="A token that lets one person in, once, and a text to send with it.",
    arguments=InviteArguments,
    parameters={**_ID, "days": "How long it lasts: 1 to 30", **_FOR},
    result=Invited,
    call=_invite,
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
    of_a_client=True,
)
EVERY = (LIST, CREATE, UPDATE, DELETE, JOIN, LEAVE, MEMBERS, INVITE)
