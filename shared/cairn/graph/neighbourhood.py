"""The part of the graph a walk may use: edges already fetched and cut. Not how they are fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from uuid import UUID


class GraphEdge(NamedTuple):
    """A stored edge with the labels of its two ends, both visible to whoever asked.

    `weight` is the edge's own (a strength between entities); `score` is SIMILAR_TO's cosine,
    `mechanism` CAUSED_BY's (direct or inferred), `role` REFERENCES's.
    """

    id: UUID
    view: str
    relation: str
    source_id: UUID
    target_id: UUID
    source_label: str
    target_label: str
    weight: float = 1.0
    score: float | None = None
    mechanism: str | None = None
    role: str | None = None

    def other(self, node_id: UUID) -> UUID:
        """Return the end that is not `node_id`; of a self-loop the node itself."""
        return self.target_id if node_id == self.source_id else self.source_id
