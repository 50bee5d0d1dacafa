"""Vectors and the outbox's queue side in memory, over the tables of `stores`. Not a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.adapters.postgres.memory.embeddings import BEGINNING, FIRST_CHUNKS
from cairn.enrichment.ports import (
    Before,
    EnrichableNode,
    Likeness,
    Outgoing,
    SimilarNode,
    TextVectors,
    TraceStep,
)
from cairn.graph.edge import Relation, View
from cairn.graph.node import Label, State
from cairn.memories.identity import CONTEXT_MESSAGES
from cairn.writing.ports import OutboxRow, Topic

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.embedding.port import Vectors
    from cairn.enrichment.ports import NewEmbedding
    from cairn.graph.node import Node

_PRESENT = (State.ACTIVE, State.PROVISIONAL)
_OUTGOING = {
    (View.ENTITY, Relation.REFERENCES),
    (View.TEMPORAL, Relation.FOLLOWS),
    (View.CAUSAL, Relation.CAUSED_BY),
}


@dataclass(frozen=True)
class InMemoryEmbeddings:
    """`PostgresEmbeddings` in memory."""

    tables: Tables

    def enrichable(self, node_ids: Collection[UUID]) -> Sequence[EnrichableNode]:
        """Return those of the nodes that are to be found, each with the messages before it."""
        return [
            self._enrichable(node)
            for node in self.tables.nodes.values()
            if node.id in node_ids and node.state in (*_PRESENT, State.SUPERSEDED)
        ]

    def cached(self, hashes: Collection[bytes], model_id: int) -> TextVectors:
        """Return the cached vectors by SHA-256 of their text."""
        vectors, tokens = self.tables.cached_vectors, self.tables.cached_tokens
        return TextVectors(
            {one: vectors[one, model_id] for one in hashes if (one, model_id) in vectors},
            {one: tokens[one, model_id] for one in hashes if (one, model_id) in tokens},
        )

    def cache(self, texts: TextVectors, model_id: int, now: datetime) -> None:
        """Keep vectors by SHA-256 of their text; of a text that has one, the tokens it lacks."""
        for text_hash, vector in texts.vectors.items():
            self.tables.cached_vectors.setdefault((text_hash, model_id), vector)
        for text_hash, tokens in texts.tokens.items():
            self.tables.cached_tokens.setdefault((text_hash, model_id), tokens)

    def add(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> set[UUID]:
        """Store the vectors of nodes that have none, and return which those are."""
        stored = self.tables.embeddings
        new = [row for row in rows if (row.node_id, model_id) not in stored]
        self.store(new, model_id, position)
        return {row.node_id for row in new}

    def settle(self, node_ids: Collection[UUID], model_id: int) -> bool:
        """Return whether all these nodes are there."""
        return self.tables.nodes.keys() >= set(node_ids)

    def own(self, rows: Sequence[NewEmbedding], model_id: int) -> None:
        """Do nothing: what is forgotten here is asked of its nodes."""

    def store(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> None:
        """Replace the nodes' vectors, unless newer ones are stored."""
        for row in rows:
            stored = self.tables.embeddings.get((row.node_id, model_id))
            if stored is None or stored[0] <= position:
                self.tables.embeddings[row.node_id, model_id] = (position, tuple(row.vectors))

    def similar(
        self, embeddings: Sequence[NewEmbedding], model_id: int, *, minimum: float, limit: int
    ) -> Sequence[SimilarNode]:
        """Return up to `limit` nodes near each vector, of the node's own scope and agents."""
        found: list[SimilarNode] = []
        for row in embeddings:
            node = self.tables.nodes[row.node_id]
            for vector in row.vectors:
                scored = [
                    (float(vector @ stored), other)
                    for other, stored in self._stored(node, model_id)
                ]
                near = sorted(scored, key=lambda item: -item[0])[:limit]
                found += [_found(node, other, score) for score, other in near if score >= minimum]
        return found

    def _stored(self, node: Node, model_id: int) -> list[tuple[Node, Vectors]]:
        return [
            (other, vector)
            for (other_id, model), (_, vectors) in self.tables.embeddings.items()
            if model == model_id and other_id != node.id
            for other in [self.tables.nodes[other_id]]
            if other.state in _PRESENT
            and other.label != Label.SUMMARY
            and (other.scope, other.agents) == (node.scope, node.agents)
            for vector in vectors
        ]

    def _enrichable(self, node: Node) -> EnrichableNode:
        before = self._before(node)
        return EnrichableNode(
            id=node.id,
            label=node.label,
            text=_text(node),
            context=tuple(item.text for item in before),
            scope=node.scope,
            agents=node.agents,
            data_subjects=node.data_subjects,
            occurred_at=node.occurred_at,
            kind=node.kind,
            client_id=node.client_id,
            source_agent=node.source_agent,
            session_id=node.session_id,
            sequence=node.sequence,
            trace_id=node.trace_id,
            parent_id=node.parent_id,
            document_id=node.document_id,
            ordinal=node.ordinal,
            importance=node.importance,
            keywords=node.keywords,
            metadata=node.metadata if node.label == Label.EVENT else {},
            wholes=self._wholes(node),
            before=Before(id=before[0].id, occurred_at=before[0].occurred_at) if before else None,
        )

    def _wholes(self, node: Node) -> tuple[str, ...]:
        """Return a document's title and beginning."""
        if node.label != Label.DOCUMENT:
            return ()
        chunks = [
            (item.ordinal or 0, item.text)
            for item in self.tables.nodes.values()
            if (item.label, item.document_id) == (Label.CHUNK, node.id) and item.state in _PRESENT
        ]
        whole = "\n\n".join(text for _, text in sorted(chunks)[:FIRST_CHUNKS])[:BEGINNING]
        return tuple(text for text in (node.title, whole) if text)

    def _before(self, node: Node) -> list[Node]:
        """Return up to two messages before one, the nearest first."""
        if node.label not in (Label.MEMORY, Label.MESSAGE) or node.sequence is None:
            return []
        place = (node.sequence, node.id)
        before = [
            item
            for item in self.tables.nodes.values()
            if (item.session_id, item.label) == (node.session_id, node.label)
            and (node.label == Label.MEMORY or item.parent_id == node.parent_id)
            and item.sequence is not None
            and (item.sequence, item.id) < place
            and item.state in _PRESENT
            and (item.scope, item.agents, item.data_subjects)
            == (node.scope, node.agents, node.data_subjects)
        ]
        before.sort(key=lambda item: (item.sequence or 0, item.id), reverse=True)
        return before[:CONTEXT_MESSAGES]


@dataclass(frozen=True)
class InMemoryGraphState:
    """`PostgresGraphState` in memory."""

    tables: Tables

    def outgoing(self, node_ids: Collection[UUID]) -> Sequence[Outgoing]:
        """Return the open REFERENCES, temporal FOLLOWS and CAUSED_BY edges from the nodes."""
        return [
            Outgoing(
                id=edge.id,
                relation=edge.relation,
                source_id=edge.source_id,
                target_id=edge.target_id,
                role=edge.properties.get("role"),
            )
            for edge in self.tables.edges.values()
            if edge.source_id in node_ids and (edge.view, edge.relation) in _OUTGOING
        ]

    def likenesses(self, node_ids: Collection[UUID]) -> Sequence[Likeness]:
        """Return the open SIMILAR_TO edges at the nodes, whichever end."""
        return [
            Likeness(
                source_id=edge.source_id,
                target_id=edge.target_id,
                score=edge.weight,
                edge_id=edge.id,
            )
            for edge in self.tables.edges.values()
            if edge.relation == Relation.SIMILAR_TO
            and (edge.source_id in node_ids or edge.target_id in node_ids)
        ]

    def audiences(
        self, node_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, tuple[str, ...] | None]]:
        """Return scope and agents of those of the nodes that are there to be seen."""
        return {
            node.id: (node.scope, node.agents)
            for node in self.tables.nodes.values()
            if node.id in node_ids and node.state not in (State.DELETED, State.QUARANTINED)
        }

    def before_in_trace(self, event_ids: Collection[UUID]) -> Sequence[TraceStep]:
        """Return what came just before each event in its trace, if anything did."""
        steps: list[TraceStep] = []
        for node in [node for node in self.tables.nodes.values() if node.id in event_ids]:
            before = [item for item in self.tables.nodes.values() if _is_before(item, node)]
            if before:
                last = max(before, key=_place)
                steps.append(
                    TraceStep(
                        node_id=node.id,
                        before_id=last.id,
                        type=last.kind or "",
                        tool_name=last.metadata.get("tool_name"),
                    )
                )
        return steps


@dataclass(frozen=True)
class InMemoryOutbox:
    """`PostgresOutbox` in memory."""

    tables: Tables

    def add(self, row: OutboxRow, now: datetime) -> None:
        """Add a row that is about to be sent."""
        self.tables.outbox[row.id] = row

    def unsent(self, ids: Collection[UUID]) -> None:
        """Mark rows whose message could not be sent."""
        self.tables.unsent |= set(ids) & self.tables.outbox.keys()

    def find(self, ids: Collection[UUID]) -> Sequence[OutboxRow]:
        """Return the rows still unfinished among these."""
        return [item for item in self.tables.outbox.values() if item.id in ids]

    def find_batch(self, reference: UUID, batch: int) -> OutboxRow | None:
        """Return one batch of an ingestion, None when it is done."""
        for item in self.tables.outbox.values():
            if (item.topic, item.reference, item.batch) == (Topic.EMBED, reference, batch):
                return item
        return None

    def done(self, ids: Collection[UUID]) -> None:
        """Remove finished rows."""
        for id_ in ids:
            self.tables.outbox.pop(id_, None)
            self.tables.failed.pop(id_, None)

    def failed(self, ids: Collection[UUID], error: str) -> None:
        """Keep why rows failed; they stay to be tried again."""
        self.tables.failed.update(dict.fromkeys(ids, error))


def _found(node: Node, other: Node, score: float) -> SimilarNode:
    return SimilarNode(
        node_id=node.id,
        other_id=other.id,
        score=score,
        document_id=other.document_id,
        ordinal=other.ordinal,
        session_id=other.session_id,
        sequence=other.sequence,
    )


def _is_before(one: Node, node: Node) -> bool:
    return (
        one.label == Label.EVENT
        and one.trace_id == node.trace_id
        and one.state in _PRESENT
        and (one.scope, one.agents) == (node.scope, node.agents)
        and _place(one) < _place(node)
    )


def _place(node: Node) -> tuple[datetime, int, UUID]:
    return (node.occurred_at, -1 if node.sequence is None else node.sequence, node.id)


def _text(node: Node) -> str:
    return f"{node.title}\n\n{node.text}" if node.label == Label.REPORT else node.text
