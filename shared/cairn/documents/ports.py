"""What ingesting documents needs besides the stores of every write. Contracts only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cairn.writing.ports import WriteStores
from cairn.writing.task_ports import HasTasks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.changes import KnownPart
    from cairn.documents.items import DocumentStatus
    from cairn.ledger.entry import Entry

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


class DocumentStore(Protocol):
    """Documents and their parts."""

    def known(self, identity: str) -> KnownDocument | None:
        """Return the document of this identity, deleted or not."""
        ...

    def parts(self, document_id: UUID) -> StoredParts | None:
        """Return what is stored of a document; of a deleted one, what was deleted with it."""
        ...

    def visible(self, document_id: UUID) -> KnownDocument | None:
        """Return a document, deleted or not, that the principal's agent may see."""
        ...


class IngestionStore(Protocol):
    """Runs of documents through the machine."""

    def add(self, ingestion: Ingestion) -> None:
        """Add an accepted ingestion."""
        ...

    def find(self, ingestion_id: UUID) -> Ingestion | None:
        """Return an ingestion of the workspace."""
        ...

    def is_newest(self, ingestion: Ingestion) -> bool:
        """Return whether no later ingestion of the same document was accepted."""
        ...

    def advance(
        self,
        ingestion_id: UUID,
        status: DocumentStatus,
        now: datetime,
        *,
        counts: Mapping[str, int] | None = None,
        error: Mapping[str, Any] | None = None,
        execution: str | None = None,
    ) -> None:
        """Move an ingestion on; counts are added to those it has, an execution is noted once."""
        ...

    def entry(self, ingestion: Ingestion) -> Entry:
        """Return the ledger entry that accepted it."""
        ...

    def batches(self, ingestion_id: UUID) -> Sequence[int]:
        """Return the batches whose nodes still wait for vectors, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A direct upload that was announced."""

    id: UUID
    size: int
    media_type: str
    expires_at: datetime


class UploadStore(Protocol):
    """Announced uploads."""

    def add(self, upload: Upload, now: datetime) -> None:
        """Keep an announced upload."""
        ...

    def find(self, upload_id: UUID) -> Upload | None:
        """Return an upload the principal announced."""
        ...


class DocumentStores(WriteStores, HasTasks, Protocol):
    """What the document use cases need of a transaction."""

    @property
    def documents(self) -> DocumentStore: ...
    @property
    def ingestions(self) -> IngestionStore: ...
    @property
    def uploads(self) -> UploadStore: ...


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

    def upload_url(self, key: str, *, size: int, media_type: str, seconds: int) -> str:
        """Return a URL that takes one PUT of exactly `size` bytes within `seconds`."""
        ...
