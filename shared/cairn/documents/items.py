"""A document as a caller sends it, and what it is answered. Not checked yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

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
