"""Delete a workspace: no key lets anybody in, nothing can be read, and every store is emptied.

The work of the deployment's owner. In this order, so that a kill between any two steps is made up
for by doing it again: API keys, tombstone, keys of bodies, rows, objects, search index, entry.
Of it stays its chain, whose bodies nobody can read, and the signed tombstone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cairn.forgetting.prove import Looked
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.text.canonical import format_timestamp
from cairn.ledger.signing import sign_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.forgetting.ports import ObjectEraser, TombstoneStore
    from cairn.kernel.clock import Clock
    from cairn.ledger.keys import KeyStore
    from cairn.ledger.signing import Signer

DELETED = "workspace.deleted"
FORMAT = "cairn-workspace-tombstone-1"
PREFIXES = ("ingestions", "sites", "uploads")
NOT_SEARCHED = tuple(
    Looked(store=store, place=place, searched=False, note=note)
    for store, place, note in (
        ("queues", "messages", "ids only; what they name is gone, and they end at that"),
        ("memory", "caches", "behind keys that let nobody in; gone after 10 minutes"),
        ("anchors", "heads and tombstones", "hashes, ids and times, signed; kept on purpose"),
        ("backups", "database", "as long as they are kept; after a restore, delete it again"),
        ("exports", "files", "what was exported before is where it was taken to"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceFound:
    """A workspace, and where its ledger ends."""

    name: str
    deleted_at: datetime | None
    position: int
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceDeleted:
    """What was done, and what a search of every store found afterwards.

    `already`: it had been deleted before. `clean`: nothing was found but what is kept on purpose.
    """

    workspace_id: UUID
    name: str
    already: bool
    counts: Mapping[str, int]
    clean: bool
    places: tuple[Looked, ...]
    tombstone: str


class WorkspaceRows(Protocol):
    """The rows of a workspace in the database."""

    def find(self, workspace_id: UUID, /) -> WorkspaceFound | None: ...
    def close(self, workspace_id: UUID, /) -> None: ...
    def subjects(self, workspace_id: UUID, /) -> Sequence[UUID]: ...
    def erase(self, workspace_id: UUID, /) -> Mapping[str, int]: ...
    def finish(self, workspace_id: UUID, counts: Mapping[str, int], now: datetime, /) -> None: ...
    def look(self, workspace_id: UUID, /) -> Sequence[Looked]: ...


class IndexEraser(Protocol):
    """The search index beside the database."""

    def erase(self, workspace_id: UUID, /) -> int: ...
    def look(self, workspace_id: UUID, /) -> Looked: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteWorkspace:
    """Deletes one, and goes on with what was interrupted. `index` None: there is no such index."""

    rows: WorkspaceRows
    keys: KeyStore
    signer: Signer
    tombstones: TombstoneStore
    objects: ObjectEraser
    count_objects: Callable[[str], int]
    index: IndexEraser | None
    clock: Clock

    def find(self, workspace_id: UUID) -> WorkspaceFound:
        """Return a workspace; NotFound for one that never was."""
        workspace = self.rows.find(workspace_id)
        if workspace is None:
            raise NotFound("There is no such workspace.", workspace_id=str(workspace_id))
        return workspace

    def __call__(self, workspace_id: UUID, name: str) -> WorkspaceDeleted:
        """Delete it and look for what is left. Again, and it removes what a backup brought back.

        Conflict (`another-name`) unless `name` is the workspace's; of a deleted one none is asked.
        Raises Unavailable when a store cannot be reached: repeated, it goes on where it stopped.
        """
        workspace = self.find(workspace_id)
        already = workspace.deleted_at is not None
        if not already and name != workspace.name:
            raise Conflict("The workspace has another name.", reason="another-name")
        self.rows.close(workspace_id)
        tombstone = self._mark(workspace_id, workspace)
        subjects = self.rows.subjects(workspace_id)
        keys = sum(self.keys.destroy(workspace_id, subject) for subject in subjects)
        counts = Counter(self.rows.erase(workspace_id))
        counts["keys"] += keys
        counts["objects"] += sum(map(self.objects.erase, _places(workspace_id)))
        if self.index is not None:
            counts["search_index"] += self.index.erase(workspace_id)
        if not already:
            self.rows.finish(workspace_id, +counts, self.clock())
        places = (*self._look(workspace_id, subjects), *NOT_SEARCHED)
        return WorkspaceDeleted(
            workspace_id=workspace_id,
            name=workspace.name,
            already=already,
            counts=dict(+counts),
            clean=not any(place.found for place in places),
            places=places,
            tombstone=tombstone,
        )

    def _mark(self, workspace_id: UUID, workspace: WorkspaceFound) -> str:
        """Keep a signed statement of what goes, where nobody changes it; return its name."""
        key = f"tombstones/{workspace_id}.json"
        fields: dict[str, Any] = {
            "format": FORMAT,
            "workspace_id": str(workspace_id),
            "position": workspace.position,
            "hash": workspace.hash.hex(),
            "deleted_at": format_timestamp(workspace.deleted_at or self.clock()),
        }
        self.tombstones.put(key, sign_statement(self.signer, fields))
        return key

    def _look(self, workspace_id: UUID, subjects: Sequence[UUID]) -> Sequence[Looked]:
        keys = self.keys.get(workspace_id, subjects)
        places = [
            *self.rows.look(workspace_id),
            Looked(store="keys", place="keys", items=len(subjects), found=len(keys)),
        ]
        for prefix in _places(workspace_id):
            left = self.count_objects(prefix)
            place = prefix.partition("/")[0] + "/"
            places.append(Looked(store="uploads", place=place, items=left, found=left))
        if self.index is not None:
            places.append(self.index.look(workspace_id))
        return places


def _places(workspace_id: UUID) -> tuple[str, ...]:
    return tuple(f"{prefix}/{workspace_id}/" for prefix in PREFIXES)
