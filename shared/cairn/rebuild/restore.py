"""Restore a workspace from an export: entries, tombstones, rows. Recompute after forgetting.

An import goes into an empty workspace, beside the key store the entries were sealed with. Nothing
may serve before this is done. Not reading the export: that is `ledger.importing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.rebuild.rebuild import KeysMissing

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.forgetting.tombstones import TombstonesApplied
    from cairn.ledger.importing import Export
    from cairn.rebuild.rebuild import Rebuild, Rebuilt


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputeByReplay:
    """Implements `forgetting.forget.Recompute`."""

    rebuild: Rebuild

    def __call__(self, workspace_id: UUID, seconds: float) -> bool:
        """Go on replaying for some time; True once the rows are in place.

        Not while somebody else's key is missing: what is to be erased is, and the rest waits.
        """
        if self.rebuild.advance(workspace_id, seconds=seconds)["more"]:
            return False
        try:
            return self.rebuild.finish(workspace_id) is not None
        except KeysMissing:
            return False


WriteLedger: TypeAlias = "Callable[[Export], int]"
"""Writes every entry of an export into an empty workspace, all or none; returns how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did. `rebuilt.after` are the checksums of the projections it made."""

    workspace_id: UUID
    entries: int
    tombstones: TombstonesApplied | None
    rebuilt: Rebuilt

    def as_json(self) -> dict[str, Any]:
        """Return it as people and machines are told it."""
        applied = self.tombstones
        tables = self.rebuilt.after
        return {
            "workspace_id": str(self.workspace_id),
            "entries": self.entries,
            "position": self.rebuilt.position,
            "unreadable": self.rebuilt.unreadable,
            "queued": self.rebuilt.queued,
            "tombstones": {
                "subjects": applied.subjects if applied else 0,
                "keys_destroyed": applied.keys_destroyed if applied else 0,
                "refused": [item.key for item in applied.refused] if applied else [],
            },
            "tables": {
                name: {"rows": tables[name].rows, "checksum": tables[name].checksum}
                for name in sorted(tables)
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore:
    """The steps in their order. A restore that was killed after the first goes on with `resume`.

    `tombstones` None: this account keeps none.
    """

    write: WriteLedger
    tombstones: Callable[[UUID], TombstonesApplied] | None
    rebuild: Rebuild

    def __call__(self, export: Export) -> Restored:
        """Import and replay.

        Raises ImportRefused and Conflict (`workspace-not-empty`) with nothing left, Unavailable
        when the tombstones cannot be read: the entries are there then, but nothing else.
        """
        return self.resume(export.workspace_id, self.write(export))

    def resume(self, workspace_id: UUID, entries: int) -> Restored:
        """Follow the tombstones and make the rows of a ledger that is imported."""
        followed = self.tombstones(workspace_id) if self.tombstones else None
        return Restored(
            workspace_id=workspace_id,
            entries=entries,
            tombstones=followed,
            rebuilt=self.rebuild(workspace_id, restoring=True),
        )
