"""From entries about the ageing of nodes to rows: expired, archived, restored, purged. Pure.

Not the forgetting of somebody: that destroys keys, and has entries of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import NodeChange, State
from cairn.graph.projection import Projection, Purge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry


def accessed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return one change a node; they were last accessed when the entry says it happened."""
    return Projection(
        nodes=tuple(
            NodeChange(
                workspace_id=entry.workspace_id,
                id=UUID(node_id),
                position=entry.position,
                accesses=count,
                last_accessed_at=entry.occurred_at,
            )
            for node_id, count in meta["counts"].items()
        )
    )


def expired(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return events past their time to live, which is final."""
    return _become(State.EXPIRED, entry, meta)


def archived(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return what was unused for long, kept and no longer found unless the past is asked for."""
    return _become(State.ARCHIVED, entry, meta)


def restored(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return what was archived and is used again."""
    return _become(State.ACTIVE, entry, meta)


def purged(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return what leaves every projection: long deleted, or an entity nothing refers to."""
    purge = Purge(
        workspace_id=entry.workspace_id,
        node_ids=tuple(UUID(id_) for id_ in meta["node_ids"]),
        position=entry.position,
    )
    return Projection(purges=(purge,))


def _become(state: State, entry: Entry, meta: Mapping[str, Any]) -> Projection:
    return Projection(
        nodes=tuple(
            NodeChange(
                workspace_id=entry.workspace_id,
                id=UUID(id_),
                position=entry.position,
                state=state,
            )
            for id_ in meta["node_ids"]
        )
    )
