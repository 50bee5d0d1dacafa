"""Accept a document: the use case behind `POST /v1/documents`. Not its parsing: the machine does.

What can be refused at once is (size, media type, bytes that are not what they claim), so that a
caller does not learn it from a failed execution. The raw bytes wait in the object store; everything
that is kept is scrubbed first.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.documents import media
from cairn.documents.ports import DocumentAccepted, DocumentStatus, Ingestion
from cairn.documents.uploads import check_size, check_upload, upload_key
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.ids import derived_id
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.writing.checks import (
    clean_metadata,
    owners,
    refuse,
    require_writer,
    source_agent,
    tagged_agents,
)
from cairn.writing.ports import Topic
from cairn.writing.subjects import resolve
from cairn.writing.task_ports import no_such_task
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.documents.ports import KnownDocument, NewDocument, ObjectStore, Upload
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.checks import Owner
    from cairn.writing.items import IdempotencyKey

MAX_DOCUMENT_BYTES = media.LARGEST
"""What sources read of one place at the most."""

SOURCE = "source"
"""The kind of data subject a document's source is: its bodies can be forgotten by a key of it."""

LONGEST_SOURCE_KEY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptDocument(Writer):
    """Stores a document's bytes, records it and wakes the `ingestion` machine."""

    objects: ObjectStore

    def __call__(
        self,
        principal: Principal,
        document: NewDocument,
        *,
        idempotency: IdempotencyKey | None = None,
        condition: Callable[[Stores], None] | None = None,
    ) -> DocumentAccepted:
        """Return the ids of the document and its ingestion; `condition` raises in the transaction.

        An upload makes one document; naming it again for the same one is the same acceptance.
        Raises ValidationFailed for what is not a document of its media type, TooLarge, NotFound for
        an upload that was not announced or not made, Conflict for one that is late or another's.
        """
        require_writer(principal)
        scope = principal.writing_scope(document.scope)
        described = self._describe(principal, document)
        ingestion_id = self._ingestion_id(document)
        object_key = self._keep(principal, document, described["media_type"], ingestion_id)
        about = owners(document.client_id, document.data_subjects)
        uris = filter(None, (described["source_uri"], document.collection))
        document_owners = (*about, *map(source_owner, uris))

        def prepared() -> Work[DocumentAccepted]:
            resolution = resolve(self.platform, principal, document_owners, document.subjects)
            about_ids = {*resolution.subjects_of(about), *document.subjects}
            receipt = _Receipt(
                ingestion_id=ingestion_id,
                principal_id=principal.principal_id,
                object_key=object_key,
                scope=scope.value,
                described=described,
                subjects=tuple(sorted({*resolution.subjects_of(document_owners), *about_ids})),
                identity=document_identity(described, scope.value, tuple(sorted(about_ids))),
                task_id=document.produced_by_task_id,
            )
            return Work(
                resolution=resolution,
                do=partial(_record, receipt, condition),
                keep=_answer,
                read=_accepted,
            )

        return self.write_once(principal, prepared, idempotency)

    def _describe(self, principal: Principal, document: NewDocument) -> dict[str, Any]:
        uri = scrub(clean_text(document.source_uri, field="source_uri", max_chars=2000)).text
        title = document.title
        if title is not None:
            title = scrub(clean_text(title, field="title", max_chars=500)).text
        agents = tagged_agents(document.agents, principal)
        return {
            "source_uri": uri,
            "title": title,
            "media_type": self._media_type(principal, document),
            "client_id": document.client_id,
            "agents": list(agents) if agents is not None else None,
            "source_agent": source_agent(None, principal),
            "metadata": dict(clean_metadata(document.metadata)),
        }

    def _media_type(self, principal: Principal, document: NewDocument) -> str:
        media_type = document.media_type
        if media_type is None and document.upload_id is not None:
            media_type = self._upload(principal, document.upload_id).media_type
        if media_type in (None, "application/octet-stream"):
            media_type = media.media_type_of(document.source_uri)
        if media_type is None:
            refuse("media_type", "is missing and the name of source_uri does not tell it")
        return media.normalise_media_type(media_type or "")

    def _upload(self, principal: Principal, upload_id: UUID) -> Upload:
        with self.platform.transactions.reading(principal) as stores:
            upload = stores.uploads.find(upload_id)
        if upload is None:
            raise NotFound("There is no such upload.", upload_id=str(upload_id))
        return upload

    def _ingestion_id(self, document: NewDocument) -> UUID:
        """Return the id of the run: of an upload always the same, so that it is used once."""
        if document.upload_id is None:
            return self.platform.new_id()
        return derived_id(document.upload_id, "ingestion")

    def _keep(
        self, principal: Principal, document: NewDocument, media_type: str, ingestion_id: UUID
    ) -> str:
        """Return the key under which the document's bytes wait, storing those of the request."""
        if document.content is not None:
            check_size(len(document.content), media_type)
            media.check_magic(document.content, media_type)
            key = f"ingestions/{principal.workspace_id}/{ingestion_id}/source"
            self.objects.put(key, document.content)
            return key
        if document.upload_id is None:
            refuse("content", "is missing")
        upload = self._upload(principal, document.upload_id or ingestion_id)
        key = upload_key(principal.workspace_id, upload.id)
        with self.platform.transactions.reading(principal) as stores:
            is_used = stores.ingestions.find(ingestion_id) is not None
        if not is_used:  # what is used is decided in the transaction; its bytes may be gone
            check_upload(self.objects, upload, key, media_type, self.platform.clock())
        return key


@dataclass(frozen=True, slots=True, kw_only=True)
class _Receipt:
    """Everything about an accepted document that is decided before the transaction."""

    ingestion_id: UUID
    principal_id: UUID
    object_key: str
    scope: str
    described: Mapping[str, Any]
    subjects: tuple[UUID, ...]
    identity: str
    task_id: UUID | None


def source_owner(source_uri: str) -> Owner:
    """Return the data subject that a source is; a long URI stands by its digest."""
    if len(source_uri.encode()) <= LONGEST_SOURCE_KEY:
        return SOURCE, source_uri
    return SOURCE, "sha256:" + hashlib.sha256(source_uri.encode()).hexdigest()


def document_identity(described: Mapping[str, Any], scope: str, subjects: tuple[UUID, ...]) -> str:
    """Return what makes two documents the same source for the same audience: 32 hex characters.

    `subjects` are those the document is about, not the source's own, which follows from the rest.
    """
    parts = [
        "document",
        described["client_id"],
        scope,
        described["agents"],
        [str(subject) for subject in subjects],
        described["source_uri"],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _record(
    receipt: _Receipt, condition: Callable[[Stores], None] | None, write: Write
) -> DocumentAccepted:
    if condition is not None:
        condition(write.stores)
    if receipt.task_id and receipt.task_id not in write.stores.tasks.known([receipt.task_id]):
        raise no_such_task(receipt.task_id)
    stored = write.stores.documents.known(receipt.identity)
    if used := write.stores.ingestions.find(receipt.ingestion_id):
        return _the_same(used, stored)
    write.register()
    document_id = stored.id if stored else derived_id(receipt.ingestion_id, "document")
    meta = {
        "document_id": str(document_id),
        "ingestion_id": str(receipt.ingestion_id),
        "scope": receipt.scope,
        **({"produced_by": str(receipt.task_id)} if receipt.task_id else {}),
    }
    position = write.entries.add(
        "document.received",
        meta,
        {**receipt.described, "identity": receipt.identity},
        data_subjects=receipt.subjects,
        occurred_at=write.now,
    )
    write.append()
    accepted = DocumentAccepted(
        document_id=document_id,
        ingestion_id=receipt.ingestion_id,
        status=DocumentStatus.ACCEPTED,
        position=position,
    )
    _start(receipt, accepted, write)
    return accepted


def _the_same(used: Ingestion, stored: KnownDocument | None) -> DocumentAccepted:
    """Return how the document of an upload was accepted; Conflict when it is another one."""
    if stored is None or used.document_id != stored.id:
        raise Conflict("This upload is another document already.", reason="upload-used")
    return DocumentAccepted(
        document_id=used.document_id,
        ingestion_id=used.id,
        status=DocumentStatus.ACCEPTED,
        position=used.position,
        replayed=True,
    )


def _start(receipt: _Receipt, accepted: DocumentAccepted, write: Write) -> None:
    """Add the ingestion and wake it."""
    ingestion = Ingestion(
        id=receipt.ingestion_id,
        document_id=accepted.document_id,
        principal_id=receipt.principal_id,
        object_key=receipt.object_key,
        status=accepted.status,
        position=accepted.position,
        created_at=write.now,
    )
    write.stores.ingestions.add(ingestion)
    write.wake(Topic.INGESTION, ingestion.id, id=ingestion.id, position=accepted.position)


def _answer(accepted: DocumentAccepted) -> dict[str, Any]:
    return {
        "document_id": str(accepted.document_id),
        "ingestion_id": str(accepted.ingestion_id),
        "position": accepted.position,
    }


def _accepted(answer: Mapping[str, Any]) -> DocumentAccepted:
    return DocumentAccepted(
        document_id=UUID(answer["document_id"]),
        ingestion_id=UUID(answer["ingestion_id"]),
        status=DocumentStatus.ACCEPTED,
        position=answer["position"],
        replayed=True,
    )
