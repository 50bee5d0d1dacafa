"""What was written back to ticket sources, in PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.tickets.ticket import ReplyRow, WriteBackPart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresWriteBacks(Store):
    """What was written back to the sources, part by part, and the replies as they were sent."""

    def parts(self, investigation_id: UUID) -> Mapping[str, WriteBackPart]:
        """Return the parts that were begun, by name."""
        made = record(partial(WriteBackPart, investigation_id=investigation_id))
        parts = self.all_of(made, "write_back.parts", investigation_id=investigation_id)
        return {part.part: part for part in parts}

    def begin(
        self, ticket_id: UUID, investigation_id: UUID, part: str, *, now: datetime, until: datetime
    ) -> bool:
        """Take the sending of a part `until` then; False when it is done, or another's."""
        begun = self.run(
            "write_back.begin",
            ticket_id=ticket_id,
            investigation_id=investigation_id,
            part=part,
            now=now,
            until=until,
        )
        return begun.rowcount == 1

    def release(self, investigation_id: UUID, part: str, *, now: datetime, until: datetime) -> None:
        """Give back what was taken `until` then; nothing when another has it by now."""
        self.run(
            "write_back.release",
            investigation_id=investigation_id,
            part=part,
            now=now,
            until=until,
        )

    def done(self, investigation_id: UUID, part: str, reference: str, now: datetime) -> bool:
        """Keep that a part stands at the source; False when that is known."""
        done = self.run(
            "write_back.done",
            investigation_id=investigation_id,
            part=part,
            reference=reference,
            now=now,
        )
        return done.rowcount == 1

    def answered_at(self, investigation_id: UUID) -> datetime | None:
        """Return when an investigation began to send its answer; None when it never did."""
        return self.value("write_back.answered_at", investigation_id=investigation_id)

    def add_reply(self, reply: ReplyRow) -> None:
        """Keep a reply; one of the same id changes nothing."""
        self.run(
            "write_back.add_reply",
            id=reply.id,
            ticket_id=reply.ticket_id,
            investigation_id=reply.investigation_id,
            private=reply.private,
            sealed=reply.sealed,
            data_subjects=list(reply.data_subjects),
            created_at=reply.created_at,
        )

    def replies(self, ticket_id: UUID) -> Sequence[ReplyRow]:
        """Return the replies to a ticket, the oldest first."""
        return self.all_of(record(ReplyRow), "write_back.replies", ticket_id=ticket_id)
