"""A mailbox as a source and sink of tickets: threads, later messages, answers. Not IMAP or SMTP.

A ticket is a thread. Its id is the Message-ID of the mail that began the thread (the first of
`References`, RFC 5322 3.6.4), or the mail's place in the folder where it has none that can be
looked up. The mailbox is only read; what is set aside stays there, and is counted by its reason.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.tickets.adapter import Capabilities, Incoming, Message, Polled
from cairn.tickets.attachments import labels_of, listed
from cairn.tickets.mail_text import Mail, read_mail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.clock import Clock
    from cairn.tickets.adapter import Delivered, Events

MESSAGE_ID, REFERENCES = "Message-ID", "References"
PLACE = "uid:"
WIRE = SMTP.clone(max_line_length=900)
"""Ids in headers are never folded: programs do not find the thread of those that are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a folder was read. UIDs grow as long as `validity` stays (RFC 9051 2.3.1.1)."""

    validity: int
    uid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMail:
    """A mail of the folder; `raw` is its beginning where it is a large one."""

    uid: int
    raw: bytes
    arrived_at: datetime | None
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Mails behind a place, by UID, and the place to go on from; `more` lie behind that."""

    mails: Sequence[StoredMail]
    place: Place
    more: bool


class MailBox(Protocol):
    """A folder that is read, a folder of what was sent, and the way out.

    Raises Unavailable without an answer, ConnectorUnauthorised for refused credentials,
    ValidationFailed for a mail that the way out refuses for good.
    """

    def after(self, place: Place | None, since: date, limit: int) -> Batch:
        """Return mails behind `place` that arrived since a day; another validity begins anew."""
        ...

    def find(self, *headers: tuple[str, str]) -> StoredMail | None:
        """Return the first mail with one of the headers: what was sent is looked at last."""
        ...

    def get(self, place: Place) -> StoredMail | None:
        """Return the mail at a place."""
        ...

    def send(self, message_id: str, recipient: str, raw: bytes) -> None:
        """Send a mail, unless the folder of what was sent says that it was."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Whose mailbox it is, and what of a source's settings is not the sign-in."""

    address: str
    name: str = ""
    customer: str = ""
    authserv_id: str = ""
    backfill: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAdapter:
    """Implements `TicketAdapter`. A mailbox has no notes, no statuses and no webhooks."""

    box: MailBox
    own: Address
    clock: Clock

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(webhooks=False, private_notes=False, statuses=False)

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return the mails behind the cursor: tickets, and what was written to threads later."""
        place, since = _read(cursor, (self.clock() - self.own.backfill).date())
        batch = self.box.after(place, since, limit)
        tickets: dict[str, Incoming] = {}
        messages: list[Message] = []
        aside: Counter[str] = Counter()
        for stored in batch.mails:
            mail = read_mail(
                stored.raw,
                own=self.own.address,
                authserv_id=self.own.authserv_id,
                whole=stored.whole,
            )
            if mail.set_aside is not None:
                aside[mail.set_aside] += 1
                continue
            mail_id = _id_of(mail, batch.place.validity, stored.uid)
            thread = self._thread(mail) or mail_id
            ticket = self._ticket(mail, stored, thread, mail_id)
            if tickets.setdefault(thread, ticket) is not ticket or thread != mail_id:
                messages.append(_message(mail, stored, thread, mail_id))
        return Polled(
            tickets=tuple(tickets.values()),
            cursor=json.dumps([batch.place.validity, batch.place.uid, since.isoformat()]),
            more=batch.more,
            messages=tuple(messages),
            set_aside=aside,
        )

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Refuse: mail is fetched."""
        _refuse()

    def read(self, delivered: Delivered) -> Events:
        """Refuse: mail is fetched."""
        _refuse()

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Answer who began the thread; NotFound when its first mail is no longer there.

        The Message-ID follows from the key: who gets the same answer twice, after a crash between
        sending it and taking note of that, can tell.
        """
        stored = self._first_of(external_id)
        mail = read_mail(stored.raw, own=self.own.address) if stored else None
        if mail is None or mail.sender is None or mail.set_aside is not None:
            raise NotFound("The mail of this ticket is not there.", external_id=external_id)
        domain = self.own.address.rpartition("@")[2]
        message_id = f"<cairn.{hashlib.sha256(key.encode()).hexdigest()[:40]}@{domain}>"
        raw = self._answer(mail, external_id, text, message_id).as_bytes(policy=WIRE)
        self.box.send(message_id, mail.sender, raw)
        return message_id

    def set_status(self, external_id: str, status: str) -> str:
        """Refuse: a mail has no status."""
        raise ValidationFailed("A mail has no status.", reason="not-supported")

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Refuse: a mailbox has no time entries."""
        raise ValidationFailed("A mailbox has no time entries.", reason="not-supported")

    def _thread(self, mail: Mail) -> str | None:
        """Return what began the thread of a reply; None for a mail that begins one.

        Of a reply that names its parent alone, the parent says: often it is our own answer.
        """
        if mail.references:
            return mail.references[0]
        if mail.in_reply_to is None:
            return None
        parent = self.box.find((MESSAGE_ID, mail.in_reply_to))
        above = read_mail(parent.raw, own=self.own.address) if parent else None
        return above.references[0] if above and above.references else mail.in_reply_to

    def _first_of(self, external_id: str) -> StoredMail | None:
        if external_id.startswith(PLACE):
            validity, _, uid = external_id.removeprefix(PLACE).partition(":")
            if not (validity.isdecimal() and uid.isdecimal()):
                return None
            return self.box.get(Place(validity=int(validity), uid=int(uid)))
        return self.box.find((MESSAGE_ID, external_id), (REFERENCES, external_id))

    def _ticket(self, mail: Mail, stored: StoredMail, thread: str, mail_id: str) -> Incoming:
        """Return the ticket that a mail begins, if its thread is not known. It never changes."""
        return Incoming(
            external_id=thread,
            title=mail.subject,
            body=mail.text,
            customer=self.own.customer,
            requester_email=mail.sender,
            received_at=stored.arrived_at,
            source_metadata={
                "message_id": mail_id,
                "sender_name": mail.sender_name,
                "attachments": labels_of(mail.attachments),
            },
            attachments=mail.attachments,
        )

    def _answer(self, mail: Mail, thread: str, text: str, message_id: str) -> EmailMessage:
        """Return an answer which says that no person wrote it (RFC 3834), so nothing replies."""
        subject = mail.subject
        if not subject.casefold().startswith("re:"):
            subject = f"Re: {subject}"
        answer = EmailMessage(policy=WIRE)
        answer["From"] = formataddr((self.own.name, self.own.address))
        answer["To"] = mail.sender
        answer["Subject"] = subject
        answer["Date"] = format_datetime(self.clock().astimezone(UTC))
        answer[MESSAGE_ID] = message_id
        answer["Auto-Submitted"] = "auto-replied"
        answer["X-Auto-Response-Suppress"] = "All"
        parent = mail.message_id
        if parent is not None:
            answer["In-Reply-To"] = parent
            answer[REFERENCES] = parent if thread in (parent, "") else f"{thread} {parent}"
        answer.set_content(text)
        return answer


def address_of(config: Mapping[str, Any]) -> Address:
    """Return what of a source's settings is not the sign-in."""
    return Address(
        address=str(config.get("address", "")).casefold(),
        name=str(config.get("name", "")),
        customer=str(config.get("customer", "")),
        authserv_id=str(config.get("authserv_id", "")),
        backfill=timedelta(hours=float(config.get("backfill_hours", 24))),
    )


def _message(mail: Mail, stored: StoredMail, thread: str, mail_id: str) -> Message:
    return Message(
        ticket=thread,
        id=mail_id,
        text=mail.text + listed(mail.attachments),
        author=mail.sender,
        written_at=stored.arrived_at,
        attachments=mail.attachments,
    )


def _id_of(mail: Mail, validity: int, uid: int) -> str:
    return mail.message_id or f"{PLACE}{validity}:{uid}"


def _read(cursor: str | None, begin: date) -> tuple[Place | None, date]:
    """Return a kept cursor; the beginning when there is none, or none of ours."""
    try:
        validity, uid, since = json.loads(cursor or "null")
        return Place(validity=int(validity), uid=int(uid)), date.fromisoformat(since)
    except (ValueError, TypeError):
        return None, begin


def _refuse() -> NoReturn:
    raise Conflict("A mailbox sends no webhooks: it is polled.", reason="no-webhooks")
