"""Documents as callers send them, and what ingesting keeps of them; the object store."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.changes import KnownPart
    from cairn.kernel.access import Scope
    from cairn.writing.items import Json


class DocumentStatus(StrEnum):
    """Where an ingestion stands: in this order, or failed from any of them."""

    ACCEPTED = "accepted"
    PARSED = "parsed"
    CHUNKED = "chunked"
    STORED = "stored"  # sections and chunks are there, searchable by keyword
    READY = "ready"  # searchable by vector too; the end of the good path
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document as the caller sent it: `content` in the request, or an earlier upload's id.

    `collection` is the URI of a source of many documents, with which this one is forgotten too;
    `subjects` are ids of data subjects that it is about, beside those that are named.
    """

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
    collection: str | None = None
    subjects: tuple[UUID, ...] = ()


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
    """Where to PUT a large document, with all of `headers`, until when."""

    upload_id: UUID
    url: str
    headers: Mapping[str, str]
    expires_at: datetime
    max_bytes: int


Place = tuple[int | None, int | None, int | None, int | None]
"""line_from, line_to, page_from, page_to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingestion:
    """One run of a document through the machine; `position` is its `document.received` entry."""

    id: UUID
    document_id: UUID
    principal_id: UUID
    object_key: str
    status: DocumentStatus
    position: int
    created_at: datetime
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDocument:
    """A stored document of the same source and audience. `archived`: it is, or a part of it."""

    id: UUID
    position: int
    deleted_at: datetime | None
    data_subjects: tuple[UUID, ...]
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEdge:
    """An edge of a document that holds now."""

    id: UUID
    relation: str
    source_id: UUID
    target_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredParts:
    """What is stored of a document. `deleted` says that its parts were deleted with it."""

    document: KnownDocument
    sections: Sequence[KnownPart]
    chunks: Sequence[KnownPart]
    parents: Mapping[UUID, UUID]
    places: Mapping[UUID, Place]
    edges: Sequence[StoredEdge]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A direct upload that was announced."""

    id: UUID
    size: int
    media_type: str
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Presigned:
    """A PUT that is allowed once: the URL, and the headers that its signature covers."""

    url: str
    headers: Mapping[str, str]


class ObjectStore(Protocol):
    """Bytes on their way through the machine, encrypted at rest, gone after a week."""

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key; Unavailable when that cannot be done."""
        ...

    def get(self, key: str) -> bytes:
        """Return the bytes of a key; NotFound when there are none."""
        ...

    def size(self, key: str) -> int | None:
        """Return how many bytes a key holds, None when it holds nothing."""
        ...

    def delete(self, key: str) -> None:
        """Remove a key; nothing happens when it is not there."""
        ...

    def first_bytes(self, key: str, count: int) -> bytes:
        """Return the first bytes of a key, `count` at most; NotFound when there are none."""
        ...

    def presign(
        self, key: str, *, size: int, media_type: str, sha256: str | None, seconds: int
    ) -> Presigned:
        """Return a PUT of exactly `size` bytes within `seconds`, refused once the key holds any.

        With `sha256` (hexadecimal), other bytes than those are refused, too.
        """
        ...
