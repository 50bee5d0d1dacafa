"""What callers hand to the writing use cases and what they get back. Not checked yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from cairn.access import Scope
from cairn.documents.status import DocumentStatus
from cairn.errors import CairnError
from cairn.memory.kinds import MemoryKind

Json = Mapping[str, Any]


class Outcome(StrEnum):
    """What became of one item."""

    CREATED = "created"
    DUPLICATE = "duplicate"  # the same agent had said exactly this
    CORROBORATED = "corroborated"  # another agent had; now both are observers
    SUPERSEDED = "superseded"  # created, and it replaced an earlier one
    REJECTED = "rejected"  # refused; only in batches


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyKey:
    """What the caller sent to make a write repeatable, with the hash of the body it came with.

    `key` is unique per principal for 24 hours. The use case stores both in its own transaction: the
    same key with another hash is ValidationFailed (reason `idempotency-mismatch`), one still in
    flight is Conflict (`idempotency-in-flight`), a repeat returns the first answer as replayed.
    """

    key: str
    body_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """One memory as the caller wrote it; texts are not yet scrubbed."""

    text: str
    type: MemoryKind
    client_id: str
    importance: int | None  # None: derived from the text
    scope: Scope | None
    key: str | None = None
    subject: str | None = None
    status_value: str | None = None
    source_agent: str | None = None
    category: str | None = None
    knowledge_category: str | None = None
    agents: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    data_subjects: tuple[str, ...] = ()
    confidence: float = 1.0
    metadata: Json = field(default_factory=dict[str, Any])
    produced_by_task_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """What became of one item of a batch. `error` is set exactly when it was rejected."""

    outcome: Outcome
    id: UUID | None = None
    position: int | None = None
    error: CairnError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOutcome(ItemOutcome):
    """What became of one memory of a batch."""

    superseded: tuple[UUID, ...] = ()
    observation_count: int = 1
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The outcomes of a write, in the order of its memories."""

    outcomes: tuple[MemoryOutcome, ...]
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """What a soft deletion did: the ledger position of its entry and how many nodes it hid."""

    id: UUID
    position: int
    nodes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document as the caller sent it: `content` in the request, or an earlier upload's id."""

    source_uri: str
    client_id: str
    scope: Scope | None
    title: str | None = None
    media_type: str | None = None
    content: bytes | None = None
    upload_id: UUID | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()
    metadata: Json = field(default_factory=dict[str, Any])
    produced_by_task_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentAccepted:
    """A document is stored and its ingestion started."""

    document_id: UUID
    ingestion_id: UUID
    status: DocumentStatus
    position: int
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadTicket:
    """Where to PUT a large document, with which headers, until when."""

    upload_id: UUID
    url: str
    headers: Mapping[str, str]
    expires_at: datetime
    max_bytes: int
