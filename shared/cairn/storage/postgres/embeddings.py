"""Vectors in PostgreSQL. Apart from the other stores, because it alone loads numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.ingestion.enrich import EnrichableNode
from cairn.storage.postgres.halfvec import halfvecs, knows_halfvec
from cairn.storage.postgres.stores import Store

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.ingestion.enrich import NewEmbedding


class PostgresEmbeddings(Store):
    """Vectors of nodes and the cache of vectors by text."""

    def enrichable(self, node_ids: Collection[UUID]) -> Sequence[EnrichableNode]:
        """Return those of the nodes that are to be found."""
        rows = self.run("embedding.enrichable", ids=list(node_ids))
        return [
            EnrichableNode(id=node_id, label=label, text=text, context=tuple(context))
            for node_id, label, text, context in rows
        ]

    def cached(self, hashes: Collection[bytes], model_id: int) -> Mapping[bytes, Vectors]:
        """Return the cached vectors by SHA-256 of their text."""
        knows_halfvec(self.connection)
        rows = self.run("embedding.cached", hashes=list(hashes), model_id=model_id)
        return {text_hash: vector.to_numpy().astype("float32") for text_hash, vector in rows}

    def cache(self, vectors: Mapping[bytes, Vectors], model_id: int, now: datetime) -> None:
        """Keep vectors by SHA-256 of their text."""
        if not vectors:
            return
        knows_halfvec(self.connection)
        self.run(
            "embedding.cache",
            hashes=list(vectors),
            vectors=halfvecs(vectors.values()),
            model_id=model_id,
            now=now,
        )

    def store(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> None:
        """Replace the nodes' vectors, unless newer ones are stored."""
        if not rows:
            return
        knows_halfvec(self.connection)
        flat = [(row.node_id, at, one) for row in rows for at, one in enumerate(row.vectors)]
        self.run(
            "embedding.store",
            ids=[node_id for node_id, _, _ in flat],
            ordinals=[at for _, at, _ in flat],
            vectors=halfvecs(vector for _, _, vector in flat),
            model_id=model_id,
            position=position,
        )
        self.run(
            "embedding.trim",
            ids=[row.node_id for row in rows],
            counts=[len(row.vectors) for row in rows],
            model_id=model_id,
            position=position,
        )
