"""Freshdesk as a source and sink of tickets: conversations, notes, time entries. Not the HTTP.

Its automations sign nothing; they send a secret along, and name a ticket that is read at the desk.
https://developers.freshdesk.com/api/
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.text.canonical import format_timestamp
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, text_at, time_at
from cairn.tickets.attachments import listed, named
from cairn.tickets.deliveries import check_signature, delivery_id, record_of
from cairn.tickets.desks.walking import (
    Listed,
    Record,
    WalkedDesk,
    attached,
    checked_id,
    is_ours,
    mark,
    marked,
    no_status,
    object_of,
    rows_of,
    written,
)
from cairn.tickets.html import plain_text
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cairn.tickets.adapter import Attachment, Delivered

STATUSES = {
    "auto_resolved": "Resolved",
    "needs_tech": "Open",
    "needs_l2": "Open",
    "needs_client": "Pending",
    "failed": "Open",
}
"""What every account calls a ticket's status."""

SECRET_HEADER = "x-cairn-secret"
CONVERSATIONS, MOST_PAGES = 100, 5
"""Conversations of a page, the most there are; how many pages of a ticket are read."""

_PRIORITIES = {"1": Priority.LOW, "2": Priority.MEDIUM, "3": Priority.HIGH, "4": Priority.CRITICAL}
_CLOSED = frozenset(["4", "5"])


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshdeskAdapter(WalkedDesk):
    """Implements `TicketAdapter`."""

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(webhooks=self.webhook_secret is not None, time_entries=True)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return tickets by when they were made: a change moves none of them to another page."""
        number = int(page) if page.isdecimal() else 1
        query = {
            "updated_since": format_timestamp(since),
            "order_by": "created_at",
            "order_type": "asc",
            "include": "requester,description,company",
            "page": str(number),
            "per_page": str(limit),
        }
        tickets = rows_of(self.api("GET", "/api/v2/tickets", query=query, repeatable=True))
        return Listed(records=tickets, following=str(number + 1) if len(tickets) >= limit else "")

    def changed(self, record: Record) -> datetime | None:
        """Return when it changed; a conversation changes it."""
        return time_at(record, "updated_at")

    def whole(self, record: Record, since: datetime) -> Record:
        """Return it with its conversations, and what is attached: lists leave that out."""
        number = text_at(record, "id")
        files = record.get("attachments")
        if not isinstance(files, list):
            files = self._ticket(number).get("attachments")
        conversations = self._conversations(number)
        return {**record, "attachments": files, "conversations": conversations}

    def incoming(self, record: Record) -> Incoming:
        """Return a ticket in canonical form."""
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return what came in from people outside the desk."""
        return (message_of(each, record) for each in rows_of(record, "conversations"))

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the secret is sent along.

        What is sent again tells nothing old: the ticket is read at the desk.
        """
        secret = self.webhook_secret or ""
        check_signature(delivered.headers.get(SECRET_HEADER, "") if secret else "", secret)

    def read(self, delivered: Delivered) -> Events:
        """Return the ticket that an automation names as `ticket_id`, read at the desk."""
        document = record_of(delivered)
        name = delivery_id("", delivered)
        number = text_at(document, "freshdesk_webhook", "ticket_id") or text_at(
            document, "ticket_id"
        )
        if not number:
            return Events(delivery_id=name, tickets=())
        return self.told_of(name, self._ticket(number))

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Mail the requester, or note; what carries the key is there already."""
        path = f"/api/v2/tickets/{checked_id(external_id)}"
        existing = written(self._conversations(external_id), key, "body_text", "body")
        if existing:
            return existing
        html = escape(marked(text, key)).replace("\n", "<br>")
        body = {"body": html, "private": True} if private else {"body": html}
        answer = self.api("POST", f"{path}/{'notes' if private else 'reply'}", body=body)
        return text_at(object_of(answer), "id")

    def set_status(self, external_id: str, status: str) -> str:
        """Give the ticket the status that is called so, or has this number."""
        ticket_id, called = checked_id(external_id), self.statuses[status]
        query = {"type": "default_status"}
        fields = rows_of(self.api("GET", "/api/v2/ticket_fields", query=query, repeatable=True))
        for number, names in _choices(fields).items():
            if called == number or called.casefold() in map(str.casefold, names):
                path, body = f"/api/v2/tickets/{ticket_id}", {"status": int(number)}
                self.api("PUT", path, body=body, repeatable=True)
                return names[0]
        raise no_status(called)

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Enter the time that was worked; an entry that carries the key is there already."""
        path = f"/api/v2/tickets/{checked_id(external_id)}/time_entries"
        existing = written(rows_of(self.api("GET", path, repeatable=True)), key, "note")
        if existing:
            return existing
        spent = f"{minutes // 60:02d}:{minutes % 60:02d}"
        body = {"note": f"{note} ({mark(key)})", "time_spent": spent, "timer_running": False}
        return text_at(object_of(self.api("POST", path, body=body)), "id")

    def _ticket(self, number: str) -> Record:
        path, query = f"/api/v2/tickets/{checked_id(number)}", {"include": "requester,company"}
        return object_of(self.api("GET", path, query=query, repeatable=True))

    def _conversations(self, number: str) -> list[Record]:
        path = f"/api/v2/tickets/{checked_id(number)}/conversations"
        rows: list[Record] = []
        for page in range(1, MOST_PAGES + 1):
            query = {"page": str(page), "per_page": str(CONVERSATIONS)}
            more = rows_of(self.api("GET", path, query=query, repeatable=True))
            rows += more
            if len(more) < CONVERSATIONS:
                break
        return rows


def incoming(ticket: Record, customer: str) -> Incoming:
    """Return a ticket in canonical form. Pure."""
    files = attachments_of(ticket)
    return Incoming(
        external_id=text_at(ticket, "id"),
        title=text_at(ticket, "subject"),
        body=text_at(ticket, "description_text") or plain_text(text_at(ticket, "description")),
        customer=customer or text_at(ticket, "company", "name"),
        requester_email=_requester(ticket),
        priority=_PRIORITIES.get(text_at(ticket, "priority"), Priority.MEDIUM),
        sla_at=time_at(ticket, "due_by"),
        received_at=time_at(ticket, "created_at"),
        modified_at=time_at(ticket, "updated_at") or time_at(ticket, "created_at"),
        closed=text_at(ticket, "status") in _CLOSED,
        source_metadata={"status": text_at(ticket, "status"), **named(files)},
        attachments=files,
    )


def attachments_of(record: Record) -> tuple[Attachment, ...]:
    """Return the files of a ticket or a conversation. Pure.

    What the guide calls `file_size` is `size` in answers of late.
    """
    return attached(
        rows_of(record, "attachments"),
        name="name",
        media_type="content_type",
        size=("size", "file_size"),
        url="attachment_url",
    )


def message_of(conversation: Record, ticket: Record) -> Message | None:
    """Return what somebody outside the desk wrote; None for any other. Pure."""
    text = text_at(conversation, "body_text") or plain_text(text_at(conversation, "body"))
    number, user = text_at(conversation, "id"), text_at(conversation, "user_id")
    came_in = conversation.get("incoming") is True and conversation.get("private") is not True
    files = attachments_of(conversation)
    if not came_in or not number or not (text or files) or is_ours(text):
        return None
    own = user == text_at(ticket, "requester_id")
    return Message(
        ticket=text_at(ticket, "id"),
        id=f"conversation:{number}",
        text=text + listed(files),
        author=_requester(ticket) if own else text_at(conversation, "from_email") or _account(user),
        written_at=time_at(conversation, "created_at"),
        attachments=files,
    )


def _choices(fields: list[Record]) -> dict[str, list[str]]:
    """Return what an account calls each status: for agents, for customers."""
    choices: Any = fields[0].get("choices") if fields else None
    if not isinstance(choices, dict):
        return {}
    return {
        number: [str(name) for name in cast("list[Any]", names)]
        for number, names in cast("dict[str, Any]", choices).items()
        if number.isdecimal() and isinstance(names, list) and names
    }


def _requester(ticket: Record) -> str | None:
    return text_at(ticket, "requester", "email") or _account(text_at(ticket, "requester_id"))


def _account(user: str) -> str | None:
    return f"contact-{user}@freshdesk.invalid" if user else None
