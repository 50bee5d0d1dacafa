"""What answers about stored nodes look like: searches, contexts, walks of the graph, explanations.

Types for the description of the API. What is written is made in `cairn.recall`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NotRequired
from uuid import UUID

from pydantic import with_config
from typing_extensions import TypedDict

from cairn.graph.intent_weights import Intent
from cairn.graph.node import MemoryAttributes
from cairn.kernel.access import Scope
from cairn.recall.proactive import Signal
from cairn.recall.questions.facets import Order, Rule, SetRule
from cairn.recall.questions.model_calls import Source
from cairn.recall.relevance import Unjudged
from cairn.recall.walks.graph_ports import Method

RetrievalReason = Literal["direct", "proactive"]


class NodeAttributes(MemoryAttributes, total=False):
    """What is set on a node; what is not set is left out."""

    title: str
    summary: str
    canonical_name: str
    state: str
    scope: Scope
    client_id: str
    importance: int
    confidence: float
    observation_count: int
    access_count: int
    sequence: int
    ordinal: int
    source_uri: str
    line_from: int
    line_to: int
    page_from: int
    page_to: int
    document_id: UUID
    parent_id: UUID
    supersedes: UUID
    superseded_by: UUID
    valid_from: datetime
    valid_to: datetime
    superseded_at: datetime
    last_accessed_at: datetime
    keywords: list[str]
    agents: list[str]
    headings: list[str]
    metadata: dict[str, Any]


class Provenance(TypedDict):
    """The ledger entry that made a node, and who said it, when and where."""

    entry_id: UUID
    position: int
    source: Literal["ledger"]
    occurred_at: datetime | None
    recorded_at: datetime | None
    session_id: str | None
    agent_id: str | None
    trace_id: str | None


class Neighbour(TypedDict):
    """A message or chunk that stands beside a result."""

    node_id: UUID
    text: str
    occurred_at: datetime | None


class ResultContext(TypedDict):
    """What stands before and after a result in its conversation or document."""

    before: list[Neighbour]
    after: list[Neighbour]


class RelatedNode(TypedDict):
    """A node one edge away from a result."""

    node_id: UUID
    type: str
    relation: str
    view: NotRequired[str]
    direction: str
    text: NotRequired[str]
    kind: NotRequired[str]
    title: NotRequired[str]
    canonical_name: NotRequired[str]
    importance: NotRequired[int]
    occurred_at: datetime


class PathPart(TypedDict):
    """A document or a section that a result is part of."""

    node_id: UUID
    type: str
    source_uri: NotRequired[str | None]
    headings: NotRequired[list[str]]


class PersonalReason(TypedDict):
    """What is known of whom the search is for, and leads to the result."""

    relation: str
    name: NotRequired[str]
    score: float
    evidence: list[UUID]


class SearchResult(TypedDict):
    """One result. `compact` leaves out attributes and context, `fields` narrows properties."""

    node_id: UUID
    type: str
    kind: str | None
    text: NotRequired[str]
    attributes: NotRequired[NodeAttributes]
    context: NotRequired[ResultContext]
    provenance: Provenance
    scores: dict[str, float]
    retrieval_reason: RetrievalReason
    validity: Literal["current", "superseded", "ended"]
    relevance: float | None
    path: NotRequired[list[PathPart]]
    proactive_signal: NotRequired[Signal]
    because: NotRequired[UUID | None]
    personal: NotRequired[PersonalReason]
    merged: NotRequired[list[UUID]]
    related: NotRequired[list[RelatedNode]]
    related_dropped: NotRequired[int]


class LegReport(TypedDict):
    """How many candidates a leg of a search found, how long it took, and why it failed."""

    found: int
    ms: float
    failure: NotRequired[str]


class ModelCallReport(TypedDict):
    """A model that was asked on the way; `provider` and `model` are null when none answered.

    `cost_usd` is null where no price is known.
    """

    purpose: str
    provider: str | None
    model: str | None
    ms: float
    cost_usd: float | None
    failure: str | None
    cached: bool


class GateReport(TypedDict):
    """What the gate made of the question."""

    search: bool
    rewritten: bool
    query: str | None
    reason: str
    source: str
    language: str | None
    complexity: str
    topic_change: bool | None
    topic_change_confidence: float | None


class ScoringWeights(TypedDict):
    """What the final score was made with."""

    legs: dict[str, float]
    signals: dict[str, float]
    recency: float
    access: float
    compiled_truth: float
    backlinks: float
    relevance: float


class SearchCapacity(TypedDict):
    """The bounds of a search, and what of them was used."""

    limit: int
    max_limit: int
    max_nodes: int
    used_nodes: int
    max_chars: int
    expand_hops: int


class DroppedCounts(TypedDict):
    """How much was left out because the answer would have been too large."""

    related: int
    context: int
    results: int


class FieldsReport(TypedDict):
    """What `fields` asked for, and what it left."""

    asked: list[str]
    returned_properties: int
    dropped_properties: int


class RelevanceReport(TypedDict):
    """What results were held to; `unjudged` says why nothing could be left out."""

    best: float | None
    least: float | None
    enough: float | None
    left_out: int
    unjudged: Unjudged | None
    calibration: str | None
    estimated: bool


class FacetReport(TypedDict):
    """A part of the question and the result that speaks of it; `whole` with what all share."""

    question: str
    order: Order | None
    node_id: UUID | None
    whole: bool
    moved: bool


class FacetsReport(TypedDict):
    """How the question was taken apart; `second_round` says that parts were searched for."""

    rule: Rule
    source: Source
    second_round: bool
    facets: list[FacetReport]


class SetMember(TypedDict):
    """A node of a set, and when it was."""

    node_id: UUID
    occurred_at: datetime


class SetReport(TypedDict):
    """All that was found of what the question asks about, the earliest first.

    `rule` decided by the words in `said`; `found` counts memories, not what happened.
    """

    rule: SetRule
    said: str
    found: int
    complete: bool
    members: list[SetMember]


class SearchMeta(TypedDict):
    """What happened on the way to the results."""

    search_id: UUID
    query_ms: float
    nodes_returned: int
    truncated: bool
    recipe: str
    mode: str
    legs: dict[str, LegReport]
    stages: dict[str, int]
    degraded: list[str]
    as_of_position: int | None
    stages_ms: dict[str, float]
    embedder: str
    cost_usd: float
    models: list[ModelCallReport]
    seed_nodes: list[str]
    retrieval_method: Method | None
    inferred_intents: Mapping[Intent, float]
    intent_override: Intent | None
    proactive_nodes_count: int
    retrieval_class: str
    gate: GateReport | None
    scoring_weights: ScoringWeights
    capacity: SearchCapacity
    dropped: DroppedCounts
    answerable: bool | None
    relevance: RelevanceReport | None
    facets: FacetsReport | None
    set: SetReport | None
    merged: int
    cached: UUID | None
    fields: NotRequired[FieldsReport]


class SearchAnswer(TypedDict):
    """Results in rank order and what happened. `text` holds them in the format of that name."""

    results: list[SearchResult]
    meta: SearchMeta
    text: NotRequired[str]


class ContextCitation(TypedDict):
    """One source of a context, and what screening says of its text."""

    cite: str
    node_id: UUID
    type: str
    score: float
    screening: Literal["clean", "suspicious", "discard"]
    patterns: list[str]


class ContextAnswer(TypedDict):
    """A block of text for a prompt, with its sources."""

    context: str
    tokens: int
    max_tokens: int
    left_out: int
    citations: list[ContextCitation]
    meta: SearchMeta


class WalkedNode(TypedDict):
    """A node of a walk, with its scores and why it is there."""

    node_id: UUID
    type: str
    kind: str | None
    text: str
    attributes: NodeAttributes
    provenance: Provenance
    scores: dict[str, float]
    retrieval_reason: RetrievalReason
    depth: NotRequired[int]
    via: NotRequired[UUID]
    proactive_signal: NotRequired[Signal]
    because: NotRequired[UUID | None]


class WalkedEdge(TypedDict):
    """An edge of a walk; what it does not say is left out."""

    edge_id: UUID
    source_id: UUID
    target_id: UUID
    relation: str
    view: str
    weight: NotRequired[float]
    score: NotRequired[float]
    mechanism: NotRequired[str]
    role: NotRequired[str]


class SubgraphWeights(TypedDict):
    """What the scores of a subgraph were made with."""

    hop_decay: float
    minimum_confidence: float
    second_opinion: float


class WalkLimits(TypedDict):
    """What a walk may be asked for at most."""

    max_nodes: int
    max_depth: int
    timeout_ms: int


class SubgraphCapacity(TypedDict):
    """The bounds of a walk, and what of them was used."""

    max_nodes: int
    used_nodes: int
    max_depth: int
    timeout_ms: int
    explored_nodes: int
    limits: WalkLimits


class SubgraphMeta(TypedDict):
    """What was understood of the question, and what the walk did."""

    query_ms: float
    nodes_returned: int
    edges_returned: int
    truncated: bool
    retrieval_method: Method
    inferred_intents: Mapping[Intent, float]
    intent_override: Intent | None
    seed_nodes: list[str]
    proactive_nodes_count: int
    scoring_weights: SubgraphWeights
    capacity: SubgraphCapacity
    as_of_position: int | None
    warnings: list[str]


class Subgraph(TypedDict):
    """Nodes, best first, and the edges between them."""

    nodes: list[WalkedNode]
    edges: list[WalkedEdge]
    meta: SubgraphMeta


class LineageWeights(TypedDict):
    """What the scores of a lineage were made with."""

    hop_decay: float
    relations: dict[str, float]


class LineageCapacity(TypedDict):
    """How far a lineage may go, and how many nodes it has."""

    max_depth: int
    used_nodes: int


class LineageMeta(TypedDict):
    """How a lineage was followed."""

    query_ms: float
    nodes_returned: int
    truncated: bool
    direction: str
    intent_override: Intent | None
    seed_nodes: list[UUID]
    scoring_weights: LineageWeights
    capacity: LineageCapacity
    as_of_position: int | None


class Lineage(TypedDict):
    """Where a node comes from, or what came of it: nodes, nearest first, and edges."""

    root: UUID
    nodes: list[WalkedNode]
    edges: list[WalkedEdge]
    meta: LineageMeta


@with_config(extra="allow")
class ProvDocument(TypedDict):
    """A PROV-JSON document (W3C PROV); its other members are records by kind and id."""

    prefix: dict[str, str]


class LegPlace(TypedDict):
    """Where a leg had a node, from 1, and the leg's own score."""

    rank: int
    score: float


class ExplainedResult(TypedDict):
    """Why a node is where it is: `contributions` sum to its score.

    `type` and `text` are there as far as the key may see the node now.
    """

    node_id: UUID
    rank: int | None
    score: float
    legs: dict[str, LegPlace]
    contributions: dict[str, float]
    rerank: float | None
    merged: list[UUID]
    type: NotRequired[str]
    text: NotRequired[str]


class ExploredEdge(TypedDict):
    """An edge that the graph leg walked."""

    source_id: UUID
    target_id: UUID
    view: str
    relation: str | None
    weight: float


class ExploredNode(TypedDict):
    """A node that the graph leg walked, with the beginning of its text."""

    node_id: UUID
    type: str
    text: str


class ExplainedSearch(TypedDict):
    """A search, leg by leg and signal by signal."""

    search_id: UUID
    principal_id: UUID
    asked_by: str | None
    session_id: str | None
    recipe: str
    recipe_used: dict[str, Any]
    asked_at: datetime
    retrieval_class: str
    intents: dict[str, float]
    seeds: list[UUID]
    as_of_position: int | None
    counts_as_access: bool
    cached_from: UUID | None
    duration_ms: float
    stages_ms: dict[str, float]
    degraded: list[str]
    candidates: dict[str, int]
    replayed: bool
    results: list[ExplainedResult]
    others: list[ExplainedResult]
    edges: list[ExploredEdge]
    nodes: list[ExploredNode]
