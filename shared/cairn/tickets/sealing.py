"""What a ticket says, sealed into its row and opened again. Not the ledger's bodies."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from cairn.kernel.errors import FieldError, TooLarge, ValidationFailed
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import check_characters
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.kernel.text.hashes import sha256
from cairn.ledger.keys import BodyUnreadable, key_subjects, subject_mark
from cairn.tickets.ticket import MAX_BODY_CHARS, MAX_TITLE_CHARS, RequesterMessage, Ticket
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import EARLIEST_YEAR, LATEST_YEAR, moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.tickets.adapter import Incoming, Message
    from cairn.tickets.ticket import MessageRow, ReplyRow, TicketRow
    from cairn.writing.checks import Owner


MAX_NAME_CHARS = 200

_COMPANY = re.compile(r"\s+[\u2014\u2013|/-]\s+")
_BETWEEN = re.compile(r"[^\w]+|_+")
_EMAIL = re.compile(r"[^\s@<>\"']{1,64}@[^\s@<>\"']{1,190}")


class About(Protocol):
    """Anything that has a customer and a requester."""

    @property
    def customer(self) -> str: ...
    @property
    def requester_email(self) -> str | None: ...


def customer_key(customer: str) -> str | None:
    """Return the natural key of a client: `Hartwell Law \u2014 Kevin Reyes` is `hartwell-law`.

    None for a name without a letter or digit.
    """
    company = names_in(customer)[0]
    key = _BETWEEN.sub("-", company.casefold()).strip("-")[:MAX_NAME_CHARS]
    return f"{key}-customer" if key == GLOBAL_CLIENT else key or None


def names_in(customer: str) -> list[str]:
    """Return the names a customer's has: the company's first, then that of who asks for it."""
    return _COMPANY.split(unicodedata.normalize("NFKC", customer).strip())


def requester_key(email: str | None) -> str | None:
    """Return the natural key of a person: the address in small letters; None for no address."""
    text = unicodedata.normalize("NFKC", email or "").strip().casefold()
    return text if _EMAIL.fullmatch(text) else None


def owners_of(ticket: About) -> tuple[Owner, ...]:
    """Return whose data a ticket is: its customer (a client), its requester (a person)."""
    client, person = customer_key(ticket.customer), requester_key(ticket.requester_email)
    owners = (("client", client), ("person", person))
    return tuple((kind, name) for kind, name in owners if name)


MAX_STORED_CHARS = 1_000_000
"""Of a body in the ledger. Longer ones are refused over the API; a source's are cut."""

MAX_EXTERNAL_ID_CHARS = 200
MAX_CUSTOMER_CHARS = 200
MAX_EMAIL_CHARS = 254
MAX_METADATA_BYTES = 16_384
MAX_METADATA_DEPTH = 5
NO_TITLE = "(no title)"
NO_TEXT = "(no text)"
CUT = "\n[cut by cairn: {count} characters in all]"

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketText:
    """What a ticket says, as it is sealed into its row; `cut` bodies are whole in the ledger."""

    title: str
    body: str
    customer: str
    requester_email: str | None
    source_metadata: Mapping[str, Any]
    cut: bool = False


def checked(incoming: Incoming) -> Incoming:
    """Return it unchanged; ValidationFailed or TooLarge names the field that cannot be kept."""
    clean_text(incoming.external_id, field="external_id", max_chars=MAX_EXTERNAL_ID_CHARS)
    clean_text(incoming.title, field="title", max_chars=MAX_TITLE_CHARS)
    _checked("body", incoming.body, MAX_STORED_CHARS)
    _checked("customer", incoming.customer, MAX_CUSTOMER_CHARS)
    if incoming.requester_email is not None:
        clean_text(incoming.requester_email, field="requester_email", max_chars=MAX_EMAIL_CHARS)
    for name in ("sla_at", "received_at", "modified_at"):
        moment(getattr(incoming, name), name)
    _metadata(incoming.source_metadata)
    return incoming


def mended(incoming: Incoming) -> Incoming:
    """Return it as it can be kept; ValidationFailed only when it names no ticket at all."""
    external_id = _mended(incoming.external_id, MAX_EXTERNAL_ID_CHARS)
    if external_id != incoming.external_id or not external_id.strip():
        raise ValidationFailed(
            "A ticket of this source has no id that can be kept.",
            reason="external-id",
            errors=[FieldError("external_id", "must be 1 to 200 characters")],
        )
    email = _mended(incoming.requester_email or "", MAX_EMAIL_CHARS)
    return replace(
        incoming,
        title=_mended(incoming.title, MAX_TITLE_CHARS).strip() or NO_TITLE,
        body=shortened(_mended(incoming.body), MAX_STORED_CHARS),
        customer=_mended(incoming.customer, MAX_CUSTOMER_CHARS),
        requester_email=email or None,
        sla_at=_within(incoming.sla_at),
        received_at=_within(incoming.received_at),
        modified_at=_within(incoming.modified_at),
        source_metadata=_mended_metadata(incoming.source_metadata),
    )


def checked_message(message: Message) -> Message:
    """Return it unchanged; ValidationFailed or TooLarge names the field that cannot be kept."""
    clean_text(message.id, field="external_id", max_chars=MAX_EXTERNAL_ID_CHARS)
    _checked("text", message.text, MAX_STORED_CHARS)
    clean_text(message.text, field="text", max_chars=MAX_STORED_CHARS)
    moment(message.written_at, "written_at")
    return message


def mended_message(message: Message) -> Message | None:
    """Return it as it can be kept; None when it has no id that can be."""
    message_id = _mended(message.id, MAX_EXTERNAL_ID_CHARS)
    if message_id != message.id or not message_id.strip():
        return None
    text = shortened(_mended(message.text), MAX_STORED_CHARS)
    written_at = _within(message.written_at)
    return replace(message, text=text.strip() or NO_TEXT, written_at=written_at)


def text_of(incoming: Incoming) -> TicketText:
    """Return what of a checked ticket its row holds."""
    return TicketText(
        title=incoming.title,
        body=shortened(incoming.body, MAX_BODY_CHARS),
        customer=incoming.customer,
        requester_email=incoming.requester_email,
        source_metadata=dict(incoming.source_metadata),
        cut=len(incoming.body) > MAX_BODY_CHARS,
    )


def shortened(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; what was cut ends with a marker."""
    if len(text) <= limit:
        return text
    marker = CUT.format(count=len(text))
    return text[: limit - len(marker)] + marker


def _checked(name: str, value: str, limit: int) -> None:
    if len(value) > limit:
        message = f"has {len(value)} characters; at most {limit} are allowed"
        raise TooLarge(f"{name} {message}.", errors=[FieldError(name, message)])
    check_characters(value, name)


def _metadata(value: Mapping[str, Any]) -> None:
    clean_json(
        dict(value),
        field="source_metadata",
        max_bytes=MAX_METADATA_BYTES,
        max_depth=MAX_METADATA_DEPTH,
    )


def _mended(text: str, limit: int | None = None) -> str:
    """Return a text without NUL and lone surrogates, cut at `limit` characters."""
    return _UNSTORABLE.sub(_REPLACEMENT, text)[:limit]


def _mended_metadata(value: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        _metadata(value)
    except ValidationFailed as refused:
        return {"left_out": refused.reason}
    return dict(value)


def _within(value: datetime | None) -> datetime | None:
    """Return a time that stores can keep; None for one that is none."""
    if value is None or value.utcoffset() is None:
        return None
    return value if EARLIEST_YEAR <= value.year <= LATEST_YEAR else None


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
        subjects = {
            subject for row in rows for subject in key_subjects(workspace_id, row.data_subjects)
        }
        keys = self.keys.get(workspace_id, subjects)
        texts: dict[UUID, TicketText] = {}
        for row in rows:
            try:
                texts[row.id] = opened_text(self.cipher, workspace_id, row, keys)
            except BodyUnreadable:
                continue
        return texts

    def said(self, workspace_id: UUID, row: ReplyRow | MessageRow) -> str | None:
        """Return the text of a reply or a message; None when it was about somebody forgotten."""
        subjects = key_subjects(workspace_id, row.data_subjects)
        keys = self.keys.get(workspace_id, subjects)
        try:
            opened = self.cipher.open(row.id, workspace_id, subjects, keys, row.sealed)
        except BodyUnreadable:
            return None
        return str(opened["text"])

    def messages(
        self, workspace_id: UUID, rows: Sequence[MessageRow]
    ) -> tuple[RequesterMessage, ...]:
        """Return messages in their order, without those that nobody can read any more."""
        texts = ((self.said(workspace_id, row), row.written_at) for row in rows)
        return tuple(
            RequesterMessage(text=text, written_at=at) for text, at in texts if text is not None
        )


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
    return convert(
        row,
        Ticket,
        workspace_id=workspace_id,
        title=text.title,
        body=text.body,
        customer=text.customer,
        requester_email=text.requester_email,
        source_metadata=text.source_metadata,
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
