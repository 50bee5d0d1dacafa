"""Personas in PostgreSQL: every version stays, one of a name is the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store
from cairn.safety.tools import Autonomy
from cairn.tickets.persona import Persona
from cairn.tickets.ports import PersonaVersion

if TYPE_CHECKING:
    from collections.abc import Sequence


class PostgresPersonas(Store):
    """Implements `helpdesk.ports.PersonaStore`."""

    def find(self, name: str) -> PersonaVersion | None:
        """Return the present version of one that was not removed."""
        row = self.run("persona.find", called=name).fetchone()
        return _version(row) if row else None

    def all(self) -> Sequence[PersonaVersion]:
        """Return the present versions, by name."""
        return [_version(row) for row in self.run("persona.all")]

    def versions(self, name: str) -> Sequence[PersonaVersion]:
        """Return every version of a name, the newest first."""
        return [_version(row) for row in self.run("persona.versions", called=name)]

    def add(self, version: PersonaVersion) -> None:
        """Keep a version; the newest is the present one."""
        persona = version.persona
        self.run("persona.retire", called=persona.name)
        self.run(
            "persona.add",
            id=version.id,
            called=persona.name,
            version=persona.version,
            instructions=persona.instructions,
            escalation=persona.escalation,
            autonomy=persona.autonomy.value,
            max_tokens=persona.max_tokens,
            max_usd=persona.max_usd,
            max_seconds=persona.max_seconds,
            max_iterations=persona.max_iterations,
            redaction=persona.redaction,
            changed_at=version.changed_at,
            changed_by=version.changed_by,
            removed=version.removed,
        )


def _version(row: Sequence[Any]) -> PersonaVersion:
    one, name, version, instructions, escalation, autonomy, tokens, usd, seconds = row[:9]
    iterations, redaction, changed_at, changed_by, removed = row[9:]
    return PersonaVersion(
        id=one,
        persona=Persona(
            name=name,
            instructions=instructions,
            escalation=escalation,
            autonomy=Autonomy(autonomy),
            max_tokens=tokens,
            max_usd=usd,
            max_seconds=seconds,
            max_iterations=iterations,
            redaction=redaction,
            version=version,
        ),
        changed_at=changed_at,
        changed_by=changed_by,
        removed=removed,
    )
