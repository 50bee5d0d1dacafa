"""From a `memory.accessed` entry to rows: how often each node was returned by searches. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import NodeChange
from cairn.graph.projection import Projection

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
