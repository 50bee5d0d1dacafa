"""Documents, ingestions and uploads in memory, over the tables of `stores`. Holds no bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.documents.changes import KnownPart
from cairn.documents.ports import (
    DocumentStatus,
    Ingestion,
    KnownDocument,
    StoredEdge,
    StoredParts,
    Upload,
)
from cairn.graph.edge import View
from cairn.graph.node import Label, State
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.graph.node import Node
    from cairn.kernel.access import Principal
    from cairn.ledger.entry import Entry

_ENDED = (DocumentStatus.READY, DocumentStatus.FAILED)


@dataclass(frozen=True)
class InMemoryDocuments:
    """`PostgresDocuments` in memory."""

    tables: Tables
    principal: Principal

    def known(self, identity: str) -> KnownDocument | None:
        """Return the document of this identity, deleted or not."""
        found = [document for document in self._documents() if document.dedup_key == identity]
        return _document(found[0]) if found else None

    def at(self, source_uris: Collection[str]) -> frozenset[str]:
        """Return which of these places have a document, deleted or not."""
        uris = {document.source_uri for document in self._documents()}
        return frozenset(uri for uri in source_uris if uri in uris)

    def visible(self, document_id: UUID) -> KnownDocument | None:
        """Return a document, deleted or not, that the principal's agent may see."""
        for node in self._documents():
            if node.id == document_id and self.principal.finds(node.agents):
                return _document(node)
        return None

    def parts(self, document_id: UUID) -> StoredParts | None:
        """Return what is stored of a document; of a deleted one, what was deleted with it."""
        document = self.visible(document_id)
        if document is None:
            return None
        parts = sorted(
            (
                node
                for node in self.tables.nodes.values()
                if node.document_id == document_id
                and node.label in (Label.SECTION, Label.CHUNK)
                and node.deleted_at == document.deleted_at
            ),
            key=lambda item: (item.ordinal or 0, item.id),
        )
        return StoredParts(
            document=document,
            sections=[_part(part) for part in parts if part.label == Label.SECTION],
            chunks=[_part(part) for part in parts if part.label == Label.CHUNK],
            parents={part.id: part.parent_id for part in parts if part.parent_id is not None},
            places={
                part.id: (part.line_from, part.line_to, part.page_from, part.page_to)
                for part in parts
            },
            edges=self._edges(document_id),
        )

    def _edges(self, document_id: UUID) -> list[StoredEdge]:
        nodes = self.tables.nodes
        return [
            StoredEdge(
                id=edge.id,
                relation=edge.relation,
                source_id=edge.source_id,
                target_id=edge.target_id,
            )
            for edge in self.tables.edges.values()
            if edge.view == View.DOCUMENT
            and edge.source_id in nodes
            and nodes[edge.source_id].document_id == document_id
        ]

    def _documents(self) -> list[Node]:
        found = [node for node in self.tables.nodes.values() if node.label == Label.DOCUMENT]
        return [item for item in found if item.scope in self.principal.allowed_scopes]


@dataclass(frozen=True)
class InMemoryIngestions:
    """`PostgresIngestions` in memory."""

    tables: Tables

    def add(self, ingestion: Ingestion) -> None:
        """Add an accepted ingestion."""
        self.tables.ingestions[ingestion.id] = ingestion

    def find(self, ingestion_id: UUID) -> Ingestion | None:
        """Return an ingestion of the workspace."""
        return self.tables.ingestions.get(ingestion_id)

    def is_newest(self, ingestion: Ingestion) -> bool:
        """Return whether no later ingestion of the same document was accepted."""
        return not any(
            item.document_id == ingestion.document_id and item.position > ingestion.position
            for item in self.tables.ingestions.values()
        )

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
        present = self.tables.ingestions.get(ingestion_id)
        if present is None or present.status in _ENDED:
            return
        if execution is not None:
            self.tables.executions[ingestion_id] = execution
        self.tables.ingestions[ingestion_id] = replace(
            present, status=status, counts={**present.counts, **(counts or {})}, error=error
        )

    def entry(self, ingestion: Ingestion) -> Entry:
        """Return the ledger entry that accepted it."""
        return self.tables.entries[ingestion.position - 1]

    def batches(self, ingestion_id: UUID) -> Sequence[int]:
        """Return the batches whose nodes still wait for vectors, in order."""
        waiting = (item for item in self.tables.outbox.values() if item.topic == Topic.EMBED)
        return sorted(
            item.batch
            for item in waiting
            if item.reference == ingestion_id and item.batch is not None
        )


@dataclass(frozen=True)
class InMemoryUploads:
    """`PostgresUploads` in memory."""

    tables: Tables
    principal: Principal

    def add(self, upload: Upload, now: datetime) -> None:
        """Keep an announced upload."""
        self.tables.uploads[self.principal.principal_id, upload.id] = upload

    def find(self, upload_id: UUID) -> Upload | None:
        """Return an upload the principal announced."""
        return self.tables.uploads.get((self.principal.principal_id, upload_id))

    def remove(self, upload_ids: Collection[UUID]) -> None:
        """Remove announcements."""
        for principal_id, upload_id in list(self.tables.uploads):
            if upload_id in upload_ids:
                del self.tables.uploads[principal_id, upload_id]

    def expired(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Return uploads whose URL was good until `before`, the oldest first."""
        late = [each for each in self.tables.uploads.values() if each.expires_at < before]
        return [each.id for each in sorted(late, key=lambda each: each.expires_at)[:limit]]


def _document(node: Node) -> KnownDocument:
    return KnownDocument(
        id=node.id,
        position=node.position,
        deleted_at=node.deleted_at,
        data_subjects=node.data_subjects,
        archived=node.state == State.ARCHIVED,
    )


def _part(node: Node) -> KnownPart:
    return KnownPart(
        id=node.id,
        ordinal=node.ordinal or 0,
        content_hash=node.content_hash,
        headings=node.headings or (),
    )
