"""From the entries of a forgetting to rows: what it purges, clears and lets stand again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import NodeChange
from cairn.graph.projection import Projection, Purge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry


def forgotten(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the purge; replayed, it also takes what entries with other keys had made."""
    purge = Purge(
        workspace_id=entry.workspace_id,
        node_ids=_ids(meta["node_ids"]),
        position=entry.position,
        cleared=_ids(meta["cleared"]),
    )
    revived = tuple(
        NodeChange(
            workspace_id=entry.workspace_id,
            id=id_,
            position=entry.position,
            revive=True,
            consolidated=False,
        )
        for id_ in _ids(meta["revived"])
    )
    return Projection(nodes=revived, purges=(purge,))


def _ids(values: list[str]) -> tuple[UUID, ...]:
    return tuple(UUID(value) for value in values)
