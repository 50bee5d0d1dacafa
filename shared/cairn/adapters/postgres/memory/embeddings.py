"""Vectors in PostgreSQL. Apart from the other stores, because it alone loads numpy."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from cairn.adapters.postgres.halfvec import halfvecs, knows_halfvec
from cairn.adapters.postgres.store import Store, record
from cairn.enrichment.ports import (
    Before,
    EnrichableNode,
    Likeness,
    Outgoing,
    SimilarNode,
    TextVectors,
    TraceStep,
)
from cairn.graph.node import Label

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from psycopg import Cursor

    from cairn.embedding.port import Vectors
    from cairn.enrichment.ports import NewEmbedding

FIRST_CHUNKS, BEGINNING = 12, 4000
"""Of how many chunks a document's whole text is put together, and how many characters of it are
embedded: more than a local model reads."""


class PostgresEmbeddings(Store):
    """Vectors of nodes and the cache of vectors by text."""

    def enrichable(self, node_ids: Collection[UUID]) -> Sequence[EnrichableNode]:
        """Return those of the nodes that are to be found (active, provisional, superseded)."""
        parameters = {"ids": list(node_ids), "first": FIRST_CHUNKS, "beginning": BEGINNING}
        return self.all_of(record(_enrichable), "embedding.enrichable", **parameters)

    def silent(self, conversation_ids: Collection[UUID]) -> set[UUID]:
        """Return those of the conversations from which no memories are to be drawn."""
        return set(self.values("embedding.silent", ids=list(conversation_ids)))

    def said_before(
        self, messages: Sequence[EnrichableNode], *, limit: int
    ) -> Sequence[EnrichableNode]:
        """Return the last messages of the conversations before the first of these in each."""
        first: dict[UUID, int] = {}
        for message in messages:
            if message.parent_id is not None and message.sequence is not None:
                place = first.get(message.parent_id, message.sequence)
                first[message.parent_id] = min(place, message.sequence)
        parameters = {"ids": list(first), "sequences": list(first.values()), "limit": limit}
        return self.all_of(record(_earlier), "embedding.said_before", **parameters)

    def undrawn(self, after: UUID, *, limit: int) -> Sequence[UUID]:
        """Return the next conversations by id with messages that no model drew from yet."""
        return self.values("embedding.undrawn", after=after, limit=limit)

    def said_from(
        self, conversation_id: UUID, sequence: int, *, limit: int
    ) -> Sequence[EnrichableNode]:
        """Return messages of a conversation from a place on, in their order."""
        parameters = {"id": conversation_id, "sequence": sequence, "limit": limit}
        return self.all_of(record(_earlier), "embedding.said_from", **parameters)

    def drawn(self, model_id: int, *, limit: int) -> Sequence[UUID]:
        """Return nodes that have a vector of the model, drawn at random."""
        return self.values("embedding.drawn", model_id=model_id, limit=limit)

    def following(self, model_id: int, *, after: UUID, limit: int) -> Sequence[UUID]:
        """Return the next such nodes by id."""
        return self.values("embedding.following", model_id=model_id, after=after, limit=limit)

    def cached(self, hashes: Collection[bytes], model_id: int) -> TextVectors:
        """Return the cached vectors by SHA-256 of their text."""
        knows_halfvec(self.connection)
        cursor = self.run_binary("embedding.cached", hashes=list(hashes), model_id=model_id)
        cursor.row_factory = dict_row
        rows: list[dict[str, Any]] = cursor.fetchall()
        return TextVectors(
            {row["text_hash"]: row["v"].to_numpy().astype("float32") for row in rows},
            {row["text_hash"]: row["tokens"] for row in rows if row["tokens"] is not None},
        )

    def cache(self, texts: TextVectors, model_id: int, now: datetime) -> None:
        """Keep vectors by SHA-256 of their text; of a text that has one, the tokens it lacks."""
        if not texts.vectors:
            return
        knows_halfvec(self.connection)
        self.run(
            "embedding.cache",
            hashes=list(texts.vectors),
            vectors=halfvecs(texts.vectors.values()),
            tokens=[texts.tokens.get(digest) for digest in texts.vectors],
            model_id=model_id,
            now=now,
        )

    def add(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> set[UUID]:
        """Store the vectors of nodes that have none, and return which those are.

        What holds the ledger's head has no business with these rows, so it need not be held.
        """
        if not rows:
            return set()
        added = self._run("embedding.add", rows, model_id, position)
        stored = Counter(node_id for node_id, _ in added)
        return {row.node_id for row in rows if stored[row.node_id] == len(row.vectors)}

    def settle(self, node_ids: Collection[UUID], model_id: int) -> bool:
        """Let added vectors follow their nodes, which may have changed before the head was held.

        Return whether all the nodes are there still.
        """
        unique = set(node_ids)
        return self.value("embedding.settle", ids=list(unique), model_id=model_id) == len(unique)

    def store(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> None:
        """Replace the nodes' vectors, unless newer ones are stored."""
        if not rows:
            return
        self._run("embedding.store", rows, model_id, position)
        self.own(rows, model_id)
        self.run(
            "embedding.trim",
            ids=[row.node_id for row in rows],
            counts=[len(row.vectors) for row in rows],
            model_id=model_id,
            position=position,
        )

    def own(self, rows: Sequence[NewEmbedding], model_id: int) -> None:
        """Let the cached vectors of the nodes' own texts go when the nodes do."""
        owned = [
            (window, row.node_id) for row in rows if row.recipe for window in row.recipe.windows
        ]
        self.run(
            "embedding.own_cached",
            hashes=[digest for digest, _ in owned],
            ids=[node_id for _, node_id in owned],
            model_id=model_id,
        )

    def _run(
        self, name: str, rows: Sequence[NewEmbedding], model_id: int, position: int
    ) -> Cursor[Any]:
        knows_halfvec(self.connection)
        flat = [
            (row.node_id, at, vector, tokens)
            for row in rows
            for at, (vector, tokens) in enumerate(zip_longest(row.vectors, row.tokens))
        ]
        return self.run(
            name,
            ids=[node_id for node_id, *_ in flat],
            ordinals=[at for _, at, *_ in flat],
            vectors=halfvecs(vector for *_, vector, _ in flat),
            tokens=[tokens for *_, tokens in flat],
            model_id=model_id,
            position=position,
        )

    def similar(
        self, embeddings: Sequence[NewEmbedding], model_id: int, *, minimum: float, limit: int
    ) -> Sequence[SimilarNode]:
        """Return the nodes of a node's own scope and agents among those nearest to each vector.

        At least the `limit` nearest are looked at; `minimum` is the cosine they reach at least. A
        node given by several vectors may find another one several times.
        """
        knows_halfvec(self.connection)
        flat = [(row.node_id, vector) for row in embeddings for vector in row.vectors]
        return self.all_of(
            record(SimilarNode),
            "embedding.similar",
            ids=[node_id for node_id, _ in flat],
            vectors=halfvecs(vector for _, vector in flat),
            model_id=model_id,
            minimum=minimum,
            wanted=limit,
        )

    def of_workspace(self, model_id: int) -> tuple[list[UUID], list[Vectors]]:
        """Return the ids and vectors of all nodes, a text's first window each; for exact search."""
        knows_halfvec(self.connection)
        rows = self.run_binary("embedding.of_workspace", model_id=model_id).fetchall()
        vectors = [vector.to_numpy().astype("float32") for _, vector in rows]
        return [node_id for node_id, _ in rows], vectors


class PostgresGraphState(Store):
    """What the graph knows of nodes already."""

    def outgoing(self, node_ids: Collection[UUID]) -> Sequence[Outgoing]:
        """Return the open REFERENCES, temporal FOLLOWS and CAUSED_BY edges from the nodes."""
        return self.all_of(record(Outgoing), "enrichment.outgoing", ids=list(node_ids))

    def likenesses(self, node_ids: Collection[UUID]) -> Sequence[Likeness]:
        """Return the open SIMILAR_TO edges at the nodes, whichever end."""
        return self.all_of(record(Likeness), "enrichment.likenesses", ids=list(node_ids))

    def audiences(
        self, node_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, tuple[str, ...] | None]]:
        """Return scope and agents of those of the nodes that are there to be seen."""
        if not node_ids:
            return {}
        audiences = self.all_of(record(_audience), "enrichment.audiences", ids=list(node_ids))
        return dict(audiences)

    def before_in_trace(self, event_ids: Collection[UUID]) -> Sequence[TraceStep]:
        """Return what came just before each event in its trace, if anything did."""
        return self.all_of(record(TraceStep), "enrichment.before_in_trace", ids=list(event_ids))


def _earlier(**row: Any) -> EnrichableNode:
    return EnrichableNode(**row, label=Label.MESSAGE, context=())


def _enrichable(
    *, before_id: UUID | None, before_at: datetime | None, **row: Any
) -> EnrichableNode:
    before = Before(id=before_id, occurred_at=before_at) if before_id and before_at else None
    return EnrichableNode(before=before, **row)


def _audience(
    *, id: UUID, scope: str, agents: tuple[str, ...] | None
) -> tuple[UUID, tuple[str, tuple[str, ...] | None]]:
    return id, (scope, agents)
