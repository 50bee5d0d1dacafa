"""The pages of personas: how agents work on kinds of tickets, and where people are called.

An address that people are called at is a secret: it goes in and is never shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_or_text, refused_deed
from cairn.api.console.guard import Visitor, form_from, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.people import ChannelIn
from cairn.api.routes.personas import NewPersonaIn
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.records import convert
from cairn.safety.profiles import PROFILES
from cairn.safety.tools import Autonomy
from cairn.tickets.personas import DEFAULT, Persona

if TYPE_CHECKING:
    from collections.abc import Mapping

PERSONAS, CHANNELS = "/console/personas", "/console/personas/channels"
NOTE = DEFAULT.escalation
NUMBERS = ("max_tokens", "max_seconds", "max_iterations")
FIELDS = ("name", "instructions", "autonomy", "escalation", "redaction", "max_usd", *NUMBERS)
CHANNEL_FIELDS = ("channel", "url")
DONE = {
    "made": "Tickets can be given to it.",
    "changed": "It holds from now on; what runs goes on as it began.",
    "removed": "It is gone; the default persona works on its tickets.",
    "channel": "People can be called there: choose it in a persona.",
    "channel-removed": "Nobody is called there any more. Who named it leaves notes instead.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(PERSONAS)
def show_personas(request: Request, visitor: Reader) -> Response:
    """Show every persona, and where people are called."""
    return _list(request, visitor)


@routes.post(PERSONAS)
def make_persona(request: Request, body: Body) -> Response:
    """Make a persona; its name stays for good."""
    visitor, form = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    try:
        persona = visitor.services.personas.create(visitor.principal, _persona(form))
    except (Conflict, ValidationFailed) as error:
        return _list(request, visitor, **refused_deed(form, error, "name"))
    return pages.go_to(f"{PERSONAS}/of/{persona.name}?done=made")


@routes.post(CHANNELS)
def add_channel(request: Request, body: Body) -> Response:
    """Keep an address at which people are called."""
    visitor, form = form_from(request, body)
    try:
        name, url = form.get("channel", "").strip(), form.get("url", "").strip()
        new = checked(ChannelIn, {"name": name, "url": url})
        visitor.services.channels.create(visitor.principal, name=new.name, url=new.url)
    except (Conflict, ValidationFailed) as error:
        return _channel_refused(request, visitor, form, error)
    return pages.go_to(f"{PERSONAS}?done=channel")


def _channel_refused(
    request: Request,
    visitor: Visitor,
    form: Mapping[str, str],
    error: Conflict | ValidationFailed,
) -> Response:
    """Return the page with what was typed but the address; a channel's name is `channel` here."""
    refused = refused_deed({}, error, "channel")
    wrong = [
        FieldError("channel" if each.location == "name" else each.location, each.message)
        for each in refused["form"].wrong
    ]
    again = Form(values={"channel": form.get("channel", "")}, wrong=wrong)
    return _list(request, visitor, form=again, status=refused["status"])


@routes.post(CHANNELS + "/{name}/remove")
def remove_channel(request: Request, name: str, body: Body) -> Response:
    """Call nobody at an address any more."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.channels.remove(visitor.principal, name)
    return pages.go_to(f"{PERSONAS}?done=channel-removed")


@routes.get(PERSONAS + "/of/{name}")
def show_persona(request: Request, visitor: Reader, name: str) -> Response:
    """Show one with every version it had."""
    return _persona_page(request, visitor, name)


@routes.post(PERSONAS + "/of/{name}")
def change_persona(request: Request, name: str, body: Body) -> Response:
    """Change one; the version before stays to be looked up."""
    visitor, form = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    visitor.services.personas.get(visitor.principal, name)
    try:
        visitor.services.personas.put(visitor.principal, _persona({**form, "name": name}))
    except (Conflict, ValidationFailed) as error:
        return _persona_page(request, visitor, name, **refused_deed(form, error, "instructions"))
    return pages.go_to(f"{PERSONAS}/of/{name}?done=changed")


@routes.post(PERSONAS + "/of/{name}/remove")
def remove_persona(request: Request, name: str, body: Body) -> Response:
    """Let the default persona work on its tickets."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.personas.remove(visitor.principal, name)
    return pages.go_to(f"{PERSONAS}?done=removed")


def _persona(form: Mapping[str, str]) -> Persona:
    """Return the persona that a form describes; ValidationFailed names each wrong field."""
    values: dict[str, Any] = {name: form.get(name, "").strip() for name in FIELDS}
    values["instructions"] = values["instructions"].replace("\r\n", "\n")
    for name in NUMBERS:
        values[name] = number_or_text(values[name])
    return convert(checked(NewPersonaIn, values), Persona)


def _callable(visitor: Visitor, chosen: str) -> list[str]:
    """Return by what a person can be called, the one that is chosen even where it is gone."""
    services, who = visitor.services, visitor.principal
    ways = [NOTE, *(f"{each.kind}:{each.name}" for each in services.channels.all(who))]
    ways += [f"webhook:{each.id}" for each in services.webhooks.all(who)]
    return ways if chosen in ways else [*ways, chosen]


def _choices(visitor: Visitor, chosen: str) -> dict[str, Any]:
    return {
        "autonomies": [each.value for each in Autonomy],
        "ways": _callable(visitor, chosen),
        "profiles": sorted(PROFILES),
        "fields": FIELDS,
    }


def _list(
    request: Request, visitor: Visitor, *, form: Form | None = None, status: int = 200
) -> Response:
    visitor.principal.require(Role.ADMIN)
    return shown(
        request,
        visitor,
        "personas.html",
        status=status,
        personas=visitor.services.personas.all(visitor.principal),
        channels=visitor.services.channels.all(visitor.principal),
        new=DEFAULT,
        form=form or Form(),
        channel_fields=CHANNEL_FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
        **_choices(visitor, NOTE),
    )


def _persona_page(
    request: Request, visitor: Visitor, name: str, *, form: Form | None = None, status: int = 200
) -> Response:
    services, who = visitor.services, visitor.principal
    who.require(Role.ADMIN)
    persona = services.personas.get(who, name)
    return shown(
        request,
        visitor,
        "persona.html",
        status=status,
        persona=persona,
        versions=_versions(visitor, name),
        form=form or Form(),
        done=DONE.get(request.query_params.get("done", ""), ""),
        **_choices(visitor, persona.escalation),
    )


def _versions(visitor: Visitor, name: str) -> list[tuple[Any, str]]:
    """Return every version with who made it; none of a default persona that nobody changed."""
    services, who = visitor.services, visitor.principal
    try:
        versions = services.personas.versions(who, name)
    except NotFound:
        return []
    return [(each, services.people.name_of(who, each.changed_by) or "a key") for each in versions]
