"""Accept a document: the use case behind `POST /v1/documents`. Not its parsing: the machine does.

What can be refused at once is (size, media type, bytes that are not what they claim), so that a
caller does not learn it from a failed execution. The raw bytes wait in the object store; everything
that is kept is scrubbed first.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.documents import media
from cairn.documents.ports import DocumentAccepted, DocumentStatus, Ingestion, Upload, UploadTicket
from cairn.kernel.errors import NotFound, TooLarge
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

    from cairn.documents.ports import NewDocument, ObjectStore
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.writing.checks import Owner
    from cairn.writing.items import IdempotencyKey

MAX_DOCUMENT_BYTES = 20 * 1024 * 1024
UPLOAD_LIFETIME = timedelta(minutes=15)
SOURCE = "source"
"""The kind of data subject a document's source is: its bodies can be forgotten by a key of it."""

LONGEST_SOURCE_KEY = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateUpload:
    """Announces a direct upload, for documents above the API's body limit."""

    transactions: Transactions[Stores]
    objects: ObjectStore
    clock: Clock
    new_id: IdSource

    def __call__(self, principal: Principal, *, size: int, media_type: str | None) -> UploadTicket:
        """Return where to PUT `size` bytes; TooLarge above MAX_DOCUMENT_BYTES."""
        require_writer(principal)
        check_size(size)
        now = self.clock()
        kind = media_type or "application/octet-stream"
        upload = Upload(
            id=self.new_id(), size=size, media_type=kind, expires_at=now + UPLOAD_LIFETIME
        )
        with self.transactions.writing(principal) as stores:
            stores.uploads.add(upload, now)
        seconds = int(UPLOAD_LIFETIME.total_seconds())
        key = upload_key(principal.workspace_id, upload.id)
        url = self.objects.upload_url(key, size=size, media_type=kind, seconds=seconds)
        return UploadTicket(
            upload_id=upload.id,
            url=url,
            headers={"Content-Type": kind},
            expires_at=upload.expires_at,
            max_bytes=size,
        )


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

        Raises ValidationFailed for what is not a document of its media type, TooLarge, NotFound for
        an upload that was not announced or not made.
        """
        require_writer(principal)
        scope = principal.writing_scope(document.scope)
        described = self._describe(principal, document)
        ingestion_id = self.platform.new_id()
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

    def _keep(
        self, principal: Principal, document: NewDocument, media_type: str, ingestion_id: UUID
    ) -> str:
        """Return the key under which the document's bytes wait, storing those of the request."""
        if document.content is not None:
            check_size(len(document.content))
            media.check_magic(document.content, media_type)
            key = f"ingestions/{principal.workspace_id}/{ingestion_id}/source"
            self.objects.put(key, document.content)
            return key
        if document.upload_id is None:
            refuse("content", "is missing")
        upload = self._upload(principal, document.upload_id or ingestion_id)
        key = upload_key(principal.workspace_id, upload.id)
        size = self.objects.size(key)
        if size is None:
            raise NotFound("Nothing was uploaded yet; PUT the bytes first.", reason="not-uploaded")
        check_size(size)
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


def check_size(size: int) -> None:
    """Raise TooLarge above MAX_DOCUMENT_BYTES."""
    if size > MAX_DOCUMENT_BYTES:
        raise TooLarge(
            f"The document has {size} bytes; at most {MAX_DOCUMENT_BYTES} are taken.",
            limit=MAX_DOCUMENT_BYTES,
        )


def source_owner(source_uri: str) -> Owner:
    """Return the data subject that a source is; a long URI stands by its digest."""
    if len(source_uri.encode()) <= LONGEST_SOURCE_KEY:
        return SOURCE, source_uri
    return SOURCE, "sha256:" + hashlib.sha256(source_uri.encode()).hexdigest()


def upload_key(workspace_id: UUID, upload_id: UUID) -> str:
    """Return where the bytes of a direct upload arrive."""
    return f"uploads/{workspace_id}/{upload_id}"


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
    write.register()
    stored = write.stores.documents.known(receipt.identity)
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
