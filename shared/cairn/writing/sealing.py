"""Texts of a row beside the ledger, sealed under the keys of those they are about, and opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.ledger.keys import BodyUnreadable, key_subjects
from cairn.writing.checks import owners
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealer:
    """Seals and opens texts of one row, to whose id they are bound; keys are read once."""

    platform: Platform
    workspace_id: UUID
    row_id: UUID
    data_subjects: tuple[UUID, ...]
    keys: Mapping[UUID, bytes]

    @classmethod
    def of(
        cls,
        platform: Platform,
        workspace_id: UUID,
        row_id: UUID,
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
            row_id=row_id,
            data_subjects=data_subjects,
            keys=read(workspace_id, subjects),
        )

    def seal(self, body: Mapping[str, Any]) -> bytes:
        """Seal texts."""
        subjects = key_subjects(self.workspace_id, self.data_subjects)
        keys = {subject: self.keys[subject] for subject in subjects}
        return self.platform.cipher.seal(self.row_id, self.workspace_id, keys, body)

    def open(self, sealed: bytes | None) -> dict[str, Any]:
        """Return texts; none of what was forgotten, or never was."""
        if sealed is None:
            return {}
        subjects = key_subjects(self.workspace_id, self.data_subjects)
        try:
            return dict(
                self.platform.cipher.open(
                    self.row_id, self.workspace_id, subjects, self.keys, sealed
                )
            )
        except BodyUnreadable:
            return {}


def client_subjects(platform: Platform, principal: Principal, client_id: str) -> tuple[UUID, ...]:
    """Return whose keys seal what is about a client; one never heard of is registered first."""
    client_owners = owners(client_id, ())
    if not client_owners:
        return ()
    with platform.transactions.reading(principal) as stores:
        registered = len(stores.subjects.find(client_owners)) == len(client_owners)
    if not registered:
        Writer(platform).write_once(
            principal,
            lambda: Work(
                resolution=resolve(platform, principal, client_owners),
                do=Write.register,
                keep=lambda _: {},
                read=lambda _: None,
            ),
            None,
        )
    return resolve(platform, principal, client_owners).subjects_of(client_owners)
