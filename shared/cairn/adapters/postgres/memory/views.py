"""What a principal may look at, from PostgreSQL. Visibility: row level security and agent guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store
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
    SectionView,
    Status,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


_ENDED = (DocumentStatus.READY, DocumentStatus.FAILED)

Row = dict[str, Any]


class PostgresViews(Store):
    """Implements `retrieval.browse.Views`."""

    def memory(self, memory_id: UUID) -> MemoryView | None:
        """Return a memory that is not deleted."""
        rows = self._rows("view.memory", id=memory_id)
        return _memory(rows[0]) if rows else None

    def memory_versions(self, memory_id: UUID) -> Sequence[MemoryVersion]:
        """Return a memory's versions, oldest first; a deleted one's for admins only."""
        if self.principal.role is Role.ADMIN:
            self.run("view.see_deleted")
        return [_version(row) for row in self._rows("view.memory_versions", id=memory_id)]

    def memories(
        self, where: MemoryFilter, *, limit: int, after: int | None
    ) -> Sequence[MemoryView]:
        """Return up to `limit` memories by falling position, those below `after`."""
        rows = self._rows(
            "view.memories",
            limit=limit,
            after=after,
            type=where.type.value if where.type else None,
            client_id=where.client_id,
            key=where.key,
            subject=where.subject,
            session_id=where.session_id,
            state=where.state,
        )
        return [_memory(row) for row in rows]

    def document(self, document_id: UUID) -> DocumentView | None:
        """Return a document without its sections."""
        rows = self._rows("view.document", id=document_id)
        return _document(rows[0]) if rows else None

    def sections(self, document_id: UUID) -> Sequence[SectionView]:
        """Return a document's sections in order."""
        rows = self._rows("view.sections", id=document_id)
        return [_section(row) for row in rows]

    def documents(
        self, *, client_id: str | None, source_uri: str | None, limit: int, after: int | None
    ) -> Sequence[DocumentView]:
        """Return up to `limit` documents by falling position, those below `after`.

        `source_uri` may be written as in citations: with spaces for what would end one.
        """
        asked = {"client_id": client_id, "source_uri": source_uri}
        rows = self._rows("view.documents", **asked, limit=limit, after=after)
        return [_document(row) for row in rows]

    def ingestion(self, ingestion_id: UUID) -> IngestionView | None:
        """Return an ingestion of a document the principal may see, deleted or not."""
        self.run("view.see_deleted")  # a deleted document that is being ingested again
        rows = self._rows("view.ingestion", id=ingestion_id)
        return _ingestion(rows[0]) if rows else None

    def status(self) -> Status:
        """Return the counts."""
        return Status(**self._rows("view.counts")[0])

    def _rows(self, name: str, **parameters: Any) -> list[Row]:
        asked = {"workspace_id": self.principal.workspace_id, **parameters}
        with self.connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query(name), asked).fetchall()


def _memory(row: Row) -> MemoryView:
    row["type"], row["scope"] = MemoryKind(row["type"]), Scope(row["scope"])
    row["importance_band"] = importance_band(row["importance"])
    row["agents"], row["observed_by"] = tuple(row["agents"]), tuple(row["observed_by"])
    row["entities"] = tuple(NamedEntity(**one) for one in row["entities"])
    return MemoryView(**row)


def _version(row: Row) -> MemoryVersion:
    from_position, to_position = row.pop("from_position"), row.pop("to_position")
    return MemoryVersion(from_position=from_position, to_position=to_position, memory=_memory(row))


def _section(row: Row) -> SectionView:
    row["headings"] = tuple(row["headings"])
    return SectionView(**row)


def _document(row: Row) -> DocumentView:
    row["media_type"] = row["metadata"].pop("media_type", "")
    row["scope"] = Scope(row["scope"])
    row["status"] = DocumentStatus(row["status"] or DocumentStatus.READY)
    return DocumentView(**row)


def _ingestion(row: Row) -> IngestionView:
    status = DocumentStatus(row["status"])
    counts: dict[str, int] = row["counts"]
    return IngestionView(
        id=row["id"],
        document_id=row["document_id"],
        status=status,
        started_at=row["created_at"],
        finished_at=row["updated_at"] if status in _ENDED else None,
        execution=row["execution"],
        sections=counts.get("sections", 0),
        chunks=counts.get("chunks", 0),
        embedded=row["embedded"],
        error=row["error"],
    )
