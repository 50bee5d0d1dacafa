"""Uploads: bytes that go to the object store past the API, and what is checked when they came.

A signature covers all that an upload may be: its key, size, media type, with a checksum its bytes,
and that nothing is there yet. Naming an upload in a document is `accept.py`'s.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.documents import media
from cairn.documents.ports import Upload, UploadTicket
from cairn.kernel.errors import Conflict, NotFound, TooLarge, Unavailable, ValidationFailed
from cairn.writing.checks import require_writer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.ports import ObjectStore
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions

UPLOAD_LIFETIME = timedelta(minutes=15)
NAMED_WITHIN = timedelta(days=1)
"""How long after its URL an upload may become a document."""

KEPT = timedelta(days=7)
"""How long after its URL an upload is there, whether a document names it or not."""

AT_ONCE = 50
MAGIC_BYTES = 1_024
UNKNOWN = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateUpload:
    """Announces a direct upload, for documents above the API's body limit."""

    transactions: Transactions[Stores]
    objects: ObjectStore
    clock: Clock
    new_id: IdSource

    def __call__(
        self,
        principal: Principal,
        *,
        size: int,
        media_type: str | None = None,
        sha256: str | None = None,
    ) -> UploadTicket:
        """Return where to PUT `size` bytes, those of `sha256` if it is given.

        Raises ValidationFailed for a media type that is not read, TooLarge.
        """
        require_writer(principal)
        kind = media_type or UNKNOWN
        check_size(size, media.PDF if kind == UNKNOWN else media.normalise_media_type(kind))
        now = self.clock()
        upload = Upload(
            id=self.new_id(), size=size, media_type=kind, expires_at=now + UPLOAD_LIFETIME
        )
        with self.transactions.writing(principal) as stores:
            stores.uploads.add(upload, now)
            old = stores.uploads.expired(now - KEPT, AT_ONCE)
        self._drop(principal, old)
        signed = self.objects.presign(
            upload_key(principal.workspace_id, upload.id),
            size=size,
            media_type=kind,
            sha256=sha256,
            seconds=int(UPLOAD_LIFETIME.total_seconds()),
        )
        return UploadTicket(
            upload_id=upload.id,
            url=signed.url,
            headers=signed.headers,
            expires_at=upload.expires_at,
            max_bytes=size,
        )

    def place(self, principal: Principal) -> str:
        """Return what the URLs of a workspace's uploads begin with: where a page may put some."""
        key = f"uploads/{principal.workspace_id}/"
        signed = self.objects.presign(key, size=1, media_type=UNKNOWN, sha256=None, seconds=1)
        return signed.url.partition("?")[0]

    def _drop(self, principal: Principal, old: Sequence[UUID]) -> None:
        """Remove uploads of long ago; what the object store keeps now, it gives up another time."""
        if not old:
            return
        with suppress(Unavailable):
            for upload_id in old:
                self.objects.delete(upload_key(principal.workspace_id, upload_id))
            with self.transactions.writing(principal) as stores:
                stores.uploads.remove(old)


def upload_key(workspace_id: UUID, upload_id: UUID) -> str:
    """Return where the bytes of a direct upload arrive."""
    return f"uploads/{workspace_id}/{upload_id}"


def check_size(size: int, media_type: str) -> None:
    """Raise TooLarge for more than a document of a media type may have."""
    most = media.largest_of(media_type)
    if size > most:
        raise TooLarge(f"The document has {size} bytes; at most {most} are taken.", limit=most)


def check_upload(
    objects: ObjectStore, upload: Upload, key: str, media_type: str, now: datetime
) -> None:
    """Raise unless the bytes of an upload are there in time, as announced, of their media type."""
    if now > upload.expires_at + NAMED_WITHIN:
        raise Conflict("This upload is too old; upload the bytes again.", reason="upload-expired")
    size = objects.size(key)
    if size is None:
        raise NotFound("Nothing was uploaded yet; PUT the bytes first.", reason="not-uploaded")
    check_size(size, media_type)
    if size != upload.size:
        raise ValidationFailed(
            f"The upload has {size} bytes, {upload.size} were announced.", reason="upload-size"
        )
    media.check_magic(objects.first_bytes(key, MAGIC_BYTES), media_type)
