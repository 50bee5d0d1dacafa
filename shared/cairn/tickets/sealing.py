"""What a ticket says, sealed into its row and opened again. Not the ledger's bodies."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.text.hashes import sha256
from cairn.ledger.keys import BodyUnreadable, key_subjects, subject_mark
from cairn.tickets.incoming import TicketText, shortened
from cairn.tickets.ticket import MAX_BODY_CHARS, Said, Ticket

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.tickets.ports import MessageRow, ReplyRow, TicketRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """Opens rows of tickets, messages and replies, with the keys of whom they are about."""

    keys: KeyStore
    cipher: BodyCipher

    def text(self, workspace_id: UUID, row: TicketRow) -> TicketText:
        """Return what a ticket says; BodyUnreadable when it was about somebody forgotten."""
        keys = self.keys.get(workspace_id, key_subjects(workspace_id, row.data_subjects))
        return opened_text(self.cipher, workspace_id, row, keys)

    def ticket(self, workspace_id: UUID, row: TicketRow) -> Ticket:
        """Return the whole ticket; raises as `text`."""
        return ticket_of(workspace_id, row, self.text(workspace_id, row))

    def tickets(self, workspace_id: UUID, rows: Sequence[TicketRow]) -> Mapping[UUID, TicketText]:
        """Return what many tickets say, without those that nobody can read any more."""
        wanted = {one for row in rows for one in key_subjects(workspace_id, row.data_subjects)}
        keys = self.keys.get(workspace_id, wanted)
        found: dict[UUID, TicketText] = {}
        for row in rows:
            try:
                found[row.id] = opened_text(self.cipher, workspace_id, row, keys)
            except BodyUnreadable:
                continue
        return found

    def said(self, workspace_id: UUID, row: ReplyRow | MessageRow) -> str | None:
        """Return the text of a reply or a message; None when it was about somebody forgotten."""
        subjects = key_subjects(workspace_id, row.data_subjects)
        keys = self.keys.get(workspace_id, subjects)
        try:
            opened = self.cipher.open(row.id, workspace_id, subjects, keys, row.sealed)
        except BodyUnreadable:
            return None
        return str(opened["text"])

    def messages(self, workspace_id: UUID, rows: Sequence[MessageRow]) -> tuple[Said, ...]:
        """Return messages in their order, without those that nobody can read any more."""
        texts = ((self.said(workspace_id, row), row.written_at) for row in rows)
        return tuple(Said(text=text, written_at=at) for text, at in texts if text is not None)


def opened_text(
    cipher: BodyCipher, workspace_id: UUID, row: TicketRow, keys: Mapping[UUID, bytes]
) -> TicketText:
    """Return what a ticket says; BodyUnreadable when it was about somebody forgotten."""
    subjects = key_subjects(workspace_id, row.data_subjects)
    if not row.sealed:
        raise BodyUnreadable("What this ticket said was forgotten.", reason="key-destroyed")
    opened = cast("Any", cipher.open(row.id, workspace_id, subjects, keys, row.sealed))
    return TicketText(**opened)


def ticket_of(workspace_id: UUID, row: TicketRow, text: TicketText) -> Ticket:
    """Return a ticket of its row and what it says."""
    return Ticket(
        id=row.id,
        workspace_id=workspace_id,
        source=row.source,
        external_id=row.external_id,
        title=text.title,
        body=text.body,
        customer=text.customer,
        requester_email=text.requester_email,
        priority=row.priority,
        status=row.status,
        persona=row.persona,
        sla_at=row.sla_at,
        received_at=row.received_at,
        screening=row.screening,
        source_metadata=text.source_metadata,
        data_subjects=row.data_subjects,
    )


def sealed_body(text: TicketText) -> dict[str, Any]:
    """Return what is sealed into a row."""
    return asdict(text)


def sealed_message(text: str) -> dict[str, Any]:
    """Return what is sealed into the row of a message; the whole stays in the ledger."""
    return {"text": shortened(text, MAX_BODY_CHARS)}


def mark_of(workspace_key: bytes, content: Mapping[str, Any]) -> bytes:
    """Return what a ticket's content is recognised by, without being kept: a keyed hash."""
    written = json.dumps(content, sort_keys=True, separators=(",", ":"))
    digest = sha256(written.encode("ascii")).hex()
    return subject_mark(workspace_key, "ticket", digest)
