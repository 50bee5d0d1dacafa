"""Documents, ingestions and uploads in PostgreSQL, for the use cases that write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.store import Store
from cairn.adapters.postgres.stores import PostgresLedger
from cairn.documents.changes import KnownPart
from cairn.documents.items import DocumentStatus
from cairn.documents.ports import (
    Ingestion,
    KnownDocument,
    StoredEdge,
    StoredParts,
    Upload,
)
from cairn.graph.node import Label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.ledger.entry import Entry


class PostgresDocuments(Store):
    """Documents and their parts."""

    def known(self, identity: str) -> KnownDocument | None:
        """Return the document of this identity, deleted or not."""
        return _document(self.run("document.known", identity=identity).fetchone())

    def visible(self, document_id: UUID) -> KnownDocument | None:
        """Return a document, deleted or not, that the principal's agent may see.

        From here on the transaction sees deleted rows.
        """
        self.run("view.see_deleted")
        return _document(self.run("document.visible", document_id=document_id).fetchone())

    def parts(self, document_id: UUID) -> StoredParts | None:
        """Return what is stored of a document; of a deleted one, what was deleted with it."""
        document = self.visible(document_id)
        if document is None:
            return None
        rows = self.run(
            "document.parts", document_id=document_id, deleted_at=document.deleted_at
        ).fetchall()
        return StoredParts(
            document=document,
            sections=[_part(row) for row in rows if row[1] == Label.SECTION],
            chunks=[_part(row) for row in rows if row[1] == Label.CHUNK],
            parents={row[0]: row[5] for row in rows},
            places={row[0]: (row[6], row[7], row[8], row[9]) for row in rows},
            edges=[
                StoredEdge(id=edge_id, relation=relation, source_id=source, target_id=target)
                for edge_id, relation, source, target in self.run(
                    "document.edges", document_id=document_id
                )
            ],
        )


class PostgresIngestions(Store):
    """Runs of documents through the machine."""

    def add(self, ingestion: Ingestion) -> None:
        """Add an accepted ingestion."""
        self.run(
            "ingestion.add",
            id=ingestion.id,
            document_id=ingestion.document_id,
            principal_id=ingestion.principal_id,
            object_key=ingestion.object_key,
            status=ingestion.status.value,
            position=ingestion.position,
            created_at=ingestion.created_at,
        )

    def find(self, ingestion_id: UUID) -> Ingestion | None:
        """Return an ingestion of the workspace."""
        row = self.run("ingestion.find", id=ingestion_id).fetchone()
        if row is None:
            return None
        one, document_id, principal_id, key, status, position, created_at, counts, error = row
        return Ingestion(
            id=one,
            document_id=document_id,
            principal_id=principal_id,
            object_key=key,
            status=DocumentStatus(status),
            position=position,
            created_at=created_at,
            counts=counts,
            error=error,
        )

    def is_newest(self, ingestion: Ingestion) -> bool:
        """Return whether no later ingestion of the same document was accepted."""
        row = self.run(
            "ingestion.is_newest", document_id=ingestion.document_id, position=ingestion.position
        ).fetchone()
        return bool(row and row[0])

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
        """Move an ingestion on, unless it has ended; counts are added to those it has."""
        self.run(
            "ingestion.advance",
            id=ingestion_id,
            status=status.value,
            counts=Jsonb(dict(counts or {})),
            error=Jsonb(dict(error)) if error is not None else None,
            execution=execution,
            now=now,
        )

    def entry(self, ingestion: Ingestion) -> Entry:
        """Return the ledger entry that accepted it."""
        ledger = PostgresLedger(self.connection, self.principal)
        return ledger.page(after=ingestion.position - 1, limit=1)[0]

    def batches(self, ingestion_id: UUID) -> Sequence[int]:
        """Return the batches whose nodes still wait for vectors, in order."""
        return [batch for (batch,) in self.run("ingestion.batches", id=ingestion_id)]


class PostgresUploads(Store):
    """Announced uploads."""

    def add(self, upload: Upload, now: datetime) -> None:
        """Keep an announced upload."""
        self.run(
            "ingestion.announce",
            id=upload.id,
            principal_id=self.principal.principal_id,
            size=upload.size,
            media_type=upload.media_type,
            expires_at=upload.expires_at,
            now=now,
        )

    def find(self, upload_id: UUID) -> Upload | None:
        """Return an upload the principal announced."""
        row = self.run(
            "ingestion.announced", id=upload_id, principal_id=self.principal.principal_id
        ).fetchone()
        if row is None:
            return None
        one, size, media_type, expires_at = row
        return Upload(id=one, size=size, media_type=media_type, expires_at=expires_at)


def _document(row: Sequence[Any] | None) -> KnownDocument | None:
    if row is None:
        return None
    document_id, position, deleted_at, subjects, archived = row
    return KnownDocument(
        id=document_id,
        position=position,
        deleted_at=deleted_at,
        data_subjects=tuple(subjects),
        archived=archived,
    )


def _part(row: Sequence[Any]) -> KnownPart:
    return KnownPart(id=row[0], ordinal=row[2], content_hash=row[3], headings=tuple(row[4]))
