"""Follow the tombstones again before a restored database serves. Not writing them: `forget` does.

A backup of the database brings rows back, one of the key file keys: whoever has a tombstone is
forgotten again before anything is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.ledger.tombstones import (
    Tombstone,
    TombstoneFault,
    read_tombstone,
    tombstone_prefix,
)

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.forgetting.forget import Forget
    from cairn.forgetting.ports import TombstoneStore
    from cairn.ledger.keys import KeyStore
    from cairn.ledger.signing import Verifier


PARTS, PART_SECONDS = 1_000, 60.0
"""What remains is made anew in parts; a restore that does not serve yet may take its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedTombstone:
    """An object that is no tombstone of whom its name says."""

    key: str
    reason: TombstoneFault


@dataclass(frozen=True, slots=True, kw_only=True)
class TombstonesApplied:
    """How many subjects have one, how many keys were there again, and what was refused."""

    workspace_id: UUID
    subjects: int
    keys_destroyed: int
    nodes_purged: int
    refused: tuple[RefusedTombstone, ...]

    @property
    def ok(self) -> bool:
        """Whether every object was a tombstone that could be followed."""
        return not self.refused


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyTombstones:
    """Destroys again the keys of everybody who was forgotten, and purges what is there of them.

    Safe to repeat; killed between any two subjects the next run does the rest.
    """

    store: TombstoneStore
    verifier: Verifier
    keys: KeyStore
    forget: Forget

    def __call__(self, workspace_id: UUID) -> TombstonesApplied:
        """Follow the tombstones of one workspace; refused ones are told, never followed.

        Raises Unavailable when a store cannot be reached: the restore must not serve then.
        """
        results, refused = self._read(workspace_id)
        destroyed = purged = 0
        for item in results.values():
            destroyed += self.keys.destroy(workspace_id, item.subject_id)
            before = self._nodes(item)
            self.forget.again(item)
            purged += before
        if purged:
            self._recompute(workspace_id)
        return TombstonesApplied(
            workspace_id=workspace_id,
            subjects=len(results),
            keys_destroyed=destroyed,
            nodes_purged=purged,
            refused=refused,
        )

    def _read(
        self, workspace_id: UUID
    ) -> tuple[dict[UUID, Tombstone], tuple[RefusedTombstone, ...]]:
        results: dict[UUID, Tombstone] = {}
        refused: list[RefusedTombstone] = []
        for key, stored in self.store.versions(tombstone_prefix(workspace_id)):
            read = read_tombstone(key, stored, workspace_id, self.verifier)
            if isinstance(read, Tombstone):
                results.setdefault(read.subject_id, read)
            else:
                refused.append(RefusedTombstone(key=key, reason=read))
        return results, tuple(refused)

    def _recompute(self, workspace_id: UUID) -> None:
        for _ in range(PARTS):
            if self.forget.recompute(workspace_id, PART_SECONDS):
                return

    def _nodes(self, tombstone: Tombstone) -> int:
        return self.forget.nodes_of(tombstone.workspace_id, tombstone.subject_id)
