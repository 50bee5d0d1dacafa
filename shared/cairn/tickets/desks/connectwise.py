"""ConnectWise PSA (Manage) as a source and sink of tickets: notes, time, callbacks. No HTTP.

https://developer.connectwise.com/Products/ConnectWise_PSA/REST
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, text_at, time_at
from cairn.tickets.attachments import named
from cairn.tickets.deliveries import check_signature, record_of
from cairn.tickets.desks.walking import (
    UNLISTED,
    WRITTEN_LOOKED_AT,
    Listed,
    Record,
    WalkedDesk,
    attached,
    checked_id,
    is_ours,
    marked,
    object_of,
    rows_of,
    tried,
    written,
)
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cairn.tickets.adapter import Attachment, Delivered

STATUSES = {
    "auto_resolved": "Closed",
    "needs_tech": "In Progress",
    "needs_l2": "In Progress",
    "needs_client": "Waiting on Customer",
    "failed": "New",
}
"""What a new board may call a ticket's status."""

SIGNATURE_HEADER = "x-content-signature"
_PRIORITIES = {"1": Priority.CRITICAL, "2": Priority.HIGH, "3": Priority.MEDIUM, "4": Priority.LOW}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectWiseAdapter(WalkedDesk):
    """Implements `TicketAdapter`: of all boards, or of one; `member` is whose time it is."""

    board: str = ""
    member: str = ""

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(time_entries=True, webhooks=self.webhook_secret is not None)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return tickets by their number: a change moves none of them to another page."""
        number = int(page) if page.isdecimal() else 1
        conditions = f"lastUpdated>=[{connectwise_time(since)}]"
        if self.board:
            conditions += f' and board/name="{self.board}"'
        tickets = self._get(
            "/service/tickets", conditions, page=str(number), pageSize=str(limit), orderBy="id asc"
        )
        return Listed(records=tickets, following=str(number + 1) if len(tickets) >= limit else "")

    def changed(self, record: Record) -> datetime | None:
        """Return when it changed; a note changes it."""
        return time_at(record, "_info", "lastUpdated")

    def whole(self, record: Record, since: datetime) -> Record:
        """Return it with its first text, its files, and what was noted since then."""
        number = checked_id(text_at(record, "id"))
        path = f"/service/tickets/{number}/notes"
        first = self._get(path, "detailDescriptionFlag=true", pageSize="1", orderBy="id asc")
        notes = self._get(
            path,
            f"dateCreated>=[{connectwise_time(since)}]",
            pageSize=str(WRITTEN_LOOKED_AT),
            orderBy="id asc",
        )
        of_ticket = {"recordType": "Ticket", "recordId": number, "pageSize": str(WRITTEN_LOOKED_AT)}
        files = tried(lambda: self._get("/system/documents", "", **of_ticket))
        return {**record, "first": first, "notes": notes, "documents": files}

    def incoming(self, record: Record) -> Incoming:
        """Return a ticket in canonical form."""
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the notes of contacts but the first, which is the ticket's own text."""
        first = {text_at(note, "id") for note in rows_of(record, "first")}
        notes = rows_of(record, "notes")
        return (message_of(note, record) for note in notes if text_at(note, "id") not in first)

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body is signed with the callback's key."""
        secret = (self.webhook_secret or "").encode()
        key = hashlib.sha256(secret).digest()
        expected = b64encode(hmac.new(key, delivered.body, hashlib.sha256).digest()).decode()
        check_signature(delivered.headers.get(SIGNATURE_HEADER, "") if secret else "", expected)

    def read(self, delivered: Delivered) -> Events:
        """Return the ticket that a callback names, read at the desk: callbacks have no texts."""
        document = record_of(delivered)
        name = hashlib.sha256(delivered.body).hexdigest()
        number, kind = text_at(document, "ID"), text_at(document, "Type").casefold()
        if kind != "ticket" or text_at(document, "Action") == "deleted" or not number:
            return Events(delivery_id=name, tickets=())
        path = f"/service/tickets/{checked_id(number)}"
        listed = object_of(self.api("GET", path, repeatable=True))
        if self.board and text_at(listed, "board", "name").casefold() != self.board.casefold():
            return Events(delivery_id=name, tickets=())
        return self.told_of(name, listed)

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Note it for the customer, or internally; what carries the key is there already."""
        path = f"/service/tickets/{checked_id(external_id)}/notes"
        newest = self._get(path, "", pageSize=str(WRITTEN_LOOKED_AT), orderBy="id desc")
        existing = written(newest, key, "text")
        if existing:
            return existing
        body = {
            "text": marked(text, key),
            "detailDescriptionFlag": not private,
            "internalAnalysisFlag": private,
            "resolutionFlag": False,
            "processNotifications": not private,
        }
        return text_at(object_of(self.api("POST", path, body=body)), "id")

    def set_status(self, external_id: str, status: str) -> str:
        """Give the ticket the status of its board that is called so, or has this number."""
        called = self.statuses[status]
        value: Record = {"id": int(called)} if called.isdecimal() else {"name": called}
        body = [{"op": "replace", "path": "status", "value": value}]
        path = f"/service/tickets/{checked_id(external_id)}"
        ticket = object_of(self.api("PATCH", path, body=body, repeatable=True))
        return text_at(ticket, "status", "name") or called

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Book hours; an entry that carries the key is there already."""
        number = checked_id(external_id)
        conditions = f'chargeToId={number} and chargeToType="ServiceTicket"'
        newest = self._get(
            "/time/entries", conditions, pageSize=str(WRITTEN_LOOKED_AT), orderBy="id desc"
        )
        existing = written(newest, key, "notes")
        if existing:
            return existing
        body: Record = {
            "chargeToId": int(number),
            "chargeToType": "ServiceTicket",
            "timeStart": connectwise_time(self.clock() - timedelta(minutes=minutes)),
            "timeEnd": connectwise_time(self.clock()),
            "actualHours": round(minutes / 60, 4),
            "notes": marked(note, key),
        }
        if self.member:
            body["member"] = {"identifier": self.member}
        return text_at(object_of(self.api("POST", "/time/entries", body=body)), "id")

    def _get(self, path: str, conditions: str, **query: str) -> list[Record]:
        if conditions:
            query["conditions"] = conditions
        return rows_of(self.api("GET", path, query=query, repeatable=True))


def incoming(ticket: Record, customer: str) -> Incoming:
    """Return a ticket in canonical form. Pure; `first` of it holds the note with its text."""
    texts = [text_at(note, "text") for note in rows_of(ticket, "first")]
    contact, files = text_at(ticket, "contact", "id"), attachments_of(ticket)
    return Incoming(
        external_id=text_at(ticket, "id"),
        title=text_at(ticket, "summary"),
        body=texts[0] if texts else text_at(ticket, "initialDescription"),
        customer=customer or text_at(ticket, "company", "name"),
        requester_email=text_at(ticket, "contactEmailAddress") or _contact(contact),
        priority=_PRIORITIES.get(text_at(ticket, "priority", "id"), Priority.MEDIUM),
        sla_at=time_at(ticket, "requiredDate"),
        received_at=time_at(ticket, "_info", "dateEntered"),
        modified_at=time_at(ticket, "_info", "lastUpdated"),
        closed=ticket.get("closedFlag") is True,
        source_metadata={
            "board": text_at(ticket, "board", "name"),
            "status": text_at(ticket, "status", "name"),
            **named(files),
        },
        attachments=files,
    )


def attachments_of(ticket: Record) -> tuple[Attachment, ...]:
    """Return the documents of a ticket that its customer sees in the portal. Pure.

    Who brought one the API does not say: its owner is always a member. Links are none.
    """
    if ticket.get("documents", ()) is None:
        return UNLISTED
    rows = [
        {**row, "url": f"/system/documents/{text_at(row, 'id')}/download"}
        for row in rows_of(ticket, "documents")
        if row.get("publicFlag") is True and not row.get("linkFlag") and not row.get("urlFlag")
    ]
    return attached(rows, name="fileName", size=("size",))


def message_of(note: Record, ticket: Record) -> Message | None:
    """Return what a contact noted; None for members' and internal notes. Pure."""
    contact, text = text_at(note, "contact", "id"), text_at(note, "text")
    internal = note.get("internalAnalysisFlag") is True
    if not contact or internal or not text_at(note, "id") or is_ours(text):
        return None
    own = contact == text_at(ticket, "contact", "id")
    return Message(
        ticket=text_at(ticket, "id"),
        id=f"note:{text_at(note, 'id')}",
        text=text,
        author=(text_at(ticket, "contactEmailAddress") if own else "") or _contact(contact),
        written_at=time_at(note, "dateCreated"),
    )


def connectwise_time(moment: datetime) -> str:
    """Return a moment as ConnectWise writes it: 2026-03-01T09:30:00Z."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _contact(contact_id: str) -> str | None:
    return f"contact-{contact_id}@connectwise.invalid" if contact_id else None
