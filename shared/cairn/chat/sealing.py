"""What was said in a turn, sealed under the keys of those it is about, and opened again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.ledger.keys import BodyUnreadable, key_subjects

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealer:
    """Seals and opens texts of one turn; keys are read once."""

    platform: Platform
    workspace_id: UUID
    turn_id: UUID
    data_subjects: tuple[UUID, ...]
    keys: Mapping[UUID, bytes]

    @classmethod
    def of(
        cls,
        platform: Platform,
        workspace_id: UUID,
        turn_id: UUID,
        data_subjects: tuple[UUID, ...],
        *,
        create: bool = False,
    ) -> Sealer:
        """Return one with the keys that there are; `create` makes those that are missing."""
        subjects = key_subjects(workspace_id, data_subjects)
        read = platform.keys.get_or_create if create else platform.keys.get
        return cls(
            platform=platform,
            workspace_id=workspace_id,
            turn_id=turn_id,
            data_subjects=data_subjects,
            keys=read(workspace_id, subjects),
        )

    def seal(self, body: Mapping[str, Any]) -> bytes:
        """Seal texts."""
        subjects = key_subjects(self.workspace_id, self.data_subjects)
        keys = {subject: self.keys[subject] for subject in subjects}
        return self.platform.cipher.seal(self.turn_id, self.workspace_id, keys, body)

    def open(self, sealed: bytes | None) -> dict[str, Any]:
        """Return texts; none of what was forgotten, or never was."""
        if sealed is None:
            return {}
        subjects = key_subjects(self.workspace_id, self.data_subjects)
        try:
            return dict(
                self.platform.cipher.open(
                    self.turn_id, self.workspace_id, subjects, self.keys, sealed
                )
            )
        except BodyUnreadable:
            return {}
