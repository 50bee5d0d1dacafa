"""Zendesk as a source and sink of tickets: incremental export, comments, statuses. Not the HTTP.

Its tickets hold no time entries; apps keep times in fields of their own.
https://developer.zendesk.com/api-reference/ticketing/
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.kernel.errors import ValidationFailed
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, text_at, time_at
from cairn.tickets.attachments import listed, named
from cairn.tickets.deliveries import check_now, check_signature, delivery_id, record_of
from cairn.tickets.desks.walking import (
    MESSAGES_LOOKED_AT,
    WRITTEN_LOOKED_AT,
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
    from datetime import datetime

    from cairn.tickets.adapter import Attachment, Delivered

STATUSES = {
    "auto_resolved": "Solved",
    "needs_tech": "Open",
    "needs_l2": "Open",
    "needs_client": "Pending",
    "failed": "Open",
}
"""What every account calls a ticket's status."""

SIGNATURE_HEADER = "x-zendesk-webhook-signature"
TIME_HEADER = "x-zendesk-webhook-signature-timestamp"
DELIVERY_HEADER = "x-zendesk-webhook-invocation-id"
LEAST_AGE = timedelta(seconds=61)
"""Before now, from which an export begins: Zendesk refuses a later moment."""

_PRIORITIES = {
    "urgent": Priority.CRITICAL,
    "high": Priority.HIGH,
    "normal": Priority.MEDIUM,
    "low": Priority.LOW,
}
_CLOSED = frozenset(["solved", "closed"])
_SYSTEM = frozenset(["open", "pending", "hold", "solved"])
"""What every ticket can be, where an account lists no statuses of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZendeskAdapter(WalkedDesk):
    """Implements `TicketAdapter`."""

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(webhooks=self.webhook_secret is not None)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return tickets as they changed; one that changes meanwhile comes again at the end."""
        begin = int(min(since, self.clock() - LEAST_AGE).timestamp())
        place = {"cursor": page} if page else {"start_time": str(begin)}
        query = {"per_page": str(limit), "exclude_deleted": "true", **place}
        path = "/api/v2/incremental/tickets/cursor.json"
        answer = object_of(self.api("GET", path, query=query, repeatable=True))
        ended = answer.get("end_of_stream") is not False
        following = "" if ended else text_at(answer, "after_cursor")
        return Listed(records=rows_of(answer, "tickets"), following=following)

    def changed(self, record: Record) -> datetime | None:
        """Return when it changed; a comment changes it."""
        return time_at(record, "updated_at")

    def whole(self, record: Record, since: datetime) -> Record:
        """Return it with its people and its newest comments."""
        ticket = self._ticket(text_at(record, "id"))
        comments = self._comments(text_at(record, "id"), MESSAGES_LOOKED_AT)
        return {**record, **ticket, "said": comments}

    def incoming(self, record: Record) -> Incoming:
        """Return a ticket in canonical form."""
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the comments of the requester and of other end users."""
        return (message_of(comment, record) for comment in rows_of(record, "said", "comments"))

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body and its time are signed, and the time is now."""
        secret, headers = (self.webhook_secret or "").encode(), delivered.headers
        sent_at = headers.get(TIME_HEADER, "")
        signed = sent_at.encode("utf-8", errors="replace") + delivered.body
        expected = b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
        check_signature(headers.get(SIGNATURE_HEADER, "") if secret else "", expected)
        moment = time_at({"at": sent_at}, "at")
        check_now(str(int(moment.timestamp())) if moment else "", now)

    def read(self, delivered: Delivered) -> Events:
        """Return the ticket that a delivery names, read at the desk.

        Zendesk's own events name it in `detail`; a trigger's body is `{"ticket_id": "..."}`.
        """
        document = record_of(delivered)
        name = delivery_id(delivered.headers.get(DELIVERY_HEADER, ""), delivered)
        number = text_at(document, "detail", "id") or text_at(document, "ticket_id")
        if not number:
            return Events(delivery_id=name, tickets=())
        return self.told_of(name, {"id": checked_id(number)})

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Comment for the requester, or internally; what carries the key is there already."""
        path = f"/api/v2/tickets/{checked_id(external_id)}.json"
        newest = self._comments(external_id, WRITTEN_LOOKED_AT)
        existing = written(rows_of(newest, "comments"), key, "plain_body", "body")
        if existing:
            return existing
        comment = {"body": marked(text, key), "public": not private}
        answer = object_of(self.api("PUT", path, body={"ticket": {"comment": comment}}))
        events = rows_of(answer, "audit", "events")
        names = (text_at(event, "id") for event in events if text_at(event, "type") == "Comment")
        return next(names, "") or text_at(answer, "audit", "id")

    def set_status(self, external_id: str, status: str) -> str:
        """Give the ticket the status that is called so, or has this number."""
        ticket_id, called = checked_id(external_id), self.statuses[status]
        answer = self.api("GET", "/api/v2/custom_statuses.json", repeatable=True)
        for each in rows_of(answer, "custom_statuses"):
            name, number = text_at(each, "agent_label"), text_at(each, "id")
            if each.get("active") is not False and called.casefold() in (name.casefold(), number):
                body = {"ticket": {"custom_status_id": int(number)}}
                self.api("PUT", f"/api/v2/tickets/{ticket_id}.json", body=body, repeatable=True)
                return name
        if called.casefold() not in _SYSTEM:
            raise no_status(called)
        body = {"ticket": {"status": called.casefold()}}
        self.api("PUT", f"/api/v2/tickets/{ticket_id}.json", body=body, repeatable=True)
        return called

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Refuse: tickets have no time entries."""
        raise ValidationFailed("Zendesk's tickets have no time entries.", reason="not-supported")

    def _ticket(self, number: str) -> Record:
        path = f"/api/v2/tickets/{checked_id(number)}.json"
        query = {"include": "users,organizations"}
        answer = object_of(self.api("GET", path, query=query, repeatable=True))
        people = {name: rows_of(answer, name) for name in ("users", "organizations")}
        return {**object_at(answer, "ticket"), **people}

    def _comments(self, number: str, count: int) -> Record:
        path = f"/api/v2/tickets/{checked_id(number)}/comments.json"
        query = {"include": "users", "sort": "-created_at", "page[size]": str(count)}
        return object_of(self.api("GET", path, query=query, repeatable=True))


def incoming(ticket: Record, customer: str) -> Incoming:
    """Return a ticket in canonical form. Pure."""
    organisation = _record_of(ticket, "organizations", text_at(ticket, "organization_id"))
    comments = rows_of(ticket, "said", "comments")
    first = next((each for each in comments if _is_first(each, ticket)), Record())
    files = attachments_of(first)
    return Incoming(
        external_id=text_at(ticket, "id"),
        title=text_at(ticket, "subject"),
        body=plain_text(text_at(ticket, "description")),
        customer=customer or text_at(organisation, "name"),
        requester_email=_address(ticket, text_at(ticket, "requester_id")),
        priority=_PRIORITIES.get(text_at(ticket, "priority"), Priority.MEDIUM),
        received_at=time_at(ticket, "created_at"),
        modified_at=time_at(ticket, "updated_at") or time_at(ticket, "created_at"),
        closed=text_at(ticket, "status") in _CLOSED,
        source_metadata={"status": text_at(ticket, "status"), **named(files)},
        attachments=files,
    )


def attachments_of(comment: Record) -> tuple[Attachment, ...]:
    """Return the files of a public comment; pictures within its text are left out. Pure."""
    rows = {
        text_at(row, "id"): row
        for row in rows_of(comment, "attachments")
        if row.get("inline") is not True and row.get("deleted") is not True
    }
    files = attached(
        rows.values() if comment.get("public") is True else (),
        name="file_name",
        media_type="content_type",
        size=("size",),
        url="content_url",
    )
    return tuple(
        replace(each, refused="malware")
        if text_at(rows[each.file], "malware_scan_result") == "malware_found"
        else each
        for each in files
    )


def message_of(comment: Record, ticket: Record) -> Message | None:
    """Return what the requester, or another end user, wrote later; None for any other. Pure.

    The first comment is the ticket's own text: it was written when the ticket was.
    """
    author, text = text_at(comment, "author_id"), text_at(comment, "plain_body")
    text = text or plain_text(text_at(comment, "body"))
    person = _record_of(object_at(ticket, "said"), "users", author)
    is_outside = author == text_at(ticket, "requester_id") or text_at(person, "role") == "end-user"
    is_internal = comment.get("public") is not True or is_ours(text)
    if not is_outside or is_internal or _is_first(comment, ticket):
        return None
    number, files = text_at(comment, "id"), attachments_of(comment)
    if not number:
        return None
    return Message(
        ticket=text_at(ticket, "id"),
        id=f"comment:{number}",
        text=text + listed(files),
        author=text_at(person, "email") or _address(ticket, author),
        written_at=time_at(comment, "created_at"),
        attachments=files,
    )


def _is_first(comment: Record, ticket: Record) -> bool:
    return text_at(comment, "created_at") == text_at(ticket, "created_at")


def _record_of(record: Record, name: str, number: str) -> Record:
    none: Record = {}
    return next((each for each in rows_of(record, name) if text_at(each, "id") == number), none)


def _address(ticket: Record, user: str) -> str | None:
    """Return a person's e-mail; without one, what only names the account."""
    email = text_at(_record_of(ticket, "users", user), "email")
    return email or (f"user-{user}@zendesk.invalid" if user else None)
