"""What a principal may look at, from PostgreSQL. Visibility: row level security and agent guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.graph.conditions import json_path
from cairn.kernel.access import Role, Scope
from cairn.memories.kinds import MemoryKind, importance_band
from cairn.reading.views import (
    DocumentStatus,
    DocumentView,
    IngestionView,
    MemoryFilter,
    MemoryVersion,
    MemoryView,
    NamedEntity,
    NamespaceFilter,
    SectionView,
    Status,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID


_ENDED = (DocumentStatus.READY, DocumentStatus.FAILED)


class PostgresViews(Store):
    """Memories, documents and ingestions as they are shown."""

    def memory(self, memory_id: UUID) -> MemoryView | None:
        """Return a memory that is not deleted."""
        return self.first_of(MEMORY, "view.memory", id=memory_id)

    def memory_versions(self, memory_id: UUID) -> Sequence[MemoryVersion]:
        """Return a memory's versions, oldest first; a deleted one's for admins only."""
        if self.principal.role is Role.ADMIN:
            self.run("view.see_deleted")
        return self.all_of(VERSION, "view.memory_versions", id=memory_id)

    def memories(
        self, where: MemoryFilter, *, limit: int, after: int | None
    ) -> Sequence[MemoryView]:
        """Return up to `limit` memories by falling position, those below `after`."""
        narrowing: dict[str, object] = {
            "namespace": where.namespace,
            "below": where.namespace_prefix,
            "matching": json_path(where.where),
        }
        narrowed = any(value is not None for value in narrowing.values())
        name = "view.memories_found" if narrowed else "view.memories"
        if where.as_of is not None:
            name, narrowed = "view.memories_as_of", True
            narrowing["as_of"] = self._position(where.as_of)
        return self.all_of(
            MEMORY,
            name,
            **(narrowing if narrowed else {}),
            limit=limit,
            after=after,
            type=where.type.value if where.type else None,
            client_id=where.client_id,
            key=where.key,
            subject=where.subject,
            session_id=where.session_id,
            state=where.state,
            id_prefix=where.id_prefix,
            namespaced=where.namespaced,
            occurred_from=where.occurred_from,
            occurred_to=where.occurred_to,
        )

    def _position(self, as_of: datetime | int) -> int:
        if isinstance(as_of, int):
            return as_of
        return self.value("ledger.position_at", moment=as_of)

    def namespaces(self, where: NamespaceFilter, *, limit: int, offset: int) -> Sequence[str]:
        """Return names of namespaces in their order, each once."""
        prefix, suffix = _labels(where.prefix), _labels(where.suffix)
        literal = prefix[: prefix.index("*")] if "*" in prefix else prefix
        return self.values(
            "view.namespaces",
            below="/".join(literal) or None,
            prefix=prefix,
            suffix=suffix,
            max_depth=where.max_depth,
            client_id=where.client_id,
            limit=limit,
            offset=offset,
        )

    def document(self, document_id: UUID) -> DocumentView | None:
        """Return a document without its sections."""
        return self.first_of(DOCUMENT, "view.document", id=document_id)

    def sections(self, document_id: UUID) -> Sequence[SectionView]:
        """Return a document's sections in order."""
        return self.all_of(record(SectionView), "view.sections", id=document_id)

    def documents(
        self, *, client_id: str | None, source_uri: str | None, limit: int, after: int | None
    ) -> Sequence[DocumentView]:
        """Return up to `limit` documents by falling position, those below `after`.

        `source_uri` may be written as in citations: with spaces for what would end one.
        """
        parameters = {"client_id": client_id, "source_uri": source_uri}
        return self.all_of(DOCUMENT, "view.documents", **parameters, limit=limit, after=after)

    def ingestion(self, ingestion_id: UUID) -> IngestionView | None:
        """Return an ingestion of a document the principal may see, deleted or not."""
        self.run("view.see_deleted")  # a deleted document that is being ingested again
        return self.first_of(INGESTION, "view.ingestion", id=ingestion_id)

    def status(self) -> Status:
        """Return the counts."""
        (counts,) = self.all_of(record(Status), "view.counts")
        return counts


def _labels(pattern: str | None) -> list[str]:
    return pattern.split("/") if pattern else []


def _memory(*, importance: int, entities: Sequence[Mapping[str, str]], **row: Any) -> MemoryView:
    return MemoryView(
        importance=importance,
        importance_band=importance_band(importance),
        entities=tuple(NamedEntity(**entity) for entity in entities),
        **row,
    )


def _version(
    *,
    from_position: int,
    to_position: int | None,
    changed_at: datetime | None,
    entry_type: str | None,
    **row: Any,
) -> MemoryVersion:
    return MemoryVersion(
        from_position=from_position,
        to_position=to_position,
        memory=_memory(**row),
        changed_at=changed_at,
        entry_type=entry_type,
    )


def _document(*, metadata: dict[str, Any], status: str | None, **row: Any) -> DocumentView:
    return DocumentView(
        media_type=metadata.pop("media_type", ""),
        metadata=metadata,
        status=DocumentStatus(status or DocumentStatus.READY),
        **row,
    )


def _ingestion(
    *, counts: Mapping[str, int], created_at: datetime, updated_at: datetime, **row: Any
) -> IngestionView:
    return IngestionView(
        started_at=created_at,
        finished_at=updated_at if row["status"] in _ENDED else None,
        sections=counts.get("sections", 0),
        chunks=counts.get("chunks", 0),
        **row,
    )


MEMORY = record(_memory, type=MemoryKind, scope=Scope)
VERSION = record(_version, type=MemoryKind, scope=Scope)
DOCUMENT = record(_document, scope=Scope)
INGESTION = record(_ingestion, status=DocumentStatus)
