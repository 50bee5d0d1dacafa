"""The connector `zoho-desk`: tickets and contacts of one organisation in Zoho Desk.

Replies, comments and time entries carry the mark of their idempotency key and are looked for before
they are written; a status is set, not toggled. Settings: `organisation_id`, `client_id`,
`from_address`, `desk_url`, `accounts_url`; secrets: `client_secret`, `refresh_token`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AwareDatetime, Field, SecretStr, model_validator

from cairn.adapters.http.zoho import ACCOUNTS_URL, DESK_URL, ZohoAccount, ZohoDesk
from cairn.bundled.configuration import ConnectorConfig, configured, run
from cairn.bundled.serving import (
    Answer,
    Arguments,
    Line,
    Text,
    Tool,
    WriteArguments,
    connector_server,
    reads,
    writes,
)
from cairn.kernel.clock import Clock, utc_now
from cairn.kernel.errors import Conflict, ValidationFailed
from cairn.safety.tools import Autonomy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.lowlevel import Server

    from cairn.adapters.http.zoho import Record
    from cairn.kernel.text.json_value import JsonValue

NAME, VERSION, PREFIX = "zoho-desk", "1.0.0", "ZOHO_DESK_"
MAX_THREADS = 20

Id = Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]
TicketId = Annotated[Id, Field(description="The id of the ticket, not its number.")]


class ZohoConfig(ConnectorConfig):
    """Which organisation, and who writes to its customers."""

    organisation_id: Id
    client_id: str
    client_secret: SecretStr
    refresh_token: SecretStr
    from_address: str | None = None
    desk_url: str = DESK_URL
    accounts_url: str = ACCOUNTS_URL
    allow_private: bool = False


class ListTickets(Arguments):
    """Which tickets."""

    status: tuple[Line, ...] = Field(default=(), max_length=10, description="Any of these.")
    department_id: Id | None = None
    start: int = Field(default=0, ge=0, le=100_000)
    limit: int = Field(default=20, ge=1, le=50)


class SearchTickets(Arguments):
    """What to look for: everything given must fit, and something must be."""

    text: Annotated[str, Field(min_length=3, max_length=100)] | None = None
    email: Line | None = Field(default=None, description="Of the contact.")
    status: tuple[Line, ...] = Field(default=(), max_length=10, description="Any of these.")
    changed_from: AwareDatetime | None = None
    changed_to: AwareDatetime | None = None
    start: int = Field(default=0, ge=0, le=999)
    limit: int = Field(default=20, ge=1, le=50)

    @model_validator(mode="after")
    def _something(self) -> SearchTickets:
        if (self.changed_from is None) != (self.changed_to is None):
            raise ValueError("needs both of changed_from and changed_to, or neither")
        if not (self.text or self.email or self.status or self.changed_from):
            raise ValueError("needs one of text, email, status and changed_from")
        return self


class OneTicket(Arguments):
    """Which ticket."""

    ticket_id: TicketId


class OneContact(Arguments):
    """Which contact."""

    contact_id: Id


class FindContacts(Arguments):
    """Whom to look for."""

    email: Line


class Reply(WriteArguments):
    """What to answer the requester."""

    ticket_id: TicketId
    content: Text = Field(description="Plain text. The requester gets it as a mail.")


class Note(WriteArguments):
    """What to note for the agents."""

    ticket_id: TicketId
    content: Text = Field(description="Plain text. Agents see it, the requester does not.")


class Status(WriteArguments):
    """Which status."""

    ticket_id: TicketId
    status: Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[^,\x00-\x1f\x7f]+$")]


class TimeEntry(WriteArguments):
    """How long it took."""

    ticket_id: TicketId
    minutes: int = Field(ge=1, le=24 * 60)
    note: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The tools over one organisation."""

    zoho: ZohoDesk
    from_address: str | None = None
    clock: Clock = utc_now

    def health(self) -> Mapping[str, JsonValue]:
        """Ask for the organisation, which needs a good sign-in."""
        record = self.zoho.organisation()
        return {"organisation": str(record.get("companyName") or record.get("portalName") or "")}

    def list_tickets(self, arguments: ListTickets) -> Answer:
        """Return tickets, the newest first."""
        tickets = self.zoho.tickets(
            start=arguments.start,
            limit=arguments.limit,
            status=arguments.status,
            department_id=arguments.department_id,
        )
        return _page(tickets, arguments.start, arguments.limit)

    def search_tickets(self, arguments: SearchTickets) -> Answer:
        """Return the tickets that fit."""
        span = (
            (arguments.changed_from, arguments.changed_to)
            if arguments.changed_from is not None and arguments.changed_to is not None
            else None
        )
        match = self.zoho.search(
            text=arguments.text,
            email=arguments.email,
            status=arguments.status,
            modified=span,
            start=arguments.start,
            limit=arguments.limit,
        )
        return _page(match, arguments.start, arguments.limit)

    def get_ticket(self, arguments: OneTicket) -> Answer:
        """Return a ticket with its mails and comments."""
        ticket = self.zoho.ticket(arguments.ticket_id)
        threads = self.zoho.threads(arguments.ticket_id, limit=MAX_THREADS)
        comments = self.zoho.comments(arguments.ticket_id, limit=MAX_THREADS)
        fields = {**_brief(ticket), "description": ticket.get("description")}
        fields["threads"] = [_picked(thread, *_THREAD) for thread in threads]
        fields["comments"] = [_picked(comment, *_COMMENT) for comment in comments]
        return Answer(value=fields)

    def get_contact(self, arguments: OneContact) -> Answer:
        """Return a contact."""
        return Answer(value=_picked(self.zoho.contact(arguments.contact_id), *_CONTACT))

    def find_contacts(self, arguments: FindContacts) -> Answer:
        """Return the contacts with an address."""
        results: list[JsonValue] = [
            _picked(contact, *_CONTACT) for contact in self.zoho.contacts(email=arguments.email)
        ]
        return Answer(value={"contacts": results})

    def reply(self, arguments: Reply) -> Answer:
        """Mail the requester once."""
        ticket = self.zoho.ticket(arguments.ticket_id)
        to, sender = _requester(ticket), self._sender()
        if arguments.dry_run:
            return _would(ticket, {"reply": arguments.content, "to": to, "from": sender})
        thread, repeated = self.zoho.reply_once(
            arguments.ticket_id,
            key=arguments.idempotency_key or "",
            content=arguments.content,
            to=to,
            from_address=sender,
        )
        return Answer(value={**_picked(thread, *_THREAD), "repeated": repeated})

    def private_comment(self, arguments: Note) -> Answer:
        """Write a comment for agents once."""
        if arguments.dry_run:
            return _would(
                self.zoho.ticket(arguments.ticket_id), {"private_comment": arguments.content}
            )
        comment, repeated = self.zoho.comment_once(
            arguments.ticket_id, key=arguments.idempotency_key or "", content=arguments.content
        )
        return Answer(value={**_picked(comment, *_COMMENT), "repeated": repeated})

    def update_status(self, arguments: Status) -> Answer:
        """Set the status."""
        if arguments.dry_run:
            return _would(self.zoho.ticket(arguments.ticket_id), {"status": arguments.status})
        return Answer(value=_brief(self.zoho.set_status(arguments.ticket_id, arguments.status)))

    def time_entry(self, arguments: TimeEntry) -> Answer:
        """Book time once."""
        if arguments.dry_run:
            ticket = self.zoho.ticket(arguments.ticket_id)
            return _would(ticket, {"minutes": arguments.minutes, "note": arguments.note})
        entry, repeated = self.zoho.add_time_entry_once(
            arguments.ticket_id,
            key=arguments.idempotency_key or "",
            minutes=arguments.minutes,
            note=arguments.note,
            executed_at=self.clock(),
        )
        return Answer(value={**_picked(entry, *_TIME), "repeated": repeated})

    def _sender(self) -> str:
        if self.from_address is None:
            raise Conflict(
                "The connector has no from_address, so it cannot mail anybody.",
                reason="connector-settings",
            )
        return self.from_address


_TICKET = (
    "id", "ticketNumber", "subject", "status", "statusType", "priority", "channel", "email",
    "contactId", "departmentId", "createdTime", "modifiedTime", "dueDate", "webUrl",
)  # fmt: skip
_THREAD = ("id", "channel", "direction", "status", "summary", "createdTime", "fromEmailAddress")
_COMMENT = ("id", "content", "isPublic", "commentedTime")
_CONTACT = ("id", "firstName", "lastName", "email", "phone", "mobile", "accountId", "type")
_TIME = ("id", "hoursSpent", "minutesSpent", "description", "executedTime")


def _picked(record: Record, *names: str) -> dict[str, JsonValue]:
    return {name: record[name] for name in names if name in record}


def _brief(ticket: Record) -> dict[str, JsonValue]:
    fields = _picked(ticket, *_TICKET)
    if isinstance(ticket.get("contact"), dict):
        fields["contact"] = _picked(ticket["contact"], *_CONTACT)
    return fields


def _page(results: list[Record], start: int, limit: int) -> Answer:
    tickets: list[JsonValue] = [_brief(record) for record in results]
    more = start + limit if len(results) == limit else None
    return Answer(value={"tickets": tickets, "next_start": more})


def _would(ticket: Record, change: Mapping[str, JsonValue]) -> Answer:
    return Answer(value={"dry_run": True, "ticket": _brief(ticket), "would": dict(change)})


def _requester(ticket: Record) -> str:
    contact: Record = ticket.get("contact") or {}
    address = ticket.get("email") or contact.get("email")
    if not isinstance(address, str) or "@" not in address:
        raise ValidationFailed("The ticket has no address to answer to.", reason="no-requester")
    return address


def tools(desk: Desk) -> list[Tool]:
    """Return the tools with what they declare."""
    ticket = "tickets/{ticket_id}"
    return [
        reads("list_tickets", "List tickets, the newest first.", ListTickets, desk.list_tickets),
        reads("search_tickets", "Search tickets by words, contact, status and last change.",
              SearchTickets, desk.search_tickets),
        reads("get_ticket", "Read a ticket with its mails and comments.", OneTicket,
              desk.get_ticket, resource=ticket),
        reads("get_contact", "Read a contact.", OneContact, desk.get_contact,
              resource="contacts/{contact_id}"),
        reads("find_contacts", "Find contacts by e-mail address.", FindContacts,
              desk.find_contacts),
        writes("reply", "Answer a ticket: the requester gets a mail. It cannot be taken back.",
               Reply, desk.reply, resource=f"{ticket}/reply", asks_above=Autonomy.PROPOSE),
        writes("private_comment", "Note something on a ticket for agents only.", Note,
               desk.private_comment, resource=f"{ticket}/comments"),
        writes("update_status", "Set the status of a ticket.", Status, desk.update_status,
               resource=f"{ticket}/status", rollback="update_status"),
        writes("time_entry", "Book working time on a ticket.", TimeEntry, desk.time_entry,
               resource=f"{ticket}/time"),
    ]  # fmt: skip


def server(config: Mapping[str, JsonValue], secrets: Mapping[str, str]) -> Server[Any]:
    """Return the server; ValidationFailed names settings it cannot work with."""
    settings = configured(ZohoConfig, config, secrets)
    account = ZohoAccount(
        organisation_id=settings.organisation_id,
        client_id=settings.client_id,
        client_secret=settings.client_secret.get_secret_value(),
        refresh_token=settings.refresh_token.get_secret_value(),
        desk_url=settings.desk_url,
        accounts_url=settings.accounts_url,
        allow_private=settings.allow_private,
    )
    desk = Desk(zoho=ZohoDesk(account), from_address=settings.from_address)
    return connector_server(
        NAME,
        VERSION,
        tools(desk),
        health=desk.health,
        instructions="The tickets of one organisation in Zoho Desk.",
        secrets=settings.secrets(),
    )


if __name__ == "__main__":
    run(server, ZohoConfig, PREFIX)
