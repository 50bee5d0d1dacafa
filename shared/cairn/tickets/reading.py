"""Tickets as operators see them, with what was answered. Agents see them redacted, elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, TypeAlias
from uuid import UUID

from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import NotFound
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import Transactions
from cairn.tickets.sealing import Sealed, TicketText
from cairn.tickets.ticket import MessageRow, Priority, ReplyRow, TicketRow, TicketStatus

MOST_SHOWN = 50
"""Later messages that are shown with a ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketView:
    """A ticket in a list. `title` and `customer` are None when whom it is about was forgotten."""

    id: UUID
    source: str
    external_id: str
    title: str | None
    customer: str | None
    requester_email: str | None
    status: TicketStatus
    priority: Priority
    persona: str
    position: int
    received_at: datetime
    modified_at: datetime | None
    sla_at: datetime | None
    queued_at: datetime | None
    claimed_at: datetime | None
    ended_at: datetime | None
    investigation_id: UUID | None
    waits_for: str | None
    screening: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyView:
    """What was answered to a ticket; `text` is None when whom it is about was forgotten."""

    id: UUID
    investigation_id: UUID
    private: bool
    text: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """What the requester wrote later; `text` is None when whom it is about was forgotten."""

    id: UUID
    external_id: str
    text: str | None
    written_at: datetime
    received_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketDetail(TicketView):
    """A ticket with everything there is to it; a `cut` body is whole in the ledger.

    `messages` are the last fifty of the requester's later ones, the oldest first.
    """

    body: str | None
    cut: bool
    source_metadata: Mapping[str, Any]
    messages: Sequence[MessageView]
    replies: Sequence[ReplyView]
    investigations: Sequence[Any]


InvestigationsOf: TypeAlias = "Callable[[Principal, UUID], Sequence[Any]]"
"""Lists the investigations a ticket had, the newest first, as they are shown in a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadTickets:
    """Lists tickets and shows one: an admin's work, since tickets say what customers wrote."""

    transactions: Transactions[Stores]
    sealed: Sealed
    investigations: InvestigationsOf

    def page(
        self,
        principal: Principal,
        *,
        status: TicketStatus | None = None,
        source: str | None = None,
        before: UUID | None = None,
        limit: int,
    ) -> Sequence[TicketView]:
        """Return tickets, the newest first."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            rows = stores.tickets.page(status=status, source=source, before=before, limit=limit)
        texts = self.sealed.tickets(principal.workspace_id, rows)
        return [_view(row, texts.get(row.id)) for row in rows]

    def get(self, principal: Principal, ticket_id: UUID) -> TicketDetail:
        """Return one; NotFound without it."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            row = stores.tickets.find(ticket_id)
            messages = stores.ticket_messages.newest(ticket_id, MOST_SHOWN)
            replies = stores.write_backs.replies(ticket_id)
        if row is None:
            raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
        text = self.sealed.tickets(principal.workspace_id, [row]).get(row.id)
        view = _view(row, text)
        return TicketDetail(
            **{one.name: getattr(view, one.name) for one in fields(view)},
            body=text.body if text else None,
            cut=text.cut if text else False,
            source_metadata=text.source_metadata if text else {},
            messages=[self._message(principal, one) for one in reversed(messages)],
            replies=[self._reply(principal, one) for one in replies],
            investigations=self.investigations(principal, ticket_id),
        )

    def _message(self, principal: Principal, row: MessageRow) -> MessageView:
        return MessageView(
            id=row.id,
            external_id=row.external_id,
            text=self.sealed.said(principal.workspace_id, row),
            written_at=row.written_at,
            received_at=row.received_at,
        )

    def _reply(self, principal: Principal, row: ReplyRow) -> ReplyView:
        return ReplyView(
            id=row.id,
            investigation_id=row.investigation_id,
            private=row.private,
            text=self.sealed.said(principal.workspace_id, row),
            created_at=row.created_at,
        )


def _view(row: TicketRow, text: TicketText | None) -> TicketView:
    return TicketView(
        id=row.id,
        source=row.source,
        external_id=row.external_id,
        title=text.title if text else None,
        customer=text.customer if text else None,
        requester_email=text.requester_email if text else None,
        status=row.status,
        priority=row.priority,
        persona=row.persona,
        position=row.position,
        received_at=row.received_at,
        modified_at=row.modified_at,
        sla_at=row.sla_at,
        queued_at=row.queued_at,
        claimed_at=row.claimed_at,
        ended_at=row.ended_at,
        investigation_id=row.investigation_id,
        waits_for=row.waits_for,
        screening=row.screening,
    )
