"""A tool over what is known of a client. Not the tools that change it, which are a memory's."""

from typing_extensions import TypedDict

from cairn.api.dependencies import require_client
from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import WRITERS, Tool, ToolAnswer
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.profiles.derive import Pattern, Profile
from cairn.profiles.read import About

SHOWN = 10
"""Of each part, the first."""


class KnownLine(TypedDict):
    """One thing that is known, and the newest memory or event that says so."""

    part: str
    text: str
    id: str


class ProfileView(TypedDict):
    """What is known of a client, part by part."""

    items: list[KnownLine]


class ProfileArguments(Body):
    """Whose profile, and which parts of it."""

    client_id: Name | None = None
    about: About | None = None


def _read(services: ApiServices, principal: Principal, arguments: ProfileArguments) -> ToolAnswer:
    require_client(services, principal, arguments.client_id)
    items = _lines(services.profile(principal, arguments.client_id, about=arguments.about))
    text = "\n".join(f"{each['part']}: {each['text']} (id: {each['id']})" for each in items)
    return ToolAnswer(text=text or "Nothing is known of this client.", structured={"items": items})


def _lines(profile: Profile) -> list[KnownLine]:
    stated = (
        ("fact", profile.facts),
        ("preference", profile.preferences),
        ("skill", profile.skills),
    )
    lines = [
        KnownLine(part=part, text=each.text, id=str(each.id))
        for part, statements in stated
        for each in statements[:SHOWN]
    ]
    lines += [
        KnownLine(part="interest", text=each.name, id=str(each.evidence[0]))
        for each in profile.interests[:SHOWN]
    ]
    lines += [
        KnownLine(part="pattern", text=_done(each), id=str(each.evidence[0]))
        for each in profile.patterns[:SHOWN]
    ]
    return lines


def _done(pattern: Pattern) -> str:
    action = " ".join(filter(None, (pattern.type, pattern.tool_name)))
    return pattern.text or f"{action}, {pattern.times} times"


READ = Tool(
    name="profile_read",
    title="Read a client's profile",
    description=(
        "What is known of one end user: facts, preferences, skills, interests, habits. For an "
        "answer that suits them."
    ),
    arguments=ProfileArguments,
    parameters={
        "client_id": "Whose; null with a key of one client",
        "about": "Some parts only; null for all",
    },
    result=ProfileView,
    call=_read,
    roles=WRITERS,
    of_a_client=True,
)
