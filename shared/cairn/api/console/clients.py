"""The page of a client: what is known of them, from what, and where the rest of it is.

A profile is derived when it is asked for and kept nowhere; a line is corrected at its memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.cited import page_of
from cairn.api.console.forms import Form, refused_deed
from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.conversations.read import ConversationFilter
from cairn.kernel.errors import ValidationFailed
from cairn.profiles.read import About
from cairn.reading.views import MemoryFilter
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.api.console.guard import Visitor
    from cairn.profiles.derive import Profile

CLIENTS = "/console/clients"
LOOKED_AT, TALKS = 100, 5
"""The newest memories, and conversations, that clients are named of; a client's conversations."""

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(CLIENTS)
def show_clients(
    request: Request, visitor: Reader, client: str = "", about: str = "all"
) -> Response:
    """Show what is known of a client; without a name, who was heard of last."""
    name, chosen = client.strip(), pages.choice_or_all(About, about)
    profile: Profile | None = None
    values: dict[str, Any] = {"form": Form(values={"client": name}), "status": 200}
    if name:
        try:
            profile = visitor.services.profile(visitor.principal, name, about=chosen)
        except ValidationFailed as error:
            values = refused_deed({"client": name}, error, "client")
    return shown(
        request,
        visitor,
        "clients.html",
        client=name,
        profile=profile,
        about=about,
        abouts=pages.choices(About),
        heard_of=() if profile else _heard_of(visitor),
        talks=_talks(visitor, name) if profile else (),
        page_of=page_of,
        **values,
    )


def _heard_of(visitor: Visitor) -> Sequence[str]:
    """Return the clients that the newest memories and conversations name, each once."""
    services, who = visitor.services, visitor.principal
    memories = services.browse.list_memories(who, MemoryFilter(), limit=LOOKED_AT, after=None)
    talks = services.conversations.list(who, ConversationFilter(), limit=LOOKED_AT, after=None)
    clients = [each.client_id for each in (*memories.items, *talks.items)]
    return [each for each in dict.fromkeys(clients) if each != GLOBAL_CLIENT]


def _talks(visitor: Visitor, client: str) -> Sequence[Any]:
    where = ConversationFilter(client_id=client)
    return visitor.services.conversations.list(
        visitor.principal, where, limit=TALKS, after=None
    ).items
