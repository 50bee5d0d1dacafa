"""Tickets, their later messages and what was written back, in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.tickets.ticket import (
    MessageRow,
    Priority,
    QueueNumbers,
    ReplyRow,
    ResolvedTicket,
    TicketRow,
    TicketStatus,
    WriteBackPart,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


_PRIORITIES: dict[int, Priority] = {item.rank: item for item in Priority}


def _ticket(*, rank: int, **row: Any) -> TicketRow:
    return TicketRow(priority=_PRIORITIES[rank], **row)


TICKET = record(_ticket, status=TicketStatus)


class PostgresTickets(Store):
    """The tickets of the transaction's workspace: rows are the queue, none is ever dropped.

    new -> queued (or discarded) by screening; queued -> investigating by `claim`; investigating ->
    an end by `settle`; `requeue` leads back to queued from anywhere but there, `reopen` back to new
    from needs_client and auto_resolved.
    """

    def add(self, ticket: TicketRow) -> bool:
        """Keep a new one; False when its source and external id are known, and nothing changes."""
        screening = Jsonb(dict(ticket.screening))
        rank = ticket.priority.rank
        added = self.write("ticket.add", ticket, rank=rank, screening=screening)
        return added.rowcount == 1

    def find(self, ticket_id: UUID) -> TicketRow | None:
        """Return one."""
        return self.first_of(TICKET, "ticket.find", id=ticket_id)

    def known(self, source: str, external_ids: Collection[str]) -> Mapping[str, TicketRow]:
        """Return those of a source that there are, by their external ids."""
        parameters = {"source": source, "external_ids": list(external_ids)}
        tickets = self.all_of(TICKET, "ticket.known", **parameters)
        return {ticket.external_id: ticket for ticket in tickets}

    def change(self, ticket: TicketRow) -> None:
        """Replace what a known one says (sealed, mark, priority, times); not where it stands."""
        self.write("ticket.change", ticket, rank=ticket.priority.rank)

    def screened(
        self, ticket_id: UUID, screening: Mapping[str, Any], status: TicketStatus, now: datetime
    ) -> bool:
        """Keep what screening found and move a new one on; False when it is not new any more."""
        moved = self.run(
            "ticket.screened",
            id=ticket_id,
            screening=Jsonb(dict(screening)),
            status=status.value,
            now=now,
        )
        return moved.rowcount == 1

    def unscreened(self, limit: int) -> Sequence[UUID]:
        """Return tickets that are new, the oldest first."""
        return self.values("ticket.unscreened", limit=limit)

    def resolved(
        self, sources: Collection[str], until: datetime, *, poor: int, after: UUID, limit: int
    ) -> Sequence[ResolvedTicket]:
        """Return what stands resolved since `until`, of all sources without any, by id."""
        parameters = {"until": until, "poor": poor, "after": after, "limit": limit}
        row = record(ResolvedTicket, data_subjects=tuple)
        return self.all_of(row, "ticket.resolved", sources=list(sources), **parameters)

    def claim(self, investigation_id: UUID, now: datetime) -> TicketRow | None:
        """Take the next of the queue for an investigation; None when nothing is to be taken.

        Critical first, then who came first. What another transaction is taking is skipped (FOR
        UPDATE SKIP LOCKED); tickets whose persona is `off` stay in the queue.
        """
        parameters = {"investigation_id": investigation_id, "now": now}
        return self.first_of(TICKET, "ticket.claim", **parameters)

    def settle(
        self, ticket_id: UUID, investigation_id: UUID, status: TicketStatus, now: datetime
    ) -> bool:
        """End it, if this investigation has it; `queued` gives it back. False, and no change."""
        settled = self.run(
            "ticket.settle",
            id=ticket_id,
            investigation_id=investigation_id,
            status=status.value,
            now=now,
        )
        return settled.rowcount == 1

    def park(self, ticket_id: UUID, waits_for: str) -> bool:
        """Say what has to be mended before the ticket goes back to the queue by itself."""
        return self.run("ticket.park", id=ticket_id, waits_for=waits_for).rowcount == 1

    def waiting(self, waits_for: str, limit: int) -> Sequence[UUID]:
        """Return the tickets that wait for this to be mended, by rank and age."""
        return self.values("ticket.waiting", waits_for=waits_for, limit=limit)

    def mended(self) -> Sequence[str]:
        """Return what ended tickets wait for though it was mended while they were investigated.

        A connector that was changed since they were claimed; a source that is active.
        """
        return self.values("ticket.mended")

    def requeue(self, ticket_id: UUID, now: datetime) -> bool:
        """Put one back into the queue; False when it is there or being investigated.

        Its messages are counted from anew: see `TicketMessageStore.reopenings`.
        """
        return self.run("ticket.requeue", id=ticket_id, now=now).rowcount == 1

    def reopen(self, ticket_id: UUID) -> bool:
        """Take up again one whose requester answered; False when it stands anywhere else."""
        return self.run("ticket.reopen", id=ticket_id).rowcount == 1

    def page(
        self,
        *,
        status: TicketStatus | None,
        source: str | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[TicketRow]:
        """Return tickets, the newest first."""
        return self.all_of(
            TICKET,
            "ticket.page",
            status=status.value if status else None,
            source=source,
            before=before,
            limit=limit,
        )

    def since(self, moment: datetime, limit: int) -> Sequence[TicketRow]:
        """Return what was received since, the newest first: the window for bursts and doubles."""
        return self.all_of(TICKET, "ticket.since", moment=moment, limit=limit)

    def depth(self, most: int) -> int:
        """Return how many are queued that may be taken, counted up to `most`: cheap if small."""
        return self.value("ticket.depth", most=most)

    def numbers(self) -> QueueNumbers:
        """Return what the queue looks like. It counts everything: for people who look at it."""
        numbers = self.first_of(record(QueueNumbers), "ticket.numbers")
        assert numbers is not None
        return numbers


@dataclass(frozen=True)
class WorkspacesWithTickets:
    """Calls the definer function that names the workspaces in which tickets wait."""

    database: Database

    def __call__(self) -> Sequence[UUID]:
        """Return them."""
        with self.database.connection() as connection:
            return (
                connection.cursor(row_factory=scalar_row)
                .execute(query("ticket.workspaces"))
                .fetchall()
            )


class PostgresTicketMessages(Store):
    """What requesters wrote to the tickets of the transaction's workspace later."""

    def add(self, message: MessageRow) -> bool:
        """Keep one; False when its ticket has one of its external id."""
        added = self.write("ticket_message.add", message)
        return added.rowcount == 1

    def known(self, ticket_id: UUID, external_ids: Collection[str]) -> Mapping[str, MessageRow]:
        """Return those of a ticket that there are, by their external ids."""
        parameters = {"ticket_id": ticket_id, "external_ids": list(external_ids)}
        messages = self.all_of(record(MessageRow), "ticket_message.known", **parameters)
        return {message.external_id: message for message in messages}

    def newest(self, ticket_id: UUID, limit: int, *, asking: bool = False) -> Sequence[MessageRow]:
        """Return the messages of a ticket, the last written first; `asking`: without small talk."""
        parameters = {"ticket_id": ticket_id, "limit": limit, "asking": asking}
        return self.all_of(record(MessageRow), "ticket_message.newest", **parameters)

    def reopens(self, message_id: UUID) -> None:
        """Keep that a message put its ticket back."""
        self.run("ticket_message.reopens", id=message_id)

    def reopenings(self, ticket_id: UUID) -> int:
        """Return how many messages put a ticket back since somebody last did."""
        return self.value("ticket_message.reopenings", ticket_id=ticket_id)


class PostgresWriteBacks(Store):
    """What was written back to the sources, part by part, and the replies as they were sent."""

    def parts(self, investigation_id: UUID) -> Mapping[str, WriteBackPart]:
        """Return the parts that were begun, by name."""
        factory = record(partial(WriteBackPart, investigation_id=investigation_id))
        parts = self.all_of(factory, "write_back.parts", investigation_id=investigation_id)
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
        self.write("write_back.add_reply", reply)

    def replies(self, ticket_id: UUID) -> Sequence[ReplyRow]:
        """Return the replies to a ticket, the oldest first."""
        return self.all_of(record(ReplyRow), "write_back.replies", ticket_id=ticket_id)
