"""HaloPSA as a source and sink of tickets: tickets, actions, time on actions. Not the HTTP.

Its webhooks carry no signature, so it is polled. Lists leave out texts; each ticket is read whole.
https://halopsa.com/apidoc/
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cairn.tickets.adapter import Capabilities, Incoming, Message, text_at, time_at
from cairn.tickets.attachments import named
from cairn.tickets.desks.walking import (
    MESSAGES_LOOKED_AT,
    UNLISTED,
    WRITTEN_LOOKED_AT,
    Listed,
    Record,
    WalkedDesk,
    attached,
    checked_id,
    is_ours,
    marked,
    no_status,
    object_of,
    rows_of,
    tried,
    written,
)
from cairn.tickets.html import plain_text
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cairn.tickets.adapter import Attachment

STATUSES = {
    "auto_resolved": "Resolved",
    "needs_tech": "In Progress",
    "needs_l2": "In Progress",
    "needs_client": "With User",
    "failed": "In Progress",
}
"""What a new instance calls a ticket's status."""

CLOSED = "9"
"""The id of the status that every instance has for closed tickets."""

_PRIORITIES = {"1": Priority.CRITICAL, "2": Priority.HIGH, "3": Priority.MEDIUM, "4": Priority.LOW}
_NOBODY = frozenset(["", "0", "-1"])
_NOT_IN_ADDRESSES = re.compile(r"[^A-Za-z0-9._-]+")
_NO_TIME = datetime(1971, 1, 1, tzinfo=UTC)
"""What is before it stands for no time: 1 January of the year 1, or 1900."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HaloAdapter(WalkedDesk):
    """Implements `TicketAdapter`. Outcomes are what the instance calls its kinds of action."""

    public_outcome: str = "Email User"
    private_outcome: str = "Private Note"

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(webhooks=False, time_entries=True)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return tickets by their number: a change moves none of them to another page."""
        number = int(page) if page.isdecimal() else 1
        query = {
            "pageinate": "true",
            "page_size": str(limit),
            "page_no": str(number),
            "order": "id",
            "orderdesc": "false",
            "lastupdatefromdate": f"{since.astimezone(UTC):%Y-%m-%dT%H:%M:%S}",
        }
        answer = object_of(self.api("GET", "/Tickets", query=query, repeatable=True))
        tickets = rows_of(answer, "tickets")
        more = len(tickets) >= limit and number * limit < int(text_at(answer, "record_count") or 0)
        return Listed(records=tickets, following=str(number + 1) if more else "")

    def changed(self, record: Record) -> datetime | None:
        """Return when it changed, or something was done to it."""
        times = [time_of(record, "last_update"), time_of(record, "lastactiondate")]
        return max((each for each in times if each is not None), default=None)

    def whole(self, record: Record, since: datetime) -> Record:
        """Return it with its texts, its actions and its files."""
        ticket_id = text_at(record, "id")
        path, query = f"/Tickets/{checked_id(ticket_id)}", {"includedetails": "true"}
        ticket = object_of(self.api("GET", path, query=query, repeatable=True))
        actions = self._actions(ticket_id, MESSAGES_LOOKED_AT)
        files = tried(lambda: self._attachments(ticket_id))
        return {**record, **ticket, "actions": actions, "attachments": files}

    def incoming(self, record: Record) -> Incoming:
        """Return a ticket in canonical form."""
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the actions of users; the first is the ticket's own text."""
        return (message_of(action, record) for action in rows_of(record, "actions"))

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Mail the user, or note; what carries the key is there already."""
        return self._act(external_id, text, key, private=private)

    def set_status(self, external_id: str, status: str) -> str:
        """Give the ticket the status that is called so, or has this number."""
        ticket_id, called = checked_id(external_id), self.statuses[status]
        answer = self.api("GET", "/Status", query={"type": "ticket"}, repeatable=True)
        for each in rows_of(answer):
            name = text_at(each, "name")
            if called == text_at(each, "id") or called.casefold() == name.casefold():
                body = [{"id": int(ticket_id), "status_id": int(text_at(each, "id"))}]
                self.api("POST", "/Tickets", body=body, repeatable=True)
                return name
        raise no_status(called)

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Note the hours that were worked; a note that carries the key is there already."""
        return self._act(external_id, note, key, private=True, hours=round(minutes / 60, 4))

    def _act(
        self, external_id: str, text: str, key: str, *, private: bool, hours: float | None = None
    ) -> str:
        ticket_id = checked_id(external_id)
        existing = written(self._actions(ticket_id, WRITTEN_LOOKED_AT), key, "note", "note_html")
        if existing:
            return existing
        action: Record = {
            "ticket_id": int(ticket_id),
            "outcome": self.private_outcome if private else self.public_outcome,
            "note": marked(text, key),
            "hiddenfromuser": private,
            "sendemail": not private,
        }
        if hours is not None:
            action["timetaken"] = hours
        answer = self.api("POST", "/Actions", body=[action])
        return text_at(object_of(answer[0] if isinstance(answer, list) else answer), "id")

    def _actions(self, ticket_id: str, count: int) -> list[Record]:
        query = {"ticket_id": ticket_id, "excludesys": "true", "count": str(count)}
        return rows_of(self.api("GET", "/Actions", query=query, repeatable=True), "actions")

    def _attachments(self, ticket_id: str) -> list[Record]:
        query = {"ticket_id": ticket_id}
        answer = self.api("GET", "/Attachment", query=query, repeatable=True)
        return rows_of(answer, "attachments")


def incoming(ticket: Record, customer: str) -> Incoming:
    """Return a ticket in canonical form. Pure."""
    files = attachments_of(ticket)
    return Incoming(
        external_id=text_at(ticket, "id"),
        title=text_at(ticket, "summary"),
        body=plain_text(text_at(ticket, "details")),
        customer=customer or text_at(ticket, "client_name"),
        requester_email=_requester(ticket),
        priority=_PRIORITIES.get(text_at(ticket, "priority_id"), Priority.MEDIUM),
        sla_at=time_of(ticket, "fixbydate"),
        received_at=time_of(ticket, "dateoccurred"),
        modified_at=time_of(ticket, "last_update") or time_of(ticket, "lastactiondate"),
        closed=text_at(ticket, "status_id") == CLOSED,
        source_metadata={"status_id": text_at(ticket, "status_id"), **named(files)},
        attachments=files,
    )


def attachments_of(ticket: Record) -> tuple[Attachment, ...]:
    """Return the files that users attached, to a ticket or its actions. Pure.

    A file is a user's when no agent attached it and it names a user, or an action of one.
    """
    if ticket.get("attachments", ()) is None:
        return UNLISTED
    theirs = {text_at(each, "id") for each in rows_of(ticket, "actions") if _is_users(each)}
    rows = [
        {**row, "url": f"/Attachment/{text_at(row, 'id')}"}
        for row in rows_of(ticket, "attachments")
        if text_at(row, "agent_id") in _NOBODY
        and (text_at(row, "user_id") not in _NOBODY or text_at(row, "action_id") in theirs)
    ]
    return attached(rows, name="filename", size=("filesize",))


def message_of(action: Record, ticket: Record) -> Message | None:
    """Return what a user, not an agent, wrote later; None for any other action. Pure.

    Actions count from 1 in each ticket; the first holds the text the ticket was made of.
    """
    number, text = text_at(action, "id"), plain_text(text_at(action, "note"))
    if not _is_users(action) or number in ("", "1") or not text or is_ours(text):
        return None
    ticket_id = text_at(ticket, "id")
    who = text_at(action, "who")
    own = who == text_at(ticket, "user_name")
    name = _NOT_IN_ADDRESSES.sub(".", who).strip(".") or "unknown"
    return Message(
        ticket=ticket_id,
        id=f"action:{ticket_id}:{number}",
        text=text,
        author=_requester(ticket)
        if own
        else text_at(action, "emailfrom") or f"{name}@halopsa.invalid",
        written_at=time_of(action, "datetime") or time_of(action, "actiondatecreated"),
    )


def _is_users(action: Record) -> bool:
    return text_at(action, "who_agentid") in _NOBODY and action.get("hiddenfromuser") is not True


def time_of(record: Record, name: str) -> datetime | None:
    """Return a time; None for what Halo writes where there is none."""
    moment = time_at(record, name)
    return moment if moment is not None and moment >= _NO_TIME else None


def _requester(ticket: Record) -> str | None:
    email = text_at(ticket, "user_email") or text_at(ticket, "reportedby")
    user = text_at(ticket, "user_id")
    return email if "@" in email else (f"user-{user}@halopsa.invalid" if user else None)
