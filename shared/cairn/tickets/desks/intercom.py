"""Intercom as a source and sink of tickets: conversations and their parts. Not the HTTP.

Conversations hold no time entries, and have three states.
https://developers.intercom.com/docs/references/rest-api/api.intercom.io/conversations
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING

from cairn.kernel.errors import ValidationFailed
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, text_at
from cairn.tickets.attachments import listed, named
from cairn.tickets.deliveries import check_signature, delivery_id, record_of
from cairn.tickets.desks.walking import (
    Listed,
    Record,
    WalkedDesk,
    attached,
    checked_id,
    is_ours,
    marked,
    no_status,
    object_at,
    object_of,
    rows_of,
    written,
)
from cairn.tickets.html import plain_text
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cairn.tickets.adapter import Attachment, Delivered

STATUSES = {
    "auto_resolved": "closed",
    "needs_tech": "open",
    "needs_l2": "open",
    "needs_client": "open",
    "failed": "open",
}
SIGNATURE_HEADER = "x-hub-signature"
_PARTS = {"closed": "close", "open": "open"}
"""By state, what brings a conversation there. Snoozing needs a moment, so it is left to people."""

_CUSTOMERS = frozenset(["user", "lead", "contact"])


@dataclass(frozen=True, slots=True, kw_only=True)
class IntercomAdapter(WalkedDesk):
    """Implements `TicketAdapter`. `admin` is the number of the teammate whom Cairn answers as."""

    admin: str

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(webhooks=self.webhook_secret is not None)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return conversations that changed, by when they began."""
        after = {"starting_after": page} if page else {}
        seconds = int(since.timestamp()) - 1
        body: Record = {
            "query": {"field": "updated_at", "operator": ">", "value": seconds},
            "sort": {"field": "created_at", "order": "ascending"},
            "pagination": {"per_page": limit, **after},
        }
        answer = object_of(self.api("POST", "/conversations/search", body=body, repeatable=True))
        following = text_at(answer, "pages", "next", "starting_after")
        return Listed(records=rows_of(answer, "conversations"), following=following)

    def changed(self, record: Record) -> datetime | None:
        """Return when it changed; a part changes it."""
        return moment_of(record, "updated_at")

    def whole(self, record: Record, since: datetime) -> Record:
        """Return it with its parts."""
        return self._conversation(text_at(record, "id"))

    def incoming(self, record: Record) -> Incoming:
        """Return a conversation in canonical form."""
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the later parts of users and leads."""
        parts = rows_of(record, "conversation_parts", "conversation_parts")
        return (message_of(part, record) for part in parts)

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body is signed with the app's client secret."""
        secret = (self.webhook_secret or "").encode()
        expected = hmac.new(secret, delivered.body, hashlib.sha1).hexdigest()
        sent = delivered.headers.get(SIGNATURE_HEADER, "") if secret else ""
        check_signature(sent, f"sha1={expected}")

    def read(self, delivered: Delivered) -> Events:
        """Return the conversation that a notification is about, read at the desk."""
        document = record_of(delivered)
        name = delivery_id(text_at(document, "id"), delivered)
        number = text_at(document, "data", "item", "id")
        if not text_at(document, "topic").startswith("conversation.") or not number:
            return Events(delivery_id=name, tickets=())
        return self.told_of(name, {"id": checked_id(number)})

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Answer the customer, or note; what carries the key is there already."""
        conversation = self._conversation(external_id)
        existing = _written(conversation, key)
        if existing:
            return existing
        body = {
            "message_type": "note" if private else "comment",
            "type": "admin",
            "admin_id": self.admin,
            "body": escape(marked(text, key)).replace("\n", "<br>"),
        }
        path = f"/conversations/{external_id}/reply"
        return _written(object_of(self.api("POST", path, body=body)), key)

    def set_status(self, external_id: str, status: str) -> str:
        """Open or close the conversation, unless it is."""
        called = self.statuses[status].casefold()
        conversation = self._conversation(external_id)
        if called not in _PARTS:
            raise no_status(self.statuses[status])
        if text_at(conversation, "state") != called:
            body = {"message_type": _PARTS[called], "type": "admin", "admin_id": self.admin}
            self.api("POST", f"/conversations/{external_id}/parts", body=body, repeatable=True)
        return called

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Refuse: conversations have no time entries."""
        raise ValidationFailed(
            "Intercom's conversations have no time entries.", reason="not-supported"
        )

    def _conversation(self, number: str) -> Record:
        path = f"/conversations/{checked_id(number)}"
        return object_of(self.api("GET", path, repeatable=True))


def incoming(conversation: Record, customer: str) -> Incoming:
    """Return a conversation in canonical form; one without a title is called by its text. Pure."""
    body = plain_text(text_at(conversation, "source", "body"))
    files = attachments_of(object_at(conversation, "source"), "source")
    title = text_at(conversation, "title") or plain_text(text_at(conversation, "source", "subject"))
    return Incoming(
        external_id=text_at(conversation, "id"),
        title=title or body.partition("\n")[0][:120],
        body=body,
        customer=customer,
        requester_email=_address(conversation, "source", "author"),
        priority=(
            Priority.HIGH if text_at(conversation, "priority") == "priority" else Priority.MEDIUM
        ),
        received_at=moment_of(conversation, "created_at"),
        modified_at=moment_of(conversation, "updated_at") or moment_of(conversation, "created_at"),
        closed=text_at(conversation, "state") == "closed",
        source_metadata={"status": text_at(conversation, "state"), **named(files)},
        attachments=files,
    )


def attachments_of(record: Record, name: str) -> tuple[Attachment, ...]:
    """Return what a user or lead attached to a part, or to the conversation's source. Pure.

    Files have no ids: each is called by the part that it came with, and its place in there.
    """
    rows = rows_of(record, "attachments") if _is_outside(record) else []
    return attached(
        ({**row, "id": f"{name}-{place}"} for place, row in enumerate(rows)),
        name="name",
        media_type="content_type",
        size=("filesize",),
    )


def message_of(part: Record, conversation: Record) -> Message | None:
    """Return what a user or lead wrote later; None for any other part. Pure."""
    text, number = plain_text(text_at(part, "body")), text_at(part, "id")
    files = attachments_of(part, number)
    if not _is_outside(part) or not number or not (text or files) or is_ours(text):
        return None
    return Message(
        ticket=text_at(conversation, "id"),
        id=f"part:{number}",
        text=text + listed(files),
        author=_address(part, "author"),
        written_at=moment_of(part, "created_at"),
        attachments=files,
    )


def _is_outside(record: Record) -> bool:
    return text_at(record, "author", "type") in _CUSTOMERS


def moment_of(record: Record, name: str) -> datetime | None:
    """Return a time that is written in seconds since 1970; None for no time."""
    text = text_at(record, name)
    return datetime.fromtimestamp(int(text), UTC) if text.isdecimal() and len(text) < 12 else None


def _written(conversation: Record, key: str) -> str:
    parts = rows_of(conversation, "conversation_parts", "conversation_parts")
    return written(parts, key, "body")


def _address(record: Record, *path: str) -> str | None:
    """Return a person's e-mail; without one, what only names the account."""
    number = text_at(record, *path, "id")
    email = text_at(record, *path, "email")
    return email or (f"contact-{number}@intercom.invalid" if number else None)
