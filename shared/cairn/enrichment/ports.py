"""What the embed stage reads and asks of the stores. Records and contracts; no rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cairn.writing.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping, Sequence, Set
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.writing.ports import OutboxRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The message before another one in its session."""

    id: UUID
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichableNode:
    """A node as the embed stage needs it; `context` are the texts of the messages before it.

    `metadata` is empty but for events, whose tool, status and payload stand there. No `keywords`
    yet means that nothing was derived of it before.
    """

    id: UUID
    label: str
    text: str
    context: tuple[str, ...]
    scope: str
    agents: tuple[str, ...] | None
    data_subjects: tuple[UUID, ...]
    occurred_at: datetime
    kind: str | None = None
    client_id: str = "global"
    source_agent: str | None = None
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    document_id: UUID | None = None
    ordinal: int | None = None
    importance: int = 5
    keywords: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    before: Before | None = None

    @property
    def audience(self) -> tuple[str, tuple[str, ...] | None]:
        """Return who may see it: its scope and the agents it is tagged for."""
        return self.scope, self.agents


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """SHA-256 of the texts whose cached vectors make a node's: its windows, and what came before.

    Each window's vector is pooled with all of `context` (`embedding.pooling`), where there is any.
    """

    windows: tuple[bytes, ...]
    context: tuple[bytes, ...]

    def names_any(self, hashes: Container[bytes]) -> bool:
        """Return whether a text of one of these hashes is in it."""
        return any(one in hashes for one in (*self.windows, *self.context))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEmbedding:
    """The vectors of one node: a row a window of its text.

    `recipe` says what they were made of, for the entry that a rebuild reads.
    """

    node_id: UUID
    vectors: Sequence[Vectors]
    recipe: Recipe | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """An open edge from a node: what it refers to (with the role), follows or came of."""

    id: UUID
    relation: str
    source_id: UUID
    target_id: UUID
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """A pair of nodes and the cosine of their vectors; `edge_id` when it is stored already."""

    source_id: UUID
    target_id: UUID
    score: float
    edge_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A stored node found like `node_id`, with its place in its document or session."""

    node_id: UUID
    other_id: UUID
    score: float
    document_id: UUID | None
    ordinal: int | None
    session_id: str | None
    sequence: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceStep:
    """The event just before another one in its trace, of the same audience."""

    node_id: UUID
    before_id: UUID
    type: str
    tool_name: str | None


class EmbeddingStore(Protocol):
    """Vectors of nodes and the cache of vectors by text."""

    def enrichable(self, node_ids: Collection[UUID]) -> Sequence[EnrichableNode]:
        """Return those of the nodes that are to be found (active, provisional, superseded)."""
        ...

    def cached(self, hashes: Collection[bytes], model_id: int) -> Mapping[bytes, Vectors]:
        """Return the cached vectors by SHA-256 of their text."""
        ...

    def cache(self, vectors: Mapping[bytes, Vectors], model_id: int, now: datetime) -> None:
        """Keep vectors by SHA-256 of their text."""
        ...

    def add(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> Set[UUID]:
        """Store the vectors of nodes that have none, and return which those are.

        What holds the ledger's head has no business with these rows, so it need not be held.
        """
        ...

    def settle(self, node_ids: Collection[UUID], model_id: int) -> bool:
        """Under the head, let added vectors follow what their nodes have become meanwhile.

        Return whether all the nodes are there still.
        """
        ...

    def own(self, rows: Sequence[NewEmbedding], model_id: int) -> None:
        """Let the cached vectors of the nodes' own texts go when the nodes do."""
        ...

    def store(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> None:
        """Replace the nodes' vectors, unless newer ones (a higher position) are stored."""
        ...

    def similar(
        self, asked: Sequence[NewEmbedding], model_id: int, *, minimum: float, wanted: int
    ) -> Sequence[Found]:
        """Return the nodes of a node's own scope and agents among those nearest to each vector.

        At least the `wanted` nearest are looked at; `minimum` is the cosine they reach at least. A
        node given by several vectors may find another one several times.
        """
        ...


class GraphState(Protocol):
    """What the graph knows of nodes already."""

    def outgoing(self, node_ids: Collection[UUID]) -> Sequence[Outgoing]:
        """Return the open REFERENCES, temporal FOLLOWS and CAUSED_BY edges from the nodes."""
        ...

    def likenesses(self, node_ids: Collection[UUID]) -> Sequence[Likeness]:
        """Return the open SIMILAR_TO edges at the nodes, whichever end."""
        ...

    def audiences(
        self, node_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, tuple[str, ...] | None]]:
        """Return scope and agents of those of the nodes that are there to be seen."""
        ...

    def before_in_trace(self, event_ids: Collection[UUID]) -> Sequence[TraceStep]:
        """Return what came just before each event in its trace, if anything did."""
        ...


class AliasReader(Protocol):
    """Other names of entities."""

    def aliases(self, scope: str, agents: Collection[str] | None) -> Mapping[str, tuple[str, str]]:
        """Return canonical name and type by casefolded alias, of exactly this audience."""
        ...


class OutboxQueue(Protocol):
    """The part of the outbox the embed stage works off."""

    def find(self, ids: Collection[UUID]) -> Sequence[OutboxRow]:
        """Return the rows still unfinished among these."""
        ...

    def find_batch(self, reference: UUID, batch: int) -> OutboxRow | None:
        """Return one batch of an ingestion, None when it is done."""
        ...

    def done(self, ids: Collection[UUID]) -> None:
        """Remove finished rows."""
        ...

    def failed(self, ids: Collection[UUID], error: str) -> None:
        """Keep why rows failed; they stay to be tried again."""
        ...


class EnrichStores(WriteStores, Protocol):
    """What enriching needs of a transaction."""

    @property
    def embeddings(self) -> EmbeddingStore: ...
    @property
    def aliases(self) -> AliasReader: ...
    @property
    def graph_state(self) -> GraphState: ...
    @property
    def queue(self) -> OutboxQueue: ...
