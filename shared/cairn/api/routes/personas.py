"""Personas: how agents work for one kind of ticket, with every version they had."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services, Writer
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, examples
from cairn.api.routing import router
from cairn.safety.tools import Autonomy
from cairn.tickets.personas import DEFAULT, Persona
from cairn.tickets.ticket import PersonaVersion

routes = router("personas")

PersonaName = Annotated[str, Path(max_length=64, description="The persona's name.")]


class PersonaView(TypedDict):
    """A persona: how agents work on its tickets, and what they may spend."""

    name: str
    instructions: str
    escalation: str
    autonomy: Autonomy
    max_tokens: int
    max_usd: str
    max_seconds: int
    max_iterations: int
    redaction: str
    version: int


class PersonaVersionView(PersonaView):
    """A persona as it stood from one change on."""

    changed_at: datetime
    changed_by: UUID
    removed: bool


class PersonaRemoved(TypedDict):
    """The persona that is gone."""

    name: str


class PersonaIn(Body):
    """A persona as a whole: what is left out is as a new one has it."""

    instructions: str = ""
    escalation: Annotated[str, Field(max_length=64)] = DEFAULT.escalation
    autonomy: Annotated[Autonomy, Field(strict=False)] = DEFAULT.autonomy
    max_tokens: int = DEFAULT.max_tokens
    max_usd: Annotated[Decimal, Field(strict=False, max_digits=12, decimal_places=6)] = (
        DEFAULT.max_usd
    )
    max_seconds: int = DEFAULT.max_seconds
    max_iterations: int = DEFAULT.max_iterations
    redaction: Annotated[str, Field(max_length=32)] = DEFAULT.redaction


class NewPersonaIn(PersonaIn):
    """A new persona."""

    model_config = examples(
        {
            "name": "night",
            "instructions": "Wake nobody before seven.",
            "autonomy": "investigate",
            "escalation": "ticket-note",
            "max_usd": "0.25",
        }
    )

    name: Annotated[str, Field(min_length=1, max_length=64)]


@routes.post(
    "/v1/personas",
    summary="Make a persona",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "Tickets can be given to it", PersonaView),
        **problems("conflict", body=True),
    },
)
def create_persona(body: NewPersonaIn, caller: Admin, services: Services) -> Response:
    """Make a persona; its name stays for good."""
    fields = {field: getattr(body, field) for field in NewPersonaIn.model_fields}
    return answer(_shown(services.personas.create(caller, Persona(**fields))), status=201)


@routes.get(
    "/v1/personas",
    summary="List personas",
    response_model=None,
    responses={**answers(200, "Every persona, by name", ListOf[PersonaView]), **problems()},
)
def list_personas(caller: Writer, services: Services) -> Response:
    """List personas; `default`, which works on everything else, is always among them."""
    return answer({"items": [_shown(item) for item in services.personas.all(caller)]})


@routes.get(
    "/v1/personas/{persona}",
    summary="Show a persona",
    response_model=None,
    responses={**answers(200, "The persona", PersonaView), **problems("not-found")},
)
def get_persona(persona: PersonaName, caller: Writer, services: Services) -> Response:
    """Show a persona as it is now."""
    return answer(_shown(services.personas.get(caller, persona)))


@routes.get(
    "/v1/personas/{persona}/versions",
    summary="Show how a persona changed",
    response_model=None,
    responses={
        **answers(200, "Every version, the newest first", ListOf[PersonaVersionView]),
        **problems("not-found"),
    },
)
def list_persona_versions(persona: PersonaName, caller: Admin, services: Services) -> Response:
    """List every version a persona had; each is an entry of the ledger, too."""
    versions = services.personas.versions(caller, persona)
    return answer({"items": [_version(item) for item in versions]})


@routes.put(
    "/v1/personas/{persona}",
    summary="Change a persona",
    response_model=None,
    responses={
        **answers(200, "The persona as it is now", PersonaView),
        **problems("not-found", body=True),
    },
)
def replace_persona(
    persona: PersonaName, body: PersonaIn, caller: Admin, services: Services
) -> Response:
    """Replace what a persona says by another version; the same again changes nothing."""
    services.personas.get(caller, persona)
    fields = {field: getattr(body, field) for field in PersonaIn.model_fields}
    return answer(_shown(services.personas.put(caller, Persona(name=persona, **fields))))


@routes.delete(
    "/v1/personas/{persona}",
    summary="Remove a persona",
    response_model=None,
    responses={
        **answers(200, "Its tickets are the default one's now", PersonaRemoved),
        **problems("not-found", "conflict"),
    },
)
def remove_persona(persona: PersonaName, caller: Admin, services: Services) -> Response:
    """Remove a persona; the default one works on its tickets from now on."""
    services.personas.remove(caller, persona)
    return answer({"name": persona})


def _shown(persona: Persona) -> PersonaView:
    shown: Any = {name: getattr(persona, name) for name in Persona.__dataclass_fields__}
    shown["max_usd"] = f"{persona.max_usd:f}"
    return shown


def _version(version: PersonaVersion) -> PersonaVersionView:
    return {
        **_shown(version.persona),
        "changed_at": version.changed_at,
        "changed_by": version.changed_by,
        "removed": version.removed,
    }
