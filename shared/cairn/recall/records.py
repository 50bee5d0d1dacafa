"""What travels between the legs, the reader and the ranking. Values only; storage fills them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from cairn.graph.node import MemoryFields


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a result must satisfy, besides what the principal may see.

    An empty tuple or None means any. `kinds` are memory kinds (event, fact, decision, status),
    `labels` node labels. `scopes` narrows the principal's own scopes and never widens them.
    `occurred_from` is inclusive, `occurred_to` exclusive.

    Time: with `valid_at` a node counts when valid_from <= valid_at < coalesce(valid_to, infinity),
    whatever its state among active and superseded. Without it only active and provisional nodes
    count, superseded ones too with `include_superseded`. With `as_of_position` all of this is
    judged on the versions that held at that ledger position: from_position <= as_of_position and
    (to_position is null or as_of_position < to_position), scanned exactly.

    `language` (ISO 639-1, None for unknown) excludes nothing: it is that of the question, and
    decides which forms of its words are looked for besides the English ones.

    `namespace` is one exactly, `namespace_prefix` one and those below it; `matching` is an SQL/JSON
    path predicate over the metadata. With any of them only memories count.
    """

    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    client_id: str | None = None
    scopes: tuple[str, ...] = ()
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    valid_at: datetime | None = None
    as_of_position: int | None = None
    include_superseded: bool = False
    language: str | None = None
    namespace: str | None = None
    namespace_prefix: str | None = None
    matching: str | None = None

    @property
    def of_memories(self) -> bool:
        """Whether only memories are asked for, by their namespace or their metadata."""
        return any((self.namespace, self.namespace_prefix, self.matching))


class Candidate(NamedTuple):
    """A node a leg found. `score` is the leg's own: cosine in [-1, 1], or a text rank >= 0."""

    node_id: UUID
    score: float


class Sketch(NamedTuple):
    """What ranking needs of a candidate, and no more: most candidates are never shown.

    A tuple, because hundreds are read a search. The order of fields is the order of columns.
    """

    id: UUID
    kind: str | None
    text: str
    position: int
    occurred_at: datetime
    recorded_at: datetime
    session_id: str | None
    document_id: UUID | None
    source_agent: str | None
    subject: str | None
    canonical_name: str | None
    confidence: float
    access_count: int
    last_accessed_at: datetime | None
    label: str = "Memory"
    slug: str | None = None
    content_hash: str = ""
    client_id: str = "global"
    backlink_count: int = 0
    compiled_truth: bool = False  # whether there is one
    parent_id: UUID | None = None
    state: str = "active"
    valid_to: datetime | None = None
    pinned: bool = False
    replaced_by: UUID | None = None  # of a message: what holds now instead of all it stated


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNode(MemoryFields):
    """A node as its reader sees it, read under row level security. Names are the column names.

    `position` is the ledger position of the entry `entry_id` that made the node. `importance` is
    1 to 10. `compiled_truth` says only whether there is one.
    """

    id: UUID
    label: str
    text: str
    state: str
    entry_id: UUID
    position: int
    occurred_at: datetime
    recorded_at: datetime
    valid_from: datetime
    kind: str | None = None
    title: str | None = None
    summary: str | None = None
    canonical_name: str | None = None
    slug: str | None = None
    content_hash: str = ""
    scope: str = "admin"
    agents: tuple[str, ...] = ()
    client_id: str = "global"
    source_agent: str | None = None
    observation_count: int = 0
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    importance: int = 5
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    document_id: UUID | None = None
    parent_id: UUID | None = None
    ordinal: int | None = None
    source_uri: str | None = None
    headings: tuple[str, ...] = ()
    line_from: int | None = None
    line_to: int | None = None
    page_from: int | None = None
    page_to: int | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    confidence: float = 1.0
    access_count: int = 0
    last_accessed_at: datetime | None = None
    backlink_count: int = 0
    compiled_truth: bool = False
    valid_to: datetime | None = None
    keywords: tuple[str, ...] = ()
    pinned: bool = False
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourText:
    """One message or chunk beside a result."""

    node_id: UUID
    text: str
    occurred_at: datetime
    sequence: int | None = None
    ordinal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """What stands before and after a result in its session or document, both in reading order."""

    before: tuple[NeighbourText, ...] = ()
    after: tuple[NeighbourText, ...] = ()


class ScoredNode(NamedTuple):
    """A candidate that was scored: what its score is made of, and how ties are broken."""

    node_id: UUID
    position: int
    signals: Mapping[str, float]  # additive ones and factors, by name; see `explain`


class Explored(NamedTuple):
    """An edge the graph leg walked."""

    source_id: UUID
    target_id: UUID
    view: str
    relation: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRun:
    """What a search considered and returned; accesses, replay and explanations are made from it.

    `candidates` maps a leg's name to its ranked (node id, score). `recipe_used` is the recipe as
    the workspace, the request and the route left it. `scored` has every candidate whose signals
    were computed, best first before duplicates went; `reranked` what a reranker said of the best,
    `merged` which ids a kept one stands for. `counts_as_access` is False for searches in the past
    (`as_of`), which never refresh a memory. `duration_ms` is until the ranking was done, and
    `stages_ms` what each stage took of it. Neither the query's text nor any other text is kept;
    `request_digest` tells equal requests.
    """

    id: UUID
    workspace_id: UUID
    principal_id: UUID
    recipe: str
    started_at: datetime
    returned: tuple[UUID, ...]
    candidates: Mapping[str, tuple[tuple[UUID, float], ...]]
    degraded: tuple[str, ...]
    duration_ms: float
    counts_as_access: bool
    request_digest: bytes = b""
    recipe_used: Mapping[str, Any] = field(default_factory=dict[str, Any])
    wanted: int = 10
    retrieval_class: str = "general"
    intents: Mapping[str, float] = field(default_factory=dict[str, float])
    seeds: tuple[UUID, ...] = ()
    scored: tuple[ScoredNode, ...] = ()
    reranked: Mapping[UUID, float] = field(default_factory=dict[UUID, float])
    merged: Mapping[UUID, tuple[UUID, ...]] = field(default_factory=dict[UUID, "tuple[UUID, ...]"])
    edges: tuple[Explored, ...] = ()
    proactive: tuple[UUID, ...] = ()
    as_of_position: int | None = None
    session_id: str | None = None
    cached_from: UUID | None = None  # the search whose answer was given again
    stages_ms: Mapping[str, float] = field(default_factory=dict[str, float])
