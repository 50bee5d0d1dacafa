"""Vectors in PostgreSQL. Apart from the other stores, because it alone loads numpy."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.halfvec import halfvecs, knows_halfvec
from cairn.adapters.postgres.store import Store, record
from cairn.enrichment.ports import (
    Before,
    EnrichableNode,
    Found,
    Likeness,
    Outgoing,
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
        asked = {"ids": list(node_ids), "first": FIRST_CHUNKS, "beginning": BEGINNING}
        return [_enrichable(row) for row in self.run("embedding.enrichable", **asked)]

    def silent(self, conversation_ids: Collection[UUID]) -> set[UUID]:
        """Return those of the conversations from which no memories are to be drawn."""
        rows = self.run("embedding.silent", ids=list(conversation_ids))
        return {one for (one,) in rows}

    def said_before(
        self, messages: Sequence[EnrichableNode], *, limit: int
    ) -> Sequence[EnrichableNode]:
        """Return the last messages of the conversations before the first of these in each."""
        first: dict[UUID, int] = {}
        for message in messages:
            if message.parent_id is not None and message.sequence is not None:
                place = first.get(message.parent_id, message.sequence)
                first[message.parent_id] = min(place, message.sequence)
        asked = {"ids": list(first), "sequences": list(first.values()), "limit": limit}
        return self.all_of(record(_earlier), "embedding.said_before", **asked)

    def drawn(self, model_id: int, *, limit: int) -> Sequence[UUID]:
        """Return nodes that have a vector of the model, drawn at random."""
        rows = self.run("embedding.drawn", model_id=model_id, limit=limit)
        return [node_id for (node_id,) in rows]

    def following(self, model_id: int, *, after: UUID, limit: int) -> Sequence[UUID]:
        """Return the next such nodes by id."""
        rows = self.run("embedding.following", model_id=model_id, after=after, limit=limit)
        return [node_id for (node_id,) in rows]

    def cached(self, hashes: Collection[bytes], model_id: int) -> TextVectors:
        """Return the cached vectors by SHA-256 of their text."""
        knows_halfvec(self.connection)
        asked = self.run_binary("embedding.cached", hashes=list(hashes), model_id=model_id)
        rows = asked.fetchall()
        return TextVectors(
            {text_hash: vector.to_numpy().astype("float32") for text_hash, vector, _ in rows},
            {text_hash: tokens for text_hash, _, tokens in rows if tokens is not None},
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
            tokens=[texts.tokens.get(one) for one in texts.vectors],
            model_id=model_id,
            now=now,
        )

    def add(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> set[UUID]:
        """Store the vectors of nodes that have none, and return which those are.

        What holds the ledger's head has no business with these rows, so it need not be held.
        """
        if not rows:
            return set()
        found = self._run("embedding.add", rows, model_id, position)
        stored = Counter(node_id for node_id, _ in found)
        return {row.node_id for row in rows if stored[row.node_id] == len(row.vectors)}

    def settle(self, node_ids: Collection[UUID], model_id: int) -> bool:
        """Let added vectors follow their nodes, which may have changed before the head was held.

        Return whether all the nodes are there still.
        """
        wanted = set(node_ids)
        found = self.run("embedding.settle", ids=list(wanted), model_id=model_id).fetchone()
        return found is not None and found[0] == len(wanted)

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
            hashes=[one for one, _ in owned],
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
        self, asked: Sequence[NewEmbedding], model_id: int, *, minimum: float, wanted: int
    ) -> Sequence[Found]:
        """Return the nodes of a node's own scope and agents among those nearest to each vector.

        At least the `wanted` nearest are looked at; `minimum` is the cosine they reach at least. A
        node given by several vectors may find another one several times.
        """
        knows_halfvec(self.connection)
        flat = [(row.node_id, vector) for row in asked for vector in row.vectors]
        rows = self.run(
            "embedding.similar",
            ids=[node_id for node_id, _ in flat],
            vectors=halfvecs(vector for _, vector in flat),
            model_id=model_id,
            minimum=minimum,
            wanted=wanted,
        )
        return [
            Found(
                node_id=node_id,
                other_id=other_id,
                score=score,
                document_id=document_id,
                ordinal=ordinal,
                session_id=session_id,
                sequence=sequence,
            )
            for node_id, other_id, score, document_id, ordinal, session_id, sequence in rows
        ]

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
        return [
            Outgoing(id=edge_id, relation=relation, source_id=source, target_id=target, role=role)
            for edge_id, relation, source, target, role in self.run(
                "enrichment.outgoing", ids=list(node_ids)
            )
        ]

    def likenesses(self, node_ids: Collection[UUID]) -> Sequence[Likeness]:
        """Return the open SIMILAR_TO edges at the nodes, whichever end."""
        return [
            Likeness(source_id=source, target_id=target, score=score, edge_id=edge_id)
            for source, target, score, edge_id in self.run(
                "enrichment.likenesses", ids=list(node_ids)
            )
        ]

    def audiences(
        self, node_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, tuple[str, ...] | None]]:
        """Return scope and agents of those of the nodes that are there to be seen."""
        if not node_ids:
            return {}
        rows = self.run("enrichment.audiences", ids=list(node_ids))
        return {node_id: (scope, _tuple(agents)) for node_id, scope, agents in rows}

    def before_in_trace(self, event_ids: Collection[UUID]) -> Sequence[TraceStep]:
        """Return what came just before each event in its trace, if anything did."""
        return [
            TraceStep(node_id=node_id, before_id=before_id, type=type_, tool_name=tool_name)
            for node_id, before_id, type_, tool_name in self.run(
                "enrichment.before_in_trace", ids=list(event_ids)
            )
        ]


def _earlier(**row: Any) -> EnrichableNode:
    row["agents"], row["data_subjects"] = _tuple(row["agents"]), tuple(row["data_subjects"])
    return EnrichableNode(**row, label=Label.MESSAGE, context=())


def _enrichable(row: Sequence[Any]) -> EnrichableNode:
    node_id, label, text, context, scope, agents, subjects, occurred_at, *others = row
    kind, client_id, source_agent, session_id, sequence, trace_id, parent_id, *others = others
    document_id, ordinal, importance, keywords, metadata, wholes, *others = others
    consolidated, conversation_id, before_id, before_at = others
    return EnrichableNode(
        id=node_id,
        label=label,
        text=text,
        context=tuple(context),
        scope=scope,
        agents=_tuple(agents),
        data_subjects=tuple(subjects),
        occurred_at=occurred_at,
        kind=kind,
        client_id=client_id,
        source_agent=source_agent,
        session_id=session_id,
        sequence=sequence,
        trace_id=trace_id,
        parent_id=parent_id,
        document_id=document_id,
        ordinal=ordinal,
        importance=importance,
        keywords=tuple(keywords),
        metadata=metadata,
        wholes=tuple(wholes),
        consolidated=consolidated,
        conversation_id=conversation_id,
        before=Before(id=before_id, occurred_at=before_at) if before_id else None,
    )


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values is not None else None
