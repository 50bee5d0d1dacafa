"""Opens what is sealed of investigations, many records with one look for their keys. Not sealing.

What was sealed for a data subject who was forgotten, and what was erased since, is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.ledger.keys import BodyUnreadable, key_subjects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.keys import BodyCipher, KeyStore


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
        wanted = {
            subject for one in sealed for subject in key_subjects(workspace_id, one.data_subjects)
        }
        held = self.keys.get(workspace_id, wanted)
        return [self._one(workspace_id, one, held) for one in sealed]

    def _one(
        self, workspace_id: UUID, one: Sealed, held: Mapping[UUID, bytes]
    ) -> Mapping[str, JsonValue] | None:
        if not one.body:
            return None
        subjects = key_subjects(workspace_id, one.data_subjects)
        try:
            return self.cipher.open(one.id, workspace_id, subjects, held, one.body)
        except BodyUnreadable as error:
            if error.reason != "key-destroyed":
                raise
            return None
