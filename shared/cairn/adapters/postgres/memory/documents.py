"""Documents, ingestions and uploads in PostgreSQL, for the use cases that write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.store import Store, record
from cairn.adapters.postgres.stores import PostgresLedger
from cairn.documents.changes import KnownPart
from cairn.documents.ports import (
    DocumentStatus,
    Ingestion,
    KnownDocument,
    StoredEdge,
    StoredParts,
    Upload,
)
from cairn.graph.node import Label

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.ports import Place
    from cairn.ledger.entry import Entry


class PostgresDocuments(Store):
    """Documents and their parts."""

    def known(self, identity: str) -> KnownDocument | None:
        """Return the document of this identity, deleted or not."""
        return self.first_of(record(KnownDocument), "document.known", identity=identity)

    def at(self, source_uris: Collection[str]) -> frozenset[str]:
        """Return which of these places have a document, deleted or not.

        From here on the transaction sees deleted rows.
        """
        self.run("view.see_deleted")
        rows = self.rows("document.at", source_uris=list(source_uris))
        return frozenset(row["source_uri"] for row in rows)

    def visible(self, document_id: UUID) -> KnownDocument | None:
        """Return a document, deleted or not, that the principal's agent may see.

        From here on the transaction sees deleted rows.
        """
        self.run("view.see_deleted")
        factory = record(KnownDocument)
        return self.first_of(factory, "document.visible", document_id=document_id)

    def parts(self, document_id: UUID) -> StoredParts | None:
        """Return what is stored of a document; of a deleted one, what was deleted with it."""
        document = self.visible(document_id)
        if document is None:
            return None
        parameters = {"document_id": document_id, "deleted_at": document.deleted_at}
        rows = self.rows("document.parts", **parameters)
        return StoredParts(
            document=document,
            sections=[_part(row) for row in rows if row["label"] == Label.SECTION],
            chunks=[_part(row) for row in rows if row["label"] == Label.CHUNK],
            parents={row["id"]: row["parent_id"] for row in rows},
            places={row["id"]: _place(**row) for row in rows},
            edges=self.all_of(record(StoredEdge), "document.edges", document_id=document_id),
        )


class PostgresIngestions(Store):
    """Runs of documents through the machine."""

    def add(self, ingestion: Ingestion) -> None:
        """Add an accepted ingestion."""
        self.write("ingestion.add", ingestion)

    def find(self, ingestion_id: UUID) -> Ingestion | None:
        """Return an ingestion of the workspace."""
        factory = record(Ingestion, status=DocumentStatus)
        return self.first_of(factory, "ingestion.find", id=ingestion_id)

    def is_newest(self, ingestion: Ingestion) -> bool:
        """Return whether no later ingestion of the same document was accepted."""
        parameters = {"document_id": ingestion.document_id, "position": ingestion.position}
        return self.value("ingestion.is_newest", **parameters)

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
        return self.values("ingestion.batches", id=ingestion_id)


class PostgresUploads(Store):
    """Announced uploads."""

    def add(self, upload: Upload, now: datetime) -> None:
        """Keep an announced upload."""
        principal_id = self.principal.principal_id
        self.write("ingestion.announce", upload, principal_id=principal_id, now=now)

    def find(self, upload_id: UUID) -> Upload | None:
        """Return an upload the principal announced."""
        parameters = {"id": upload_id, "principal_id": self.principal.principal_id}
        return self.first_of(record(Upload), "ingestion.announced", **parameters)

    def remove(self, upload_ids: Collection[UUID]) -> None:
        """Remove announcements."""
        self.run("ingestion.drop_announced", ids=list(upload_ids))

    def expired(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Return uploads whose URL was good until `before`, the oldest first."""
        return self.values("ingestion.expired", before=before, limit=limit)


def _place(
    *,
    line_from: int | None,
    line_to: int | None,
    page_from: int | None,
    page_to: int | None,
    **_: Any,
) -> Place:
    return (line_from, line_to, page_from, page_to)


def _part(row: Mapping[str, Any]) -> KnownPart:
    return KnownPart(
        id=row["id"],
        ordinal=row["ordinal"],
        content_hash=row["content_hash"],
        headings=tuple(row["headings"]),
    )
