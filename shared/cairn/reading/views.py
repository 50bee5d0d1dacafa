"""What readers of a workspace get back: memories, documents, ledger entries, keys, counts.

Values only: field names are the JSON names, times are time-zone aware. Not search results.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from cairn.documents.ports import DocumentStatus
from cairn.graph.conditions import Condition
from cairn.graph.node import MemoryFields
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.access.allowances import Refusal
from cairn.memories.kinds import MemoryKind

T_co = TypeVar("T_co", covariant=True)

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T_co]):
    """One page of a list. `next_after` is the last item's ledger position, None at the end."""

    items: tuple[T_co, ...]
    next_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateDecision:
    """Whether a request may run. `retry_after` and `window` are in seconds."""

    allowed: bool
    limit: int
    remaining: int
    retry_after: float
    window: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Who sent a request, whether its key may send one more, and what its workspace lacks."""

    principal: Principal
    rate: RateDecision
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntity:
    """Who or what a memory refers to, by its name and type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView(MemoryFields):
    """A stored memory as its reader sees it. `position` is that of the entry that made it.

    `consolidated` says that a consolidation has looked at it; `entities` are those its text, its
    client and its author name, also for an older version of it.
    """

    id: UUID
    position: int
    type: MemoryKind
    text: str
    state: str
    client_id: str
    scope: Scope
    recorded_at: datetime
    importance: int = 5
    importance_band: str = "medium"
    confidence: float = 1.0
    content_hash: str = ""
    source_agent: str | None = None
    observed_by: tuple[str, ...] = ()
    observation_count: int = 1
    agents: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_at: datetime | None = None
    supersedes: UUID | None = None
    superseded_by: UUID | None = None
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    embedded: bool = False
    access_count: int = 0
    last_accessed_at: datetime | None = None
    consolidated: bool = False
    pinned: bool = False
    never_recall: bool = False
    ttl_seconds: int | None = None
    expires_at: datetime | None = None
    entities: tuple[NamedEntity, ...] = ()
    metadata: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One version of a memory, held over ledger positions [from_position, to_position).

    `changed_at` and `entry_type` are of the entry at `from_position`, which made it so.
    """

    from_position: int
    to_position: int | None
    memory: MemoryView
    changed_at: datetime | None = None
    entry_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories a list shows; None means any.

    `as_of` is a moment or a ledger position: what stood then, filtered as it was then.
    """

    type: MemoryKind | None = None
    client_id: str | None = None
    key: str | None = None
    subject: str | None = None
    session_id: str | None = None
    state: str | None = None
    id_prefix: str | None = None
    namespace: str | None = None
    namespace_prefix: str | None = None
    namespaced: bool | None = None
    where: tuple[Condition, ...] = ()
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    as_of: datetime | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFilter:
    """Which namespaces a list shows: labels they begin and end with, `*` for any, and how deep."""

    prefix: str | None = None
    suffix: str | None = None
    max_depth: int | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionView:
    """One section of a document: its headings path and how many chunks it has."""

    id: UUID
    ordinal: int
    headings: tuple[str, ...]
    chunks: int
    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document as its reader sees it; `sections` is empty in lists."""

    id: UUID
    position: int
    source_uri: str
    title: str
    media_type: str
    client_id: str
    scope: Scope
    status: DocumentStatus
    recorded_at: datetime
    state: str = "active"
    ingestion_id: UUID | None = None
    error: Json | None = None
    summary: str | None = None
    section_count: int = 0
    chunk_count: int = 0
    embedded_count: int = 0
    sections: tuple[SectionView, ...] = ()
    metadata: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionView:
    """How far an ingestion is. `execution` names the state machine's execution."""

    id: UUID
    document_id: UUID
    status: DocumentStatus
    started_at: datetime
    finished_at: datetime | None = None
    execution: str | None = None
    sections: int = 0
    chunks: int = 0
    embedded: int = 0
    error: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFilter:
    """Which entries a list shows; None means any. `type` may be a namespace: `memory`.

    `actor_id` wrote them, `subject_id` is one of whom they are about; times are the ledger's.
    """

    type: str | None = None
    from_position: int = 1
    actor_id: str | None = None
    subject_id: UUID | None = None
    recorded_from: datetime | None = None
    recorded_to: datetime | None = None
    newest_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntryView:
    """One ledger entry: everything in the clear header, hashes in hex. Bodies stay encrypted."""

    position: int
    id: UUID
    type: str
    actor_kind: str
    actor_id: str
    occurred_at: datetime
    recorded_at: datetime
    prev_hash: str
    hash: str
    session_id: str | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    data_subjects: tuple[UUID, ...] = ()
    meta: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingKey:
    """A data subject whom nobody has forgotten and whose key is gone, with what is unreadable.

    The workspace's own id stands for entries that are about nobody.
    """

    subject_id: UUID
    entries: int
    first_position: int
    destroyed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerVerification:
    """Whether a workspace's chain holds; `first_bad_position` and `reason` when it does not.

    `ok` needs the chain to hold and no key to be missing.
    """

    workspace_id: UUID
    ok: bool
    checked: int
    first_bad_position: int | None
    reason: str | None
    head_position: int
    head_hash: str
    missing_keys: tuple[MissingKey, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """An API key to make. `scopes` None takes the role's default, `tools` None allows every tool.

    A key with `tools` calls those over MCP, and nothing else; one with a `client_id` sees and
    writes what is that client's, and reads shared knowledge. An `agent`'s narrows to what that may;
    with an `agent_slug` it finds only what is tagged for it. A `person`'s is not asked for either.
    Access tokens of the deployment's issuer open what a key with their `token_subject` opens.
    """

    name: str
    role: Role
    scopes: frozenset[Scope] | None = None
    agent_slug: str | None = None
    tools: frozenset[str] | None = None
    expires_at: datetime | None = None
    client_id: str | None = None
    agent: str | None = None
    person: bool = False
    token_subject: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyView:
    """An API key without its secret."""

    id: UUID
    name: str
    prefix: str
    role: Role
    scopes: tuple[Scope, ...]
    created_at: datetime
    agent_slug: str | None = None
    tools: tuple[str, ...] | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    client_id: str | None = None
    agent: str | None = None
    person: bool = False
    token_subject: str | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCreated:
    """A new key. `secret` is the whole key, shown this once and never stored."""

    key: KeyView
    secret: str = field(repr=False)
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How much work waits in a workspace, and since when the oldest of it."""

    pending_embeddings: int
    failed_embeddings: int
    oldest_pending_at: datetime | None
    memories: int
    documents: int
    ledger_position: int
    intents_in_no_network: int
    failing_discovery: int
