"""What comes with tickets and messages becomes documents, each once; the rest is told why not.

A document is about whom its ticket is about, and of that customer: nobody else's investigation
finds it, and forgetting either of them takes it along. Not its parsing: `documents` does that.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from cairn.documents import media
from cairn.documents.ports import NewDocument
from cairn.kernel.access import Scope
from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed
from cairn.tickets.sealing import customer_key, requester_key
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.documents.ports import DocumentAccepted
    from cairn.kernel.access import Principal
    from cairn.tickets.adapter import Attachment, Incoming, Message
    from cairn.tickets.sealing import Sealed
    from cairn.tickets.ticket import TicketRow
    from cairn.writing.platform import Platform

MOST = 20
"""Attachments of one mail; the rest is named and not kept."""

MOST_NAMED = 40
NOT_READABLE = "not-readable"
"""What a list has and nobody may read, or is gone: a file, or a whole ticket."""

MOST_BYTES = 5_000_000
MAX_NAME_CHARS = 200
_ARCHIVES = ("zip", "x-7z-compressed", "gzip", "x-gzip", "x-tar", "x-rar", "vnd.rar", "x-bzip2",
             "x-xz", "x-zip-compressed", "x-rar-compressed", "java-archive")  # fmt: skip
_PAGES = (b"<!doctype html", b"<html", b"<script", b"<svg")


class Accept(Protocol):
    """Accepts a document; see `documents.accept.AcceptDocument`."""

    def __call__(
        self,
        principal: Principal,
        document: NewDocument,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> DocumentAccepted: ...


def labels_of(attachments: Sequence[Attachment]) -> list[dict[str, Any]]:
    """Return what a ticket says of its attachments: name, size, and why one is not kept."""
    return [
        {
            "name": each.name[:MAX_NAME_CHARS],
            "bytes": each.size or len(each.content),
            **({"reason": reason} if (reason := refusal(each, number)) else {}),
        }
        for number, each in enumerate(attachments)
    ]


def listed(attachments: Sequence[Attachment]) -> str:
    """Return the same as lines below a message; empty without any."""
    lines = [
        f"[attached: {label['name']}, " + (label.get("reason") or "kept as a document") + "]"
        for label in labels_of(attachments)
    ]
    return "\n\n" + "\n".join(lines) if lines else ""


def named(attachments: Sequence[Attachment]) -> dict[str, Any]:
    """Return what a ticket's metadata says of its attachments; nothing without any."""
    return {"attachments": labels_of(attachments)} if attachments else {}


def is_elsewhere(attachment: Attachment) -> bool:
    """Return whether its desk keeps it still: it has an address, and no content."""
    return bool(attachment.url) and not attachment.content


def source_uri(source: str, external_id: str, attachment: Attachment) -> str:
    """Return what the document of an attachment is called: by its desk's id, or by its content."""
    name = f"file-{attachment.file}" if attachment.file else _digest(attachment)[:32]
    return f"ticket:{source}/{quote(external_id, safe='')}/{name}"


def refusal(attachment: Attachment, number: int = 0) -> str | None:
    """Return why an attachment becomes no document, as a stable word; None for one that does.

    Of one that its desk keeps still, as far as the desk's description says.
    """
    if number >= MOST:
        return "too-many"
    if attachment.refused:
        return attachment.refused
    if not attachment.whole:
        return "mail-too-large"
    if max(attachment.size, len(attachment.content)) > MOST_BYTES:
        return "too-large"
    try:
        media_type = _type_of(attachment)
        if is_elsewhere(attachment):
            return None
        if not attachment.content.strip():
            return "empty-document"
        media.check_magic(attachment.content, media_type)
    except ValidationFailed as refused:
        return refused.reason
    return None


def _type_of(attachment: Attachment) -> str:
    """Return the media type; ValidationFailed for one that is not read, or that lies."""
    kind, _, name = attachment.media_type.partition(";")[0].strip().lower().partition("/")
    if kind == "application" and name in _ARCHIVES:
        raise ValidationFailed("Archives are not unpacked.", reason="archive")
    if kind == "image" and attachment.content[:512].lstrip().lower().startswith(_PAGES):
        raise ValidationFailed("A page is called a picture.", reason="media-type-mismatch")
    declared = attachment.media_type
    if (kind, name) in (("application", "octet-stream"), ("", "")):
        declared = media.media_type_of(attachment.name) or declared
    return media.normalise_media_type(declared)


def _digest(attachment: Attachment) -> str:
    return hashlib.sha256(attachment.content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachDocuments:
    """Makes documents of what came with tickets and messages that were taken in."""

    platform: Platform
    sealed: Sealed
    accept: Accept

    def __call__(
        self,
        principal: Principal,
        source: str,
        tickets: Sequence[Incoming],
        messages: Sequence[Message] = (),
    ) -> int:
        """Return how many there are; again, each is what it was. Raises Unavailable.

        What is refused after all (its ticket was forgotten meanwhile) is logged and left out.
        """
        pairs = [
            *((each.external_id, each.attachments) for each in tickets),
            *((each.ticket, each.attachments) for each in messages),
        ]
        names = {name for name, attachments in pairs if attachments}
        if not names:
            return 0
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.tickets.known(source, names)
        return sum(
            self._keep(principal, rows[name], each)
            for name, attachments in pairs
            if name in rows and rows[name].sealed
            for number, each in enumerate(attachments)
            if refusal(each, number) is None and not is_elsewhere(each)
        )

    def _keep(self, principal: Principal, row: TicketRow, attachment: Attachment) -> bool:
        digest = _digest(attachment)
        try:
            text = self.sealed.text(principal.workspace_id, row)
            document = NewDocument(
                source_uri=source_uri(row.source, row.external_id, attachment),
                # of nobody's customer it is its requester's alone
                client_id=customer_key(text.customer) or requester_key(text.requester_email) or "",
                scope=Scope.ADMIN,
                title=attachment.name[:MAX_NAME_CHARS],
                media_type=_type_of(attachment),
                content=attachment.content,
                metadata={"ticket_id": str(row.id), "sha256": digest},
                subjects=row.data_subjects,
            )
            if not document.client_id:
                document = replace(document, client_id=f"ticket-{row.id}")
            name = attachment.file or digest
            key = IdempotencyKey(key=f"attachment/{row.id}/{name}", body_hash=bytes.fromhex(digest))
            self.accept(principal, document, idempotency=key)
        except Unavailable:
            raise
        except CairnError as refused:
            fields: dict[str, Any] = {"ticket_id": str(row.id), "reason": refused.reason}
            self.platform.warn("attachment_not_kept", fields)
            return False
        return True
