"""What requesters wrote to their tickets later, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store
from cairn.tickets.ports import MessageRow

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any
    from uuid import UUID


class PostgresTicketMessages(Store):
    """Implements `helpdesk.ports.TicketMessageStore`."""

    def add(self, message: MessageRow) -> bool:
        """Keep one; False when its ticket has one of its external id."""
        added = self.run(
            "ticket_message.add",
            id=message.id,
            ticket_id=message.ticket_id,
            external_id=message.external_id,
            sealed=message.sealed,
            data_subjects=list(message.data_subjects),
            position=message.position,
            written_at=message.written_at,
            received_at=message.received_at,
            small_talk=message.small_talk,
        )
        return added.rowcount == 1

    def known(self, ticket_id: UUID, external_ids: Collection[str]) -> Mapping[str, MessageRow]:
        """Return those of a ticket that there are, by their external ids."""
        wanted = list(external_ids)
        rows = self.run("ticket_message.known", ticket_id=ticket_id, external_ids=wanted)
        return {one.external_id: one for one in map(_message, rows)}

    def newest(self, ticket_id: UUID, limit: int, *, asking: bool = False) -> Sequence[MessageRow]:
        """Return the messages of a ticket, the last written first; `asking`: without small talk."""
        rows = self.run("ticket_message.newest", ticket_id=ticket_id, limit=limit, asking=asking)
        return [_message(row) for row in rows]

    def reopens(self, message_id: UUID) -> None:
        """Keep that a message put its ticket back."""
        self.run("ticket_message.reopens", id=message_id)

    def reopenings(self, ticket_id: UUID) -> int:
        """Return how many messages put a ticket back since somebody last did."""
        ((count,),) = self.run("ticket_message.reopenings", ticket_id=ticket_id)
        return count


def _message(row: Sequence[Any]) -> MessageRow:
    one, ticket, external_id, sealed, subjects, position, written, received, *marks = row
    reopened, small_talk = marks
    return MessageRow(
        id=one,
        ticket_id=ticket,
        external_id=external_id,
        sealed=sealed,
        data_subjects=tuple(subjects),
        position=position,
        written_at=written,
        received_at=received,
        reopened=reopened,
        small_talk=small_talk,
    )
