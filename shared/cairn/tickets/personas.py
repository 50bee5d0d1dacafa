"""Personas: kept, changed and removed by admins, every version with its entry in the ledger."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.safety.profiles import check_profile
from cairn.safety.tools import Autonomy
from cairn.tickets.ticket import PersonaVersion
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform


DEFAULT_TOKENS = 50_000
DEFAULT_USD = Decimal("0.50")
DEFAULT_SECONDS = 900
DEFAULT_ITERATIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """Instructions, budget, autonomy and whom to call. The name is unique in its workspace.

    `escalation` is a channel and its target: `webhook:<id>`, `ticket-note`, `slack:<name>`.
    `autonomy` caps what connectors allow. `version` counts its changes.
    """

    name: str
    instructions: str = ""
    escalation: str = "ticket-note"
    autonomy: Autonomy = Autonomy.PROPOSE
    max_tokens: int = DEFAULT_TOKENS
    max_usd: Decimal = DEFAULT_USD
    max_seconds: int = DEFAULT_SECONDS
    max_iterations: int = DEFAULT_ITERATIONS
    redaction: str = "pii"
    version: int = 1


DEFAULT = Persona(name="default")


MAX_INSTRUCTIONS_CHARS = 8_000
MAX_PERSONAS = 100
MAX_TOKENS = 10_000_000
MAX_USD = Decimal(1_000)
MAX_SECONDS = 86_400
MAX_ITERATIONS = 200
NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
_ESCALATION = re.compile(
    r"ticket-note|webhook:[0-9a-fA-F-]{36}|slack:[a-z0-9](?:[a-z0-9_-]{0,40}[a-z0-9])?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Personas:
    """The personas of a workspace. `default` is always there and can be changed, not removed."""

    platform: Platform

    def all(self, principal: Principal) -> Sequence[Persona]:
        """Return them by name, the default one too."""
        with self.platform.transactions.reading(principal) as stores:
            personas = [item.persona for item in stores.personas.all()]
        if all(item.name != DEFAULT.name for item in personas):
            personas.append(DEFAULT)
        return sorted(personas, key=lambda item: item.name)

    def get(self, principal: Principal, name: str) -> Persona:
        """Return one; NotFound without it."""
        with self.platform.transactions.reading(principal) as stores:
            version = stores.personas.find(name)
        if version is None and name == DEFAULT.name:
            return DEFAULT
        if version is None:
            raise NotFound("There is no such persona.", name=name)
        return version.persona

    def versions(self, principal: Principal, name: str) -> Sequence[PersonaVersion]:
        """Return every version of one, the newest first; NotFound without any."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            versions = stores.personas.versions(name)
        if not versions:
            raise NotFound("There is no such persona.", name=name)
        return versions

    def create(self, principal: Principal, persona: Persona) -> Persona:
        """Make one; as `put`, and Conflict when there is one of its name."""
        principal.require(Role.ADMIN)
        if persona.name == DEFAULT.name:
            raise _exists()
        return self._add(principal, _checked(persona), removed=False, new=True)

    def put(self, principal: Principal, persona: Persona) -> Persona:
        """Make or change one and return it with its version; nothing changes when it is the same.

        Denied but for admins; ValidationFailed names the field that is wrong.
        """
        principal.require(Role.ADMIN)
        checked = _checked(persona)
        return self._add(principal, checked, removed=False)

    def remove(self, principal: Principal, name: str) -> None:
        """Remove one: its tickets are worked on by the default one. NotFound without it."""
        principal.require(Role.ADMIN)
        if name == DEFAULT.name:
            raise Conflict("The default persona cannot be removed; change it.", reason="default")
        self._add(principal, self.get(principal, name), removed=True)

    def _add(
        self, principal: Principal, persona: Persona, *, removed: bool, new: bool = False
    ) -> Persona:
        keys = self.platform.keys.get_or_create(principal.workspace_id, (principal.workspace_id,))
        with open_write(self.platform, principal, keys=keys) as write:
            personas = write.stores.personas
            versions = personas.versions(persona.name)
            newest = versions[0] if versions else None
            if new and newest and not newest.removed:
                raise _exists()
            if newest is None and len(personas.all()) >= MAX_PERSONAS:
                _refuse("name", f"is one too many: a workspace has at most {MAX_PERSONAS} personas")
            version = newest.persona.version + 1 if newest else 1
            if newest and not (newest.removed or removed) and _same(newest.persona, persona):
                return newest.persona
            added = PersonaVersion(
                id=newest.id if newest else self.platform.new_id(),
                persona=replace(persona, version=version),
                changed_at=write.now,
                changed_by=principal.principal_id,
                removed=removed,
            )
            personas.add(added)
            meta = {
                "persona_id": str(added.id),
                "version": added.persona.version,
                "removed": added.removed,
                "autonomy": added.persona.autonomy.value,
            }
            write.note("persona.changed", meta, _body(added))
        return added.persona


def _exists() -> Conflict:
    return Conflict("A persona of this name exists; change it.", reason="persona-exists")


def _body(version: PersonaVersion) -> dict[str, Any]:
    return {**asdict(version.persona), "max_usd": str(version.persona.max_usd)}


def _same(persona: Persona, other: Persona) -> bool:
    return replace(persona, version=0) == replace(other, version=0)


def _checked(persona: Persona) -> Persona:
    if not NAME.fullmatch(persona.name):
        _refuse("name", "is 1 to 64 small letters, digits, dashes and underscores")
    if persona.instructions:
        clean_text(persona.instructions, field="instructions", max_chars=MAX_INSTRUCTIONS_CHARS)
    if not _ESCALATION.fullmatch(persona.escalation):
        _refuse("escalation", "is ticket-note, webhook:<id> or slack:<name>")
    check_profile(persona.redaction)
    for field, value, most in (
        ("max_tokens", persona.max_tokens, MAX_TOKENS),
        ("max_usd", persona.max_usd, MAX_USD),
        ("max_seconds", persona.max_seconds, MAX_SECONDS),
        ("max_iterations", persona.max_iterations, MAX_ITERATIONS),
    ):
        if not (value == value and 0 < value <= most):
            _refuse(field, f"is above 0 and at most {most}")
    return persona


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
