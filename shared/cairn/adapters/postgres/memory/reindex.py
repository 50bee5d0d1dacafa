"""Which nodes of a workspace lack a vector. Not how they get one: that is the outbox."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store
from cairn.reembedding.reindex import GapCount, GapPage

if TYPE_CHECKING:
    from uuid import UUID


class PostgresVectorGaps(Store):
    """Implements `lifecycle.reindex.VectorGaps`."""

    def page(self, model_id: int, *, after: UUID, limit: int) -> GapPage:
        """Look at the `limit` nodes after an id."""
        row = self.run("reindex.page", model_id=model_id, after=after, limit=limit).fetchone()
        last, missing, unqueued = row or (None, 0, ())
        return GapPage(last=last, missing=missing, unqueued=tuple(unqueued))

    def count(self, model_id: int) -> GapCount:
        """Look at all nodes of the workspace."""
        row = self.run("reindex.count", model_id=model_id).fetchone()
        missing, waiting = row or (0, 0)
        return GapCount(missing=missing, waiting=waiting)
