"""Tools over a member's contacts: whom they know, and where that is read from."""

from datetime import datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name, Text, at_most
from cairn.api.mcp.tool import WRITERS, Effect, Tool, ToolAnswer
from cairn.api.routes.contacts import MOST_QUERY_CHARS, ContactIn
from cairn.bootstrap.api import ApiServices
from cairn.discovery.contacts.draft import Contact
from cairn.discovery.contacts.keep import ContactView
from cairn.kernel.access import Principal
from cairn.kernel.records import convert

MOST_LISTED = 50


class ContactLine(TypedDict):
    """Somebody the member knows; what is not known is left out."""

    id: UUID
    name: str
    address: NotRequired[str]
    organisation: NotRequired[str]
    title: NotRequired[str]
    met: NotRequired[int]
    standing: str


class ContactList(TypedDict):
    """Contacts."""

    items: list[ContactLine]


class IntegrationLine(TypedDict):
    """Where contacts are read from."""

    id: UUID
    kind: str
    host: str
    people: NotRequired[int]
    problem: NotRequired[str]
    synced_at: NotRequired[datetime]


class IntegrationList(TypedDict):
    """Where contacts are read from."""

    items: list[IntegrationLine]


class SyncDone(TypedDict):
    """What became of the people who were read."""

    added: int
    changed: int
    unchanged: int
    refused_count: int


class ListArguments(Body):
    """Whose, and how many."""

    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20
    client_id: Name | None = None


class SearchArguments(ListArguments):
    """Words of a contact."""

    query: Annotated[Text, at_most(MOST_QUERY_CHARS)]


class IntegrationsArguments(Body):
    """Whose."""

    client_id: Name | None = None


class SyncArguments(Body):
    """Which integration."""

    id: Annotated[UUID, Field(strict=False)]
    client_id: Name | None = None


def _add(services: ApiServices, principal: Principal, arguments: ContactIn) -> ToolAnswer:
    contact = convert(arguments, Contact)
    view = services.contacts.add(
        principal, contact, member_id=arguments.member_id, client_id=arguments.client_id
    )
    return ToolAnswer(text=f"Known: {_line(view)}", structured=_shown(view))


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    views = services.contacts.page(
        principal, before=None, limit=arguments.limit, client_id=arguments.client_id
    )
    return _answer(views)


def _search(services: ApiServices, principal: Principal, arguments: SearchArguments) -> ToolAnswer:
    views = services.contacts.search(
        principal, arguments.query, limit=arguments.limit, client_id=arguments.client_id
    )
    return _answer(views)


def _integrations(
    services: ApiServices, principal: Principal, arguments: IntegrationsArguments
) -> ToolAnswer:
    views = services.integrations.all(principal, client_id=arguments.client_id)
    names = ("id", "kind", "host", "people", "problem", "synced_at")
    items = [{name: getattr(view, name) for name in names} for view in views]
    lines = [f"{view.id} {view.kind} of {view.host}" for view in views]
    return ToolAnswer(
        text="\n".join(lines) or "There is no integration.", structured={"items": items}
    )


def _sync(services: ApiServices, principal: Principal, arguments: SyncArguments) -> ToolAnswer:
    done = services.integrations.sync(principal, arguments.id, client_id=arguments.client_id)
    counts = {
        name: getattr(done, name) for name in ("added", "changed", "unchanged", "refused_count")
    }
    return ToolAnswer(
        text=f"{done.added} added, {done.changed} changed, {done.unchanged} known before.",
        structured=counts,
    )


def _answer(views: Any) -> ToolAnswer:
    text = "\n".join(_line(view) for view in views) or "There is no contact."
    return ToolAnswer(text=text, structured={"items": [_shown(view) for view in views]})


def _line(view: ContactView) -> str:
    parts = [view.name, view.address, view.title, view.organisation]
    return ", ".join(part for part in parts if part)


def _shown(view: ContactView) -> dict[str, Any]:
    names = ("id", "name", "address", "organisation", "title")
    shown = {name: getattr(view, name) for name in names}
    return {**shown, "met": view.met or None, "standing": view.standing.value}


ADD = Tool(
    name="contact_add",
    title="Add a contact",
    description="Write down whom the member knows; only they see it.",
    arguments=ContactIn,
    parameters={
        "name": "Their name",
        "address": "Mail; known again by it",
        "organisation": "Where they work",
        "note": "What else to keep of them",
    },
    result=ContactLine,
    call=_add,
    aliases=("add_contact",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
LIST = Tool(
    name="contact_list",
    title="List contacts",
    description="Whom the member knows, the newest first.",
    arguments=ListArguments,
    parameters={"limit": "How many"},
    result=ContactList,
    call=_list,
    aliases=("list_contacts",),
    roles=WRITERS,
    of_a_client=True,
)
SEARCH = Tool(
    name="contact_search",
    title="Search contacts",
    description="Find whom the member knows by name, address, organisation, title or note.",
    arguments=SearchArguments,
    parameters={"query": "Words they have, or begin with", "limit": "How many"},
    result=ContactList,
    call=_search,
    aliases=("search_contacts",),
    roles=WRITERS,
    of_a_client=True,
)
INTEGRATIONS = Tool(
    name="integration_list",
    title="List integrations",
    description="Where the member's contacts are read from, and how it went.",
    arguments=IntegrationsArguments,
    parameters={},
    result=IntegrationList,
    call=_integrations,
    aliases=("list_integrations",),
    roles=WRITERS,
    of_a_client=True,
)
SYNC = Tool(
    name="integration_sync",
    title="Read an integration now",
    description="Read the people the member met from a calendar; nothing is written there.",
    arguments=SyncArguments,
    parameters={"id": "As integration_list gave it"},
    result=SyncDone,
    call=_sync,
    aliases=("sync_integration",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
