"""Vectors and the outbox's queue side in memory, over the tables of `stores`. Not a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.graph.node import Label, State
from cairn.ingestion.enrich import EnrichableNode
from cairn.ingestion.ports import OutboxRow, Topic
from cairn.memory.neighbours import CONTEXT_MESSAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.graph.node import Node
    from cairn.ingestion.enrich import NewEmbedding
    from cairn.storage.in_memory.stores import Tables

_PRESENT = (State.ACTIVE, State.PROVISIONAL)


@dataclass(frozen=True)
class InMemoryEmbeddings:
    """Implements `ingestion.enrich.EmbeddingStore`."""

    tables: Tables

    def enrichable(self, node_ids: Collection[UUID]) -> Sequence[EnrichableNode]:
        """Return those of the nodes that are to be found, each with the messages before it."""
        return [
            EnrichableNode(
                id=one.id, label=one.label, text=one.text, context=tuple(self._context(one))
            )
            for one in self.tables.nodes.values()
            if one.id in node_ids and one.state in (*_PRESENT, State.SUPERSEDED)
        ]

    def cached(self, hashes: Collection[bytes], model_id: int) -> Mapping[bytes, Vectors]:
        """Return the cached vectors by SHA-256 of their text."""
        kept = self.tables.cached_vectors
        return {one: kept[one, model_id] for one in hashes if (one, model_id) in kept}

    def cache(self, vectors: Mapping[bytes, Vectors], model_id: int, now: datetime) -> None:
        """Keep vectors by SHA-256 of their text."""
        for text_hash, vector in vectors.items():
            self.tables.cached_vectors.setdefault((text_hash, model_id), vector)

    def store(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> None:
        """Replace the nodes' vectors, unless newer ones are stored."""
        for row in rows:
            stored = self.tables.embeddings.get((row.node_id, model_id))
            if stored is None or stored[0] <= position:
                self.tables.embeddings[row.node_id, model_id] = (position, tuple(row.vectors))

    def _context(self, node: Node) -> list[str]:
        if node.label != Label.MEMORY or node.sequence is None:
            return []
        place = (node.sequence, node.id)
        before = sorted(
            (one.sequence, one.id, one.text)
            for one in self.tables.nodes.values()
            if one.session_id == node.session_id
            and one.sequence is not None
            and (one.sequence, one.id) < place
            and one.state in _PRESENT
            and (one.scope, one.agents, one.data_subjects)
            == (node.scope, node.agents, node.data_subjects)
        )
        return [text for _, _, text in reversed(before[-CONTEXT_MESSAGES:])]


@dataclass(frozen=True)
class InMemoryQueue:
    """Implements `ingestion.enrich.OutboxQueue`."""

    tables: Tables

    def find(self, ids: Collection[UUID]) -> Sequence[OutboxRow]:
        """Return the rows still unfinished among these."""
        return [one for one in self.tables.outbox.values() if one.id in ids]

    def find_batch(self, reference: UUID, batch: int) -> OutboxRow | None:
        """Return one batch of an ingestion, None when it is done."""
        for one in self.tables.outbox.values():
            if (one.topic, one.reference, one.batch) == (Topic.EMBED, reference, batch):
                return one
        return None

    def done(self, ids: Collection[UUID]) -> None:
        """Remove finished rows."""
        for one in ids:
            self.tables.outbox.pop(one, None)
            self.tables.failed.pop(one, None)

    def failed(self, ids: Collection[UUID], error: str) -> None:
        """Keep why rows failed; they stay to be tried again."""
        self.tables.failed.update(dict.fromkeys(ids, error))
