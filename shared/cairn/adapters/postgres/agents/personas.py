"""Personas in PostgreSQL: every version stays, one of a name is the present one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, part, record
from cairn.safety.tools import Autonomy
from cairn.tickets.personas import Persona
from cairn.tickets.ticket import PersonaVersion

if TYPE_CHECKING:
    from collections.abc import Sequence


def _version(**row: Any) -> PersonaVersion:
    return PersonaVersion(
        id=row["id"],
        persona=part(Persona, row),
        changed_at=row["changed_at"],
        changed_by=row["changed_by"],
        removed=row["removed"],
    )


VERSION = record(_version, autonomy=Autonomy)


class PostgresPersonas(Store):
    """The personas of the transaction's workspace with their versions."""

    def find(self, name: str) -> PersonaVersion | None:
        """Return the present version of one that was not removed."""
        return self.first_of(VERSION, "persona.find", called=name)

    def all(self) -> Sequence[PersonaVersion]:
        """Return the present versions, by name."""
        return self.all_of(VERSION, "persona.all")

    def versions(self, name: str) -> Sequence[PersonaVersion]:
        """Return every version of a name, the newest first."""
        return self.all_of(VERSION, "persona.versions", called=name)

    def add(self, version: PersonaVersion) -> None:
        """Keep a version; the newest is the present one."""
        persona = version.persona
        self.run("persona.retire", called=persona.name)
        self.write(
            "persona.add",
            persona,
            called=persona.name,
            id=version.id,
            changed_at=version.changed_at,
            changed_by=version.changed_by,
            removed=version.removed,
        )
