"""Nodes whose vectors are missing, old or of another model, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.reembedding.reembed import Sampled, StalePage
from cairn.reembedding.reindex import GapCount, GapPage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID


class PostgresModelVectors(Store):
    """Vectors of one model beside those of others, in one workspace."""

    def stale(
        self, model_id: int, *, after: UUID, limit: int, with_tokens: bool = False
    ) -> StalePage:
        """Look at the `limit` nodes after an id.

        A node needs vectors that has none of the model, or only older ones than another model made
        or than work that waits, and `with_tokens` one without token vectors. Conversations and
        entities need some where they had some.
        """
        parameters = {
            "model_id": model_id,
            "after": after,
            "limit": limit,
            "with_tokens": with_tokens,
        }
        (page,) = self.all_of(record(StalePage), "reembed.stale", **parameters)
        return page

    def text_positions(self, node_ids: Collection[UUID]) -> Mapping[UUID, int]:
        """Return the position of the newest work, done or waiting, that asked for vectors.

        That is the version of a node's text; nodes nobody asked for are left out.
        """
        return dict(self.run("reembed.text_positions", ids=list(node_ids)).fetchall())

    def findable(self) -> int:
        """Return how many nodes are to be found."""
        return self.value("reembed.findable")

    def sample(self, model_id: int, other_id: int, *, limit: int) -> Sequence[Sampled]:
        """Return nodes with vectors of both models, in an order that depends on their ids only."""
        parameters = {"model_id": model_id, "other_id": other_id, "limit": limit}
        return self.all_of(record(Sampled), "reembed.sample", **parameters)

    def indexed(self, model_id: int) -> bool:
        """Return whether every partition has an index of the model's vectors."""
        return self.value("reembed.indexed", model_id=model_id)

    def drop_others(self, model_id: int, *, limit: int) -> int:
        """Remove vectors of all models but this one, cached ones last."""
        gone = self.run("reembed.drop_vectors", model_id=model_id, limit=limit).rowcount
        return gone or self.run("reembed.drop_cached", model_id=model_id, limit=limit).rowcount


class PostgresVectorGaps(Store):
    """Nodes that are to be found (active, provisional, superseded) and have no vector of a model.

    Conversations get no vector, nor do entities: only those count that had one of another model.
    """

    def page(self, model_id: int, *, after: UUID, limit: int) -> GapPage:
        """Look at the `limit` nodes after an id."""
        parameters = {"model_id": model_id, "after": after, "limit": limit}
        (page,) = self.all_of(record(GapPage), "reindex.page", **parameters)
        return page

    def index_words(self, node_ids: Sequence[UUID]) -> None:
        """Make the words of nodes anew, and those of their present version."""
        if node_ids:
            self.run("reindex.index_words", ids=list(node_ids))

    def count(self, model_id: int) -> GapCount:
        """Look at all nodes of the workspace."""
        (counts,) = self.all_of(record(GapCount), "reindex.count", model_id=model_id)
        return counts
