"""Autotask PSA as a source and sink of tickets: tickets, notes, time entries. Not the HTTP.

Its webhooks tell single fields and not who asks, so it is polled.
https://www.autotask.net/help/developerhelp/Content/APIs/REST/REST_API_Home.htm
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from cairn.kernel.errors import NotFound
from cairn.tickets.adapter import Capabilities, Incoming, Message, text_at, time_at
from cairn.tickets.attachments import named
from cairn.tickets.desks.walking import (
    UNLISTED,
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
    tried,
    written,
)
from cairn.tickets.html import plain_text
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cairn.tickets.adapter import Attachment

STATUSES = {
    "auto_resolved": "Complete",
    "needs_tech": "In Progress",
    "needs_l2": "Escalate",
    "needs_client": "Waiting Customer",
    "failed": "New",
}
"""What Autotask calls a ticket's status before anybody renames them."""

COMPLETE = "5"
"""The status that every organisation has for tickets that are done."""

EVERYONE, INTERNAL = 1, 2
"""Who sees a note: `publish`."""

MAX_RECORDS = 500
TITLE = "Cairn"
NOTE_TYPE = 1
FILE = "FILE_ATTACHMENT"
"""The type of attachments that are no links."""

_PRIORITIES = {"1": Priority.HIGH, "2": Priority.MEDIUM, "3": Priority.LOW, "4": Priority.CRITICAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class AutotaskAdapter(WalkedDesk):
    """Implements `TicketAdapter`. Time is booked for a resource in a role, where both are set."""

    queue_id: int | None = None
    resource_id: int | None = None
    role_id: int | None = None

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        books = self.resource_id is not None and self.role_id is not None
        return Capabilities(webhooks=False, time_entries=books)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return tickets by their number. A later page is asked for with the same body."""
        filters = [_where("lastActivityDate", autotask_time(since), "gte")]
        if self.queue_id is not None:
            filters.append(_where("queueID", self.queue_id))
        path = "/Tickets/query/next" if page else "/Tickets/query"
        body = {"MaxRecords": limit, "filter": filters}
        query = {"paging": page} if page else None
        answer = object_of(self.api("POST", path, query=query, body=body, repeatable=True))
        following = urlsplit(text_at(answer, "pageDetails", "nextPageUrl")).query
        paging = parse_qs(following).get("paging", [""])
        return Listed(records=rows_of(answer, "items"), following=paging[-1])

    def changed(self, record: Record) -> datetime | None:
        """Return when something was done to it."""
        return time_at(record, "lastActivityDate")

    def whole(self, record: Record, since: datetime) -> Record:
        """Return it with its contact, its company, its files and what was noted since then."""
        number = checked_id(text_at(record, "id"))
        filters = [
            _where("ticketID", int(number)),
            _where("createDateTime", autotask_time(since), "gte"),
        ]
        notes = [
            {**note, "contact": self._get("Contacts", text_at(note, "createdByContactID"))}
            for note in self._query("TicketNotes", filters)
            if text_at(note, "createdByContactID")
        ]
        contact = self._get("Contacts", text_at(record, "contactID"))
        company = self._get("Companies", text_at(record, "companyID"))
        files = tried(lambda: self._of_ticket("TicketAttachments", number))
        more = {"contact": contact, "company": company, "notes": notes, "attachments": files}
        return {**record, **more}

    def incoming(self, record: Record) -> Incoming:
        """Return a ticket in canonical form."""
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the notes of contacts."""
        return (message_of(note, record) for note in rows_of(record, "notes"))

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Note it for everyone, or internally; what carries the key is there already."""
        ticket_id = checked_id(external_id)
        existing = written(self._of_ticket("TicketNotes", ticket_id), key, "description")
        if existing:
            return existing
        body = {
            "title": TITLE,
            "description": marked(text, key),
            "noteType": NOTE_TYPE,
            "publish": INTERNAL if private else EVERYONE,
        }
        path = f"/Tickets/{ticket_id}/Notes"
        return text_at(object_of(self.api("POST", path, body=body)), "itemId")

    def set_status(self, external_id: str, status: str) -> str:
        """Give the ticket the status whose label is called so, or that has this number."""
        ticket_id, called = checked_id(external_id), self.statuses[status]
        answer = self.api("GET", "/Tickets/entityInformation/fields", repeatable=True)
        labels = [
            (text_at(value, "value"), text_at(value, "label"))
            for each in rows_of(answer, "fields")
            if text_at(each, "name") == "status"
            for value in rows_of(each, "picklistValues")
        ]
        for value, label in labels:
            if called == value or called.casefold() == label.casefold():
                body = {"id": int(ticket_id), "status": int(value)}
                self.api("PATCH", "/Tickets", body=body, repeatable=True)
                return label
        raise no_status(called)

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Book hours; an entry that carries the key is there already."""
        ticket_id = checked_id(external_id)
        existing = written(self._of_ticket("TimeEntries", ticket_id), key, "summaryNotes")
        if existing:
            return existing
        body = {
            "ticketID": int(ticket_id),
            "resourceID": self.resource_id,
            "roleID": self.role_id,
            "dateWorked": autotask_time(self.clock()),
            "hoursWorked": round(minutes / 60, 4),
            "summaryNotes": marked(note, key),
        }
        return text_at(object_of(self.api("POST", "/TimeEntries", body=body)), "itemId")

    def _of_ticket(self, entity: str, ticket_id: str) -> list[Record]:
        return self._query(entity, [_where("ticketID", int(ticket_id))])

    def _query(self, entity: str, filters: list[Record]) -> list[Record]:
        body = {"MaxRecords": MAX_RECORDS, "filter": filters}
        answer = self.api("POST", f"/{entity}/query", body=body, repeatable=True)
        return rows_of(answer, "items")

    def _get(self, entity: str, number: str) -> Record:
        """Return an entity; {} without one, or without its number."""
        if not number:
            return {}
        try:
            answer = self.api("GET", f"/{entity}/{checked_id(number)}", repeatable=True)
        except NotFound:
            return {}
        return object_at(object_of(answer), "item")


def incoming(ticket: Record, customer: str) -> Incoming:
    """Return a ticket in canonical form. Pure."""
    status, files = text_at(ticket, "status"), attachments_of(ticket)
    return Incoming(
        external_id=text_at(ticket, "id"),
        title=text_at(ticket, "title"),
        body=plain_text(text_at(ticket, "description")),
        customer=customer or text_at(ticket, "company", "companyName"),
        requester_email=_address(text_at(ticket, "contactID"), object_at(ticket, "contact")),
        priority=_PRIORITIES.get(text_at(ticket, "priority"), Priority.MEDIUM),
        sla_at=time_at(ticket, "dueDateTime"),
        received_at=time_at(ticket, "createDate"),
        modified_at=time_at(ticket, "lastActivityDate") or time_at(ticket, "createDate"),
        closed=status == COMPLETE,
        source_metadata={
            "ticket_number": text_at(ticket, "ticketNumber"),
            "status": status,
            **named(files),
        },
        attachments=files,
    )


def attachments_of(ticket: Record) -> tuple[Attachment, ...]:
    """Return the files that contacts attached to a ticket or its notes; links are none. Pure."""
    if ticket.get("attachments", ()) is None:
        return UNLISTED
    rows = [
        {
            **row,
            "name": re.split(r"[\\/]", text_at(row, "fullPath"))[-1] or text_at(row, "title"),
            "url": f"/TicketAttachments/{text_at(row, 'id')}",
        }
        for row in rows_of(ticket, "attachments")
        if text_at(row, "attachedByContactID") and text_at(row, "attachmentType") == FILE
    ]
    return attached(rows, name="name", media_type="contentType", size=("fileSize",))


def message_of(note: Record, ticket: Record) -> Message | None:
    """Return what a contact noted; None for what resources and rules do. Pure."""
    contact_id = text_at(note, "createdByContactID")
    text = plain_text(text_at(note, "description"))
    if not contact_id or not text_at(note, "id") or is_ours(text):
        return None
    return Message(
        ticket=text_at(ticket, "id"),
        id=f"note:{text_at(note, 'id')}",
        text=text,
        author=_address(contact_id, object_at(note, "contact")),
        written_at=time_at(note, "createDateTime"),
    )


def autotask_time(moment: datetime) -> str:
    """Return a moment as Autotask writes it: 2026-03-01T09:30:00.000Z."""
    moment = moment.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _where(name: str, value: str | int, operator: str = "eq") -> Record:
    return {"op": operator, "field": name, "value": value}


def _address(contact_id: str, contact: Record) -> str | None:
    """Return a contact's e-mail; without one, what only names it."""
    email = text_at(contact, "emailAddress")
    return email or (f"contact-{contact_id}@autotask.invalid" if contact_id else None)
