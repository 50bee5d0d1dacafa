"""Zoho Desk as a source and sink of tickets: its records in canonical form, its webhooks, replies.

Not the HTTP: the client comes from outside. A webhook's token says who sends, not what: its text is
data like any ticket's, and the next poll reads the ticket again.
https://desk.zoho.com/support/WebhookDocument.do
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from cairn.kernel.errors import Unauthenticated
from cairn.kernel.text.hashes import sha256
from cairn.tickets.adapter import (
    Capabilities,
    Events,
    Incoming,
    Message,
    Polled,
    backfill_of,
    fresh,
    read_cursor,
    statuses_of,
    text_at,
    time_at,
)
from cairn.tickets.deliveries import document_of
from cairn.tickets.html import plain_text
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.kernel.clock import Clock
    from cairn.tickets.adapter import Delivered

TOKEN_HEADER = "x-zdesk-jwt"
LEEWAY = timedelta(seconds=60)
MILLISECONDS_FROM = 100_000_000_000
"""Times of a token above this are milliseconds: Zoho's guide and its example disagree."""

REPLIES_LOOKED_AT = 10
"""Mails of a ticket in which an answer that may have been sent is looked for."""

MESSAGES_LOOKED_AT = 50
"""Mails of a changed ticket, and comments, in which the requester's are looked for: the newest."""

STATUSES = {
    "auto_resolved": "Closed",
    "needs_tech": "Escalated",
    "needs_l2": "Escalated",
    "needs_client": "On Hold",
    "failed": "Open",
}
"""What a portal calls a ticket's status, unless its source says otherwise (`statuses`)."""

_PRIORITIES = {
    "low": Priority.LOW,
    "medium": Priority.MEDIUM,
    "high": Priority.HIGH,
    "urgent": Priority.CRITICAL,
    "critical": Priority.CRITICAL,
}
_TICKET_EVENTS = ("Ticket_Add", "Ticket_Update")
_MESSAGE_EVENTS = ("Ticket_Thread_Add", "Ticket_Comment_Add")
_WITHIN = re.compile(r"<([^<>]+)>\s*\Z")

Record = dict[str, Any]


class ZohoClient(Protocol):
    """Zoho Desk over REST, as far as tickets need it."""

    def search(
        self, *, modified: tuple[datetime, datetime], start: int, limit: int, sort_by: str
    ) -> list[Record]: ...
    def ticket(self, ticket_id: str) -> Record: ...
    def threads(self, ticket_id: str, *, limit: int) -> list[Record]: ...
    def thread(self, ticket_id: str, thread_id: str) -> Record: ...
    def reply(self, ticket_id: str, *, content: str, to: str, from_address: str) -> Record: ...
    def comments(self, ticket_id: str) -> list[Record]: ...
    def comment(self, ticket_id: str, *, content: str, public: bool) -> Record: ...
    def set_status(self, ticket_id: str, status: str) -> Record: ...
    def time_entries(self, ticket_id: str) -> list[Record]: ...
    def add_time_entry(
        self, ticket_id: str, *, minutes: int, note: str, executed_at: datetime
    ) -> Record: ...


TokenKeys: TypeAlias = "Callable[[str], Mapping[str, Any] | None]"
"""The public keys that sign a data centre's webhook tokens.

Return a key as a JSON Web Key, None when there is none; may raise Unavailable.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZohoPortal:
    """What of a source's settings is not the sign-in.

    Public answers go out as mail from `from_address`; without one they are public comments.
    """

    organisation_id: str
    webhook_id: str | None
    department_id: str | None
    from_address: str | None
    statuses: Mapping[str, str]
    backfill: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ZohoAdapter:
    """Implements `TicketAdapter`."""

    client: ZohoClient
    portal: ZohoPortal
    keys: TokenKeys
    clock: Clock

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(time_entries=True, webhooks=self.portal.webhook_id is not None)

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return tickets by the time of their last change, each read whole."""
        now = self.clock()
        at = read_cursor(cursor, now - self.portal.backfill)
        listed = self.client.search(
            modified=(at.since, now), start=at.start, limit=limit, sort_by="modifiedTime"
        )
        full = len(listed) >= limit
        changes = [(text_at(item, "id"), time_at(item, "modifiedTime"), item) for item in listed]
        changed, after = fresh(at, changes, full=full, size=len(listed))
        results = [incoming(self.client.ticket(text_at(item, "id"))) for item in changed]
        ours = [item for item in results if self._is_ours(item)]
        return Polled(
            tickets=tuple(ours),
            cursor=str(after),
            more=full,
            messages=tuple(message for our in ours for message in self._messages(our, at.since)),
        )

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the token is Zoho's, for this webhook, and of now."""
        token = delivered.headers.get(TOKEN_HEADER, "")
        if not token:
            raise Unauthenticated("This delivery carries no token.", reason="unsigned")
        check_token(token, self.portal, self.keys, now)

    def read(self, delivered: Delivered) -> Events:
        """Return what a delivery tells: events, each with a ticket, a mail or a comment."""
        events = document_of(delivered)
        listed = cast("list[Any]", events if isinstance(events, list) else [events])
        records = [cast("Record", item) for item in listed if isinstance(item, dict)]
        payloads = [
            (item.get("eventType"), cast("Record", item["payload"]))
            for item in records
            if isinstance(item.get("payload"), dict)
        ]
        tickets = [incoming(item) for event, item in payloads if event in _TICKET_EVENTS]
        messages = [
            message_of(item, text_at(item, "ticketId"))
            for event, item in payloads
            if event in _MESSAGE_EVENTS
        ]
        token = delivered.headers.get(TOKEN_HEADER, "")
        return Events(
            delivery_id=sha256(token.encode() + b"." + delivered.body).hex(),
            tickets=tuple(ticket for ticket in tickets if self._is_ours(ticket)),
            messages=tuple(item for item in messages if item is not None),
        )

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Mail the requester, or comment; what carries the key is there already."""
        line = f"{text}\n\n{mark(key)}"
        sender = self.portal.from_address
        to = "" if private or not sender else self._requester(external_id)
        if sender and to:
            return self._mail(external_id, line, to=to, sender=sender, key=key)
        for comment in self.client.comments(external_id):
            if mark(key) in text_at(comment, "content"):
                return text_at(comment, "id")
        return text_at(self.client.comment(external_id, content=line, public=not private), "id")

    def set_status(self, external_id: str, status: str) -> str:
        """Set the status as the portal calls it."""
        called = self.portal.statuses[status]
        return text_at(self.client.set_status(external_id, called), "status") or called

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Book minutes; an entry that carries the key is there already."""
        for entry in self.client.time_entries(external_id):
            if mark(key) in text_at(entry, "description"):
                return text_at(entry, "id")
        booked = self.client.add_time_entry(
            external_id, minutes=minutes, note=f"{note}. {mark(key)}", executed_at=self.clock()
        )
        return text_at(booked, "id")

    def _messages(self, ticket: Incoming, since: datetime) -> list[Message]:
        """Return what was written to a ticket from outside since then, after its first text."""
        began = ticket.received_at
        if began is not None and ticket.modified_at == began:
            return []
        ticket_id = ticket.external_id
        mails = self.client.threads(ticket_id, limit=MESSAGES_LOOKED_AT)
        listed = [*mails, *self.client.comments(ticket_id)[:MESSAGES_LOOKED_AT]]
        results = (message_of(item, ticket_id) for item in listed)
        return [
            self._whole(item)
            for item in results
            if item is not None
            and item.written_at is not None
            and item.written_at >= since
            and (began is None or item.written_at > began)
        ]

    def _whole(self, message: Message) -> Message:
        """Return a mail with all that it says: lists have its first words only."""
        kind, _, number = message.id.partition(":")
        if kind != "thread":
            return message
        return message_of(self.client.thread(message.ticket, number), message.ticket) or message

    def _requester(self, external_id: str) -> str:
        ticket = self.client.ticket(external_id)
        return text_at(ticket, "email") or text_at(ticket, "contact", "email")

    def _mail(self, external_id: str, text: str, *, to: str, sender: str, key: str) -> str:
        sent = [
            thread
            for thread in self.client.threads(external_id, limit=REPLIES_LOOKED_AT)
            if text_at(thread, "direction") == "out"
        ]
        for item in sent:
            thread_id = text_at(item, "id")
            if mark(key) in text_at(self.client.thread(external_id, thread_id), "content"):
                return thread_id
        reply = self.client.reply(external_id, content=text, to=to, from_address=sender)
        return text_at(reply, "id")

    def _is_ours(self, incoming: Incoming) -> bool:
        department_id = self.portal.department_id
        return (
            department_id is None or incoming.source_metadata.get("department_id") == department_id
        )


def incoming(record: Record) -> Incoming:
    """Return a ticket record in canonical form. Pure; a record without an id has an empty one."""
    contact = cast("Record", record.get("contact") or {})
    company = text_at(contact, "account", "accountName")
    person = " ".join(
        item for item in (text_at(contact, "firstName"), text_at(contact, "lastName")) if item
    )
    return Incoming(
        external_id=text_at(record, "id"),
        title=text_at(record, "subject"),
        body=plain_text(text_at(record, "description")),
        customer=" \u2014 ".join(item for item in (company, person) if item) if company else "",
        requester_email=text_at(record, "email") or text_at(contact, "email") or None,
        priority=_PRIORITIES.get(text_at(record, "priority").casefold(), Priority.MEDIUM),
        sla_at=time_at(record, "dueDate"),
        received_at=time_at(record, "createdTime"),
        modified_at=time_at(record, "modifiedTime") or time_at(record, "createdTime"),
        closed=text_at(record, "statusType").casefold() == "closed",
        source_metadata={
            name: value
            for name, value in (
                ("ticket_number", text_at(record, "ticketNumber")),
                ("department_id", text_at(record, "departmentId")),
                ("status", text_at(record, "status")),
                ("channel", text_at(record, "channel")),
                ("url", text_at(record, "webUrl")),
            )
            if value
        },
    )


def message_of(record: Record, ticket_id: str) -> Message | None:
    """Return a mail or a comment that somebody outside the desk wrote; None for any other. Pure.

    The mail that a ticket was made of is its first text, not a message.
    """
    is_mail = "direction" in record
    person = "author" if is_mail else "commenter"
    outside = text_at(record, "direction") == "in" if is_mail else _is_customer(record)
    if (
        not outside
        or not text_at(record, "id")
        or text_at(record, person, "type") == "AGENT"
        or record.get("isDescriptionThread") is True
        or text_at(record, "status") == "DRAFT"
    ):
        return None
    return Message(
        ticket=ticket_id,
        id=f"{'thread' if is_mail else 'comment'}:{text_at(record, 'id')}",
        text=plain_text(text_at(record, "content") or text_at(record, "summary")),
        author=text_at(record, person, "email") or _sender(text_at(record, "fromEmailAddress")),
        written_at=time_at(record, "createdTime" if is_mail else "commentedTime"),
    )


def _is_customer(comment: Record) -> bool:
    return text_at(comment, "commenter", "type") == "END_USER"


def _sender(header: str) -> str:
    """Return the address of `"Mara Voss" <mara@northwind.example>`."""
    within = _WITHIN.search(header)
    return (within[1] if within else header).strip()


def mark(key: str) -> str:
    """Return what an answer carries so that it is recognised at the source."""
    return f"[cairn {key}]"


def check_token(token: str, portal: ZohoPortal, keys: TokenKeys, now: datetime) -> None:
    """Raise Unauthenticated unless a webhook's token holds: RS256, issuer, audience, lifetime."""
    import jwt  # of the API's layer; loaded by the one route that needs it

    try:
        key = keys(str(jwt.get_unverified_header(token).get("kid", "")))
        if key is None:
            raise jwt.InvalidKeyError
        claims = jwt.decode(
            token,
            jwt.PyJWK.from_dict(dict(key), algorithm="RS256"),
            algorithms=["RS256"],
            issuer=f"orgId:{portal.organisation_id}",
            audience=f"webhookId:{portal.webhook_id}",
            options={
                "require": ["exp", "iat", "iss", "aud"],
                "verify_exp": False,  # compared below: with our clock, and either unit
                "verify_iat": False,
            },
        )
        issued, expires = _moment(claims["iat"]), _moment(claims["exp"])
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
        raise Unauthenticated("This delivery's token does not hold.", reason="bad-token") from None
    if not issued - LEEWAY <= now < expires + LEEWAY:
        raise Unauthenticated("This delivery's token is not of now.", reason="token-expired")


def _moment(value: float) -> datetime:
    seconds = float(value)
    seconds = seconds / 1000 if seconds > MILLISECONDS_FROM else seconds
    return datetime.fromtimestamp(seconds, UTC)


def portal_of(config: Mapping[str, Any], *, refuse: Callable[[str, str], None]) -> ZohoPortal:
    """Return what of a source's settings is not the sign-in; `refuse` names a wrong field."""
    return ZohoPortal(
        organisation_id=str(config.get("organisation_id", "")),
        webhook_id=config.get("webhook_id"),
        department_id=config.get("department_id"),
        from_address=config.get("from_address"),
        statuses=statuses_of(config, STATUSES, refuse=refuse),
        backfill=backfill_of(config),
    )
