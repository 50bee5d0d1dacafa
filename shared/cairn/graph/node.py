"""The row every findable thing becomes, and the changes a row may undergo. Not a query result."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from typing_extensions import TypedDict


class State(StrEnum):
    """The life of a node.

    provisional -> active; active -> superseded | expired | archived | deleted | quarantined;
    archived -> active (used again); quarantined -> the state it had (taint lifted);
    deleted -> active (its source was ingested again); superseded -> active (an entity whose merge
    is undone; a memory whose successor was tainted or forgotten). Expired is final.
    """

    PROVISIONAL = "provisional"  # seen, not yet confirmed; found, and marked so
    ACTIVE = "active"  # found
    SUPERSEDED = "superseded"  # replaced; found on request and by valid_at
    EXPIRED = "expired"  # an event past its time to live
    ARCHIVED = "archived"  # unused for long; kept for audits
    DELETED = "deleted"  # soft-deleted; leaves the projections after 7 days
    QUARANTINED = "quarantined"  # tainted; found by nobody until lifted


class Label(StrEnum):
    """The labels Cairn itself writes; others may be any capitalised word."""

    MEMORY = "Memory"
    DOCUMENT = "Document"
    SECTION = "Section"
    CHUNK = "Chunk"
    EVENT = "Event"  # what an agent did; `kind` is its dot-namespaced type
    ENTITY = "Entity"  # who or what is spoken of; `kind` is its type, `canonical_name` its name
    SUMMARY = "Summary"
    REPORT = "Report"
    CONVERSATION = "Conversation"
    MESSAGE = "Message"
    TASK = "Task"  # a longer piece of work; `kind` is its sort, metadata.status how it stands
    STEP_RESULT = "StepResult"  # what came of a workflow's step; it has no text, so none finds it
    MEMBER = "Member"  # a person of networks as they want to be seen; `client_id` is who
    PREMISE = "Premise"  # one thing a member says of themselves
    INTENT = "Intent"  # what a member seeks or offers; `kind` is its side


BOOKKEEPING = (
    Label.CONVERSATION,
    Label.TASK,
    Label.STEP_RESULT,
    "User",
    "Ticket",
    "Investigation",
)
"""Labels of nodes that stand for records kept elsewhere: they say little and name much."""

BY_LABEL_ONLY = (*BOOKKEEPING, Label.SUMMARY)
"""Labels that a search finds only when it names them; migrations 0057 and 0058 say it in SQL."""

OF_PEOPLE = ("profile", "pattern")
"""Kinds of the Summaries that stand for what is held of a person: walks find them, no search."""

SAID_BY = ("user", "assistant")
"""Roles whose messages a search finds; those of others only when it names the label."""


class Category(StrEnum):
    """The cognitive category of a memory."""

    SEMANTIC = "semantic"  # concepts
    EPISODIC = "episodic"  # events
    PROCEDURAL = "procedural"  # how-to


class KnowledgeCategory(StrEnum):
    """The domain a memory belongs to; consolidation only ever moves one away from general."""

    BRAND = "brand"
    STRATEGY = "strategy"
    MEETING = "meeting"
    CONTENT = "content"
    TECHNICAL = "technical"
    RELATIONSHIP = "relationship"
    GENERAL = "general"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFields:
    """Plain fields of a memory: stored, found, exported and shown as they were written.

    Whatever carries a memory has them. A new one is named here, in `MemoryAttributes`, in
    `api/routes/memories.py` and in a migration.
    """

    key: str | None = None
    subject: str | None = None
    status_value: str | None = None
    category: str | None = None
    knowledge_category: str | None = None
    namespace: str | None = None  # labels with / between them


PLAIN_NAMES = tuple(field.name for field in fields(MemoryFields))

CHOICES: Mapping[str, type[StrEnum]] = {
    "category": Category,
    "knowledge_category": KnowledgeCategory,
}
"""Plain fields that have one of some values; the others are names."""

UNLESS_GIVEN = {"knowledge_category": KnowledgeCategory.GENERAL}
"""What a writer means that leaves a plain field out; the category follows from the kind."""


class MemoryAttributes(TypedDict, total=False):
    """The plain fields among the attributes of a node that is found."""

    key: str
    subject: str
    status_value: str
    category: str
    knowledge_category: str
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(MemoryFields):
    """One row of `node`, as it is first written. Field names are the column names."""

    workspace_id: UUID
    id: UUID
    label: str
    text: str
    content_hash: str
    data_subjects: tuple[UUID, ...]
    state: State
    occurred_at: datetime
    valid_from: datetime
    recorded_at: datetime
    entry_id: UUID
    position: int
    kind: str | None = None
    title: str | None = None
    summary: str | None = None
    context_text: str | None = None
    slug: str | None = None
    canonical_name: str | None = None
    dedup_key: str | None = None
    chain_key: str | None = None
    scope: str = "admin"
    agents: tuple[str, ...] | None = None
    client_id: str = "global"
    source_agent: str | None = None
    observed_by: tuple[str, ...] = ()
    observation_count: int = 0
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    importance: int = 5
    screening: str = "clean"  # clean, suspicious or discard, as it came in
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    keywords: tuple[str, ...] = ()  # casefolded
    compiled_truth: str | None = None  # what is held true of it now, in a few sentences
    document_id: UUID | None = None
    conversation_id: UUID | None = None  # a memory's: the one it was drawn from
    parent_id: UUID | None = None
    ordinal: int | None = None
    source_uri: str | None = None
    headings: tuple[str, ...] | None = None
    line_from: int | None = None
    line_to: int | None = None
    page_from: int | None = None
    page_to: int | None = None
    token_count: int | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    confidence: float = 1.0
    consolidated: bool = False  # a consolidation has looked at it; a message's memories are drawn
    access_count: int = 0
    last_accessed_at: datetime | None = None
    valid_to: datetime | None = None
    deleted_at: datetime | None = None
    pinned: bool = False  # a person wants it kept: it does not age and ranks higher
    never_recall: bool = False  # kept in quarantine, found by nobody
    ttl_seconds: int | None = None  # how long it lasts after it is written, or refreshed
    expires_at: datetime | None = None  # from then on nobody reads it
    extra_labels: tuple[str, ...] = ()  # beside `label`, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeChange:
    """What one ledger entry changes on an existing node; None leaves a column as it is.

    `context_text` "" and `compiled_truth` "" clear them; `accesses` are added to the count. A
    change older than the row's position is not applied.
    """

    workspace_id: UUID
    id: UUID
    position: int
    state: State | None = None
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    deleted_at: datetime | None = None
    observed_by: tuple[str, ...] | None = None
    observation_count: int | None = None
    context_text: str | None = None
    text: str | None = None
    title: str | None = None
    summary: str | None = None
    metadata: Mapping[str, Any] | None = None
    keywords: tuple[str, ...] | None = None
    importance: int | None = None
    compiled_truth: str | None = None
    screening: str | None = None
    canonical_name: str | None = None
    headings: tuple[str, ...] | None = None
    parent_id: UUID | None = None
    ordinal: int | None = None
    line_from: int | None = None
    line_to: int | None = None
    page_from: int | None = None
    page_to: int | None = None
    content_hash: str | None = None
    consolidated: bool | None = None
    knowledge_category: str | None = None
    accesses: int | None = None
    last_accessed_at: datetime | None = None
    pinned: bool | None = None
    never_recall: bool | None = None  # of all versions of the node
    expires_at: datetime | None = None  # of all versions, too
    extra_labels: tuple[str, ...] | None = None
    revive: bool = False  # deleted or merged -> active: clears deleted_at and superseded_by, _at
