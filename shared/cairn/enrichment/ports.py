"""What the embed stage reads and asks of the stores. Records and contracts; no rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The message before another one in its session."""

    id: UUID
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichableNode:
    """A node as the embed stage needs it; `context` are the texts of the messages before it.

    `wholes` are a document's title and beginning, which get a vector each before its text does.
    `metadata` is empty but for events, whose tool, status and payload stand there, messages, and
    what was drawn from them. No `keywords` yet means that nothing was derived of it before;
    `consolidated`, of a message, that its memories were drawn. `conversation_id` is a memory's that
    was drawn from one.
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
    wholes: tuple[str, ...] = ()
    consolidated: bool = False
    conversation_id: UUID | None = None
    before: Before | None = None

    @property
    def audience(self) -> tuple[str, tuple[str, ...] | None]:
        """Return who may see it: its scope and the agents it is tagged for."""
        return self.scope, self.agents


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A memory that was drawn from something its speaker said before."""

    id: UUID
    text: str
    message_id: UUID
    conversation_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """SHA-256 of the texts whose cached vectors make a node's: its windows, and what came before.

    Each window's vector is pooled with all of `context` (`embedding.pooling`), where there is any.
    """

    windows: tuple[bytes, ...]
    context: tuple[bytes, ...]

    def names_any(self, hashes: Container[bytes]) -> bool:
        """Return whether a text of one of these hashes is in it."""
        return any(window in hashes for window in (*self.windows, *self.context))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEmbedding:
    """The vectors of one node: a row a window of its text.

    `recipe` says what they were made of, for the entry that a rebuild reads. `tokens` are the token
    vectors of each window (`TokenStates.signs`), None of one whose model gives none; or empty.
    """

    node_id: UUID
    vectors: Sequence[Vectors]
    recipe: Recipe | None = None
    tokens: Sequence[bytes | None] = ()


@dataclass(frozen=True, slots=True)
class TextVectors:
    """What a model made of texts, by their SHA-256: a vector each, and tokens if it gives any."""

    vectors: Mapping[bytes, Vectors] = field(default_factory=dict[bytes, "Vectors"])
    tokens: Mapping[bytes, bytes] = field(default_factory=dict[bytes, bytes])

    def __contains__(self, text_hash: object) -> bool:
        return text_hash in self.vectors

    def __or__(self, other: TextVectors) -> TextVectors:
        """Return both; of a text that both have, the vector and the tokens of `other`."""
        return TextVectors({**self.vectors, **other.vectors}, {**self.tokens, **other.tokens})

    def only(self, hashes: Container[bytes]) -> TextVectors:
        """Return those of these texts."""
        return TextVectors(
            {digest: vector for digest, vector in self.vectors.items() if digest in hashes},
            {digest: tokens for digest, tokens in self.tokens.items() if digest in hashes},
        )


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
class SimilarNode:
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
