"""What the API needs from below: records and use-case callables, filled in by the composition root.

Records are the wire shapes: field names are the JSON names, times are time-zone aware, ids are
UUIDs. No rules live here; each callable's docstring states what it promises and raises.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from cairn.access import Principal, Role, Scope
from cairn.ingestion.requests import (
    Deleted,
    IdempotencyKey,
    Json,
    MemoryOutcome,
    NewMemory,
    Outcome,
    Remembered,
)
from cairn.memory.kinds import MemoryKind

__all__ = [
    "Deleted",
    "IdempotencyKey",
    "MemoryOutcome",
    "NewMemory",
    "Outcome",
    "Remembered",
]

T_co = TypeVar("T_co", covariant=True)


class DocumentStatus(StrEnum):
    """Where an ingestion stands: in this order, or failed from any of them."""

    ACCEPTED = "accepted"
    PARSED = "parsed"
    CHUNKED = "chunked"
    STORED = "stored"  # sections and chunks are there, searchable by keyword
    READY = "ready"  # searchable by vector too; the end of the good path
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[T_co]):
    """One page of a list. `next_after` is the last item's ledger position, None at the end."""

    items: tuple[T_co, ...]
    next_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateDecision:
    """Whether a request may run. `retry_after` and `reset` are in seconds."""

    allowed: bool
    limit: int
    remaining: int
    retry_after: float
    window: int = 60


# --- memories


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryView:
    """A stored memory as its reader sees it. `position` is that of the entry that made it."""

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
    key: str | None = None
    subject: str | None = None
    status_value: str | None = None
    source_agent: str | None = None
    observed_by: tuple[str, ...] = ()
    observation_count: int = 1
    category: str | None = None
    knowledge_category: str | None = None
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
    metadata: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One version of a memory, held over ledger positions [from_position, to_position)."""

    from_position: int
    to_position: int | None
    memory: MemoryView


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """Which memories a list shows; None means any."""

    type: MemoryKind | None = None
    client_id: str | None = None
    key: str | None = None
    subject: str | None = None
    session_id: str | None = None
    state: str | None = None


class Remember(Protocol):
    """Write memories in one transaction.

    Outcomes are in order; a memory the domain refuses is an outcome with its error, and the others
    stand. Raises Unavailable (nothing written), Denied, and what `IdempotencyKey` says.
    """

    def __call__(
        self,
        principal: Principal,
        memories: tuple[NewMemory, ...],
        *,
        idempotency: IdempotencyKey | None,
    ) -> Remembered: ...


class ListMemories(Protocol):
    """Return a page of memories, newest ledger position first, those below `after` when given."""

    def __call__(
        self, principal: Principal, where: MemoryFilter, *, limit: int, after: int | None
    ) -> Page[MemoryView]: ...


class GetMemory(Protocol):
    """Return one memory; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, memory_id: UUID) -> MemoryView: ...


class GetMemoryHistory(Protocol):
    """Return a memory's versions, oldest first; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, memory_id: UUID) -> tuple[MemoryVersion, ...]: ...


class Delete(Protocol):
    """Delete softly; deleting again returns the first deletion. NotFound when not visible."""

    def __call__(self, principal: Principal, node_id: UUID) -> Deleted: ...


# --- documents


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document as the caller sent it: `content` in the request, or an earlier upload's id."""

    source_uri: str
    client_id: str
    scope: Scope
    title: str | None = None
    media_type: str | None = None
    content: bytes | None = None
    upload_id: UUID | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()
    metadata: Json = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentAccepted:
    """A document is stored and its ingestion started."""

    document_id: UUID
    ingestion_id: UUID
    status: DocumentStatus
    position: int
    replayed: bool = False


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
class UploadTicket:
    """Where to PUT a large document, with which headers, until when."""

    upload_id: UUID
    url: str
    headers: Mapping[str, str]
    expires_at: datetime
    max_bytes: int


class IngestDocument(Protocol):
    """Store a document's bytes and start its ingestion; a repeat of unchanged bytes is cheap.

    Raises ValidationFailed for content that is not what it claims, TooLarge, NotFound for an
    unknown upload, and what `IdempotencyKey` says.
    """

    def __call__(
        self, principal: Principal, document: NewDocument, *, idempotency: IdempotencyKey | None
    ) -> DocumentAccepted: ...


class CreateUpload(Protocol):
    """Return a ticket for a direct upload of exactly `size` bytes; TooLarge above the limit."""

    def __call__(
        self, principal: Principal, *, size: int, media_type: str | None
    ) -> UploadTicket: ...


class GetDocument(Protocol):
    """Return one document with its sections; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, document_id: UUID) -> DocumentView: ...


class ListDocuments(Protocol):
    """Return a page of documents, newest first, those below ledger position `after`."""

    def __call__(
        self, principal: Principal, *, client_id: str | None, limit: int, after: int | None
    ) -> Page[DocumentView]: ...


class GetIngestion(Protocol):
    """Return one ingestion; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, ingestion_id: UUID) -> IngestionView: ...


# --- search


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A question and how to answer it; None leaves the choice to the recipe."""

    query: str
    limit: int = 10
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    client_id: str | None = None
    scopes: tuple[Scope, ...] = ()
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None
    valid_at: datetime | None = None
    as_of: datetime | int | None = None
    include_superseded: bool = False
    neighbours: int = 1
    format: str = "full"
    recipe: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Results in rank order, each a JSON object with scores and provenance, and what happened."""

    results: tuple[Json, ...]
    meta: Json


class Search(Protocol):
    """Recall. A leg that fails is named in `meta.degraded`; Unavailable only when all fail."""

    def __call__(self, principal: Principal, request: SearchRequest) -> SearchAnswer: ...


# --- ledger


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
class LedgerVerification:
    """Whether a workspace's chain holds; `first_bad_position` and `reason` when it does not."""

    workspace_id: UUID
    ok: bool
    checked: int
    first_bad_position: int | None
    reason: str | None
    head_position: int
    head_hash: str


class ListLedger(Protocol):
    """Return a page of entries by rising position, those above `after` and from `from_position`."""

    def __call__(
        self,
        principal: Principal,
        *,
        type: str | None,
        from_position: int,
        limit: int,
        after: int | None,
    ) -> Page[LedgerEntryView]: ...


class VerifyLedger(Protocol):
    """Recompute the workspace's chain from its beginning."""

    def __call__(self, principal: Principal) -> LedgerVerification: ...


# --- keys and the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """An API key to make. `scopes` None takes the role's default."""

    name: str
    role: Role
    scopes: frozenset[Scope] | None = None
    agent_slug: str | None = None
    expires_at: datetime | None = None


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
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCreated:
    """A new key. `secret` is the whole key, shown this once and never stored."""

    key: KeyView
    secret: str
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How much work waits in a workspace."""

    pending_embeddings: int
    failed_embeddings: int
    memories: int
    documents: int
    ledger_position: int


class Authenticate(Protocol):
    """Return who holds an API key; Unauthenticated when unknown, expired or revoked."""

    def __call__(self, key: str, /) -> Principal: ...


class RateLimit(Protocol):
    """Count one request of a key and say whether it may run."""

    def __call__(self, principal: Principal, /) -> RateDecision: ...


class CreateKey(Protocol):
    """Make a key in the principal's workspace."""

    def __call__(self, principal: Principal, key: NewKey) -> KeyCreated: ...


class ListKeys(Protocol):
    """Return every key of the workspace, newest first, revoked ones too."""

    def __call__(self, principal: Principal) -> tuple[KeyView, ...]: ...


class RevokeKey(Protocol):
    """Revoke a key at once; a second time changes nothing. Conflict for the last admin key."""

    def __call__(self, principal: Principal, key_id: UUID) -> KeyView: ...


class Claim(Protocol):
    """Exchange the one-time first-run token for the first admin key.

    Unauthenticated when the token is wrong or older than 15 minutes, Conflict when it was used.
    """

    def __call__(self, *, token: str, workspace_name: str) -> KeyCreated: ...


class GetStatus(Protocol):
    """Count what waits in the principal's workspace."""

    def __call__(self, principal: Principal, /) -> Status: ...


class CheckReady(Protocol):
    """Return when the database answers; Unavailable otherwise."""

    def __call__(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServices:
    """Every use case the routes call. One object an app; nothing connects when it is built."""

    authenticate: Authenticate
    rate_limit: RateLimit
    check_ready: CheckReady
    remember: Remember
    get_memory: GetMemory
    get_memory_history: GetMemoryHistory
    list_memories: ListMemories
    delete_memory: Delete
    ingest_document: IngestDocument
    create_upload: CreateUpload
    get_document: GetDocument
    list_documents: ListDocuments
    delete_document: Delete
    get_ingestion: GetIngestion
    search: Search
    list_ledger: ListLedger
    verify_ledger: VerifyLedger
    create_key: CreateKey
    list_keys: ListKeys
    revoke_key: RevokeKey
    claim: Claim
    get_status: GetStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOptions:
    """What a deployment may choose. Sizes are in bytes.

    `cors_origins` empty means CORS is off. Bodies are at most 4 MiB and answers 5 MiB so that both
    fit a Lambda invocation (6 MB, less base64).
    """

    cors_origins: tuple[str, ...] = ()
    max_body_bytes: int = 4 * 1024 * 1024
    max_answer_bytes: int = 5 * 1024 * 1024
