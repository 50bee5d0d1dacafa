"""One writing transaction of an investigation: entries, rows and what is sent after the commit.

Keys are fetched before the ledger is locked. Not what is written: steps and people decide that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from cairn.kernel.access.system import system_principal
from cairn.ledger.entry import Actor, ActorKind
from cairn.ledger.keys import BodyUnreadable, key_subjects
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.investigations.state import Investigation
    from cairn.kernel.access import PersonRole
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.writing.platform import Platform


class Owned(Protocol):
    """A row with something sealed under its id for data subjects."""

    @property
    def id(self) -> UUID: ...
    @property
    def data_subjects(self) -> tuple[UUID, ...]: ...


def opened(
    journal: Journal, workspace_id: UUID, rows: Sequence[tuple[Owned, bytes]]
) -> list[Mapping[str, JsonValue] | None]:
    """Return what each row's bytes say, in order; None where nobody can read it any more."""
    sealed = [Sealed(id=row.id, data_subjects=row.data_subjects, body=body) for row, body in rows]
    return Opener(keys=journal.platform.keys, cipher=journal.platform.cipher)(workspace_id, sealed)


def text_in(body: Mapping[str, JsonValue] | None, name: str) -> str | None:
    """Return a text of a body; None without one."""
    text = body.get(name) if body else None
    return text if isinstance(text, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A record's sealed bytes, the id they were sealed under, and for whom."""

    id: UUID
    data_subjects: tuple[UUID, ...]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """Opens records of one workspace."""

    keys: KeyStore
    cipher: BodyCipher

    def __call__(
        self, workspace_id: UUID, sealed: Sequence[Sealed]
    ) -> list[Mapping[str, JsonValue] | None]:
        """Return each record's body in order; BodyUnreadable for one that was altered."""
        subjects = {
            subject for item in sealed for subject in key_subjects(workspace_id, item.data_subjects)
        }
        held = self.keys.get(workspace_id, subjects)
        return [self._open_item(workspace_id, item, held) for item in sealed]

    def _open_item(
        self, workspace_id: UUID, item: Sealed, held: Mapping[UUID, bytes]
    ) -> Mapping[str, JsonValue] | None:
        if not item.body:
            return None
        subjects = key_subjects(workspace_id, item.data_subjects)
        try:
            return self.cipher.open(item.id, workspace_id, subjects, held, item.body)
        except BodyUnreadable as error:
            if error.reason != "key-destroyed":
                raise
            return None


T = TypeVar("T")


def agent_of(investigation: Investigation) -> Actor:
    """Return who acts in an investigation: its persona, an agent."""
    return Actor(kind=ActorKind.AGENT, id=investigation.persona)


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """Writes what happens in investigations, and reads it under the same keys."""

    platform: Platform

    def reading(self, workspace_id: UUID) -> AbstractContextManager[Stores]:
        """Open a read-only transaction."""
        return self.platform.transactions.reading(system_principal(workspace_id))

    def keys_of(self, workspace_id: UUID, data_subjects: Sequence[UUID]) -> Mapping[UUID, bytes]:
        """Return the keys of data subjects, made where missing; SubjectForgotten."""
        return self.platform.keys.get_or_create(
            workspace_id, key_subjects(workspace_id, data_subjects)
        )

    def write(
        self,
        workspace_id: UUID,
        data_subjects: Sequence[UUID],
        actor: Actor,
        do: Callable[[Write], T],
        *,
        person: PersonRole | None = None,
    ) -> T:
        """Do it in one transaction with the entries it plans; then send what it wakes.

        `person` is the role of who signed in to do it, which the database holds it to. Raises
        SubjectForgotten when one of the data subjects was, and what `do` raises.
        """
        subjects = tuple(sorted(set(data_subjects)))
        keys = self.keys_of(workspace_id, subjects)
        principal = replace(system_principal(workspace_id), person=person)
        with open_write(
            self.platform, principal, actor=actor, keys=keys, data_subjects=subjects
        ) as write:
            return do(write)
