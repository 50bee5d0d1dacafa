"""What requesters wrote to their tickets later, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.tickets.ticket import MessageRow

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID


class PostgresTicketMessages(Store):
    """What requesters wrote to the tickets of the transaction's workspace later."""

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
        asked = {"ticket_id": ticket_id, "external_ids": list(external_ids)}
        messages = self.all_of(record(MessageRow), "ticket_message.known", **asked)
        return {message.external_id: message for message in messages}

    def newest(self, ticket_id: UUID, limit: int, *, asking: bool = False) -> Sequence[MessageRow]:
        """Return the messages of a ticket, the last written first; `asking`: without small talk."""
        asked = {"ticket_id": ticket_id, "limit": limit, "asking": asking}
        return self.all_of(record(MessageRow), "ticket_message.newest", **asked)

    def reopens(self, message_id: UUID) -> None:
        """Keep that a message put its ticket back."""
        self.run("ticket_message.reopens", id=message_id)

    def reopenings(self, ticket_id: UUID) -> int:
        """Return how many messages put a ticket back since somebody last did."""
        return self.value("ticket_message.reopenings", ticket_id=ticket_id)
