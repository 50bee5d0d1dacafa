"""Tickets, sources, write-backs and personas in memory. For tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import NotFound
from cairn.safety.tools import Autonomy
from cairn.tickets.personas import DEFAULT
from cairn.tickets.queue import WAITING
from cairn.tickets.ticket import QueueNumbers, SourceState, TicketStatus, WriteBackPart

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.tickets.ticket import (
        MessageRow,
        PersonaVersion,
        ReplyRow,
        TicketRow,
        TicketSource,
    )

_LAST = 50
_DELIVERIES_FOR = timedelta(days=7)
_UNSETTLED = (TicketStatus.NEW, TicketStatus.QUEUED)


@dataclass(frozen=True)
class InMemoryTickets:
    """Does what `PostgresTickets` does."""

    tables: Tables

    def add(self, ticket: TicketRow) -> bool:
        """Keep a new one; False when its source and external id are known."""
        if self.known(ticket.source, [ticket.external_id]):
            return False
        self.tables.tickets[ticket.id] = ticket
        return True

    def find(self, ticket_id: UUID) -> TicketRow | None:
        """Return one."""
        return self.tables.tickets.get(ticket_id)

    def known(self, source: str, external_ids: Collection[str]) -> Mapping[str, TicketRow]:
        """Return those of a source that there are, by their external ids."""
        return {
            ticket.external_id: ticket
            for ticket in self.tables.tickets.values()
            if ticket.source == source and ticket.external_id in external_ids
        }

    def change(self, ticket: TicketRow) -> None:
        """Replace what a known one says; not where it stands."""
        known = self.tables.tickets.get(ticket.id)
        if known is not None:
            self.tables.tickets[ticket.id] = replace(
                known,
                sealed=ticket.sealed,
                mark=ticket.mark,
                priority=ticket.priority,
                data_subjects=ticket.data_subjects,
                position=ticket.position,
                modified_at=ticket.modified_at,
                sla_at=ticket.sla_at,
            )

    def screened(
        self, ticket_id: UUID, screening: Mapping[str, Any], status: TicketStatus, now: datetime
    ) -> bool:
        """Keep what screening found and move a new one on."""
        found = self.tables.tickets.get(ticket_id)
        if found is None or found.status is not TicketStatus.NEW:
            return False
        self._move(found, status, now, screening={**found.screening, **screening})
        return True

    def unscreened(self, limit: int) -> Sequence[UUID]:
        """Return tickets that are new, the oldest first."""
        new = (
            ticket for ticket in self.tables.tickets.values() if ticket.status is TicketStatus.NEW
        )
        return [item.id for item in sorted(new, key=lambda item: item.received_at)[:limit]]

    def claim(self, investigation_id: UUID, now: datetime) -> TicketRow | None:
        """Take the next of the queue for an investigation."""
        queued = sorted(
            (item for item in self._queued() if not self._is_held(item)), key=_rank_and_age
        )
        if not queued:
            return None
        claimed = replace(
            queued[0],
            status=TicketStatus.INVESTIGATING,
            claimed_at=now,
            ended_at=None,
            waits_for=None,
            investigation_id=investigation_id,
        )
        self.tables.tickets[claimed.id] = claimed
        return claimed

    def settle(
        self, ticket_id: UUID, investigation_id: UUID, status: TicketStatus, now: datetime
    ) -> bool:
        """End it, if this investigation has it; `queued` gives it back."""
        found = self.tables.tickets.get(ticket_id)
        if (
            found is None
            or found.status is not TicketStatus.INVESTIGATING
            or found.investigation_id != investigation_id
        ):
            return False
        self._move(found, status, now)
        return True

    def park(self, ticket_id: UUID, waits_for: str) -> bool:
        """Say what has to be mended before the ticket goes back to the queue by itself."""
        found = self.tables.tickets.get(ticket_id)
        if found is None or found.status in _UNSETTLED:
            return False
        self.tables.tickets[ticket_id] = replace(found, waits_for=waits_for)
        return True

    def waiting(self, waits_for: str, limit: int) -> Sequence[UUID]:
        """Return the tickets that wait for this to be mended, by rank and age."""
        waiting = (
            ticket
            for ticket in self.tables.tickets.values()
            if ticket.waits_for == waits_for and ticket.status is not TicketStatus.INVESTIGATING
        )
        return [item.id for item in sorted(waiting, key=_rank_and_age)[:limit]]

    def mended(self) -> Sequence[str]:
        """Return what ended tickets wait for though it was mended meanwhile."""
        going = (*_UNSETTLED, TicketStatus.INVESTIGATING)
        ended = (ticket for ticket in self.tables.tickets.values() if ticket.status not in going)
        return sorted(
            {item.waits_for for item in ended if item.waits_for and self._is_mended(item)}
        )

    def _is_mended(self, ticket: TicketRow) -> bool:
        kind, _, name = (ticket.waits_for or "").partition(":")
        if kind == "source":
            sources = (one for one, _, _ in self.tables.ticket_sources.values())
            return any(
                source.name == name and source.state is SourceState.ACTIVE for source in sources
            )
        found = self.tables.connectors.get(name)
        claimed = ticket.claimed_at
        return bool(found and claimed and found[0].connector.changed_at > claimed)

    def requeue(self, ticket_id: UUID, now: datetime) -> bool:
        """Put one back into the queue."""
        found = self.tables.tickets.get(ticket_id)
        if found is None or found.status in (*_UNSETTLED, TicketStatus.INVESTIGATING):
            return False
        self._move(replace(found, waits_for=None), TicketStatus.QUEUED, now)
        for message in self.tables.ticket_messages.values():
            if message.ticket_id == ticket_id:
                self.tables.ticket_messages[message.id] = replace(message, reopened=False)
        return True

    def reopen(self, ticket_id: UUID) -> bool:
        """Take up again one whose requester answered."""
        found = self.tables.tickets.get(ticket_id)
        if found is None or found.status not in WAITING or not found.sealed:
            return False
        again = replace(found, status=TicketStatus.NEW, ended_at=None, waits_for=None)
        self.tables.tickets[ticket_id] = again
        return True

    def page(
        self,
        *,
        status: TicketStatus | None,
        source: str | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[TicketRow]:
        """Return tickets, the newest first."""
        found = (
            ticket
            for ticket in self.tables.tickets.values()
            if status in (None, ticket.status)
            and source in (None, ticket.source)
            and (before is None or ticket.id < before)
        )
        return sorted(found, key=lambda item: item.id, reverse=True)[:limit]

    def since(self, moment: datetime, limit: int) -> Sequence[TicketRow]:
        """Return what was received since, the newest first."""
        found = (ticket for ticket in self.tables.tickets.values() if ticket.received_at >= moment)
        return sorted(found, key=lambda item: (item.received_at, item.id), reverse=True)[:limit]

    def depth(self, most: int) -> int:
        """Return how many are queued that may be taken, counted up to `most`."""
        return min(most, sum(not self._is_held(item) for item in self._queued()))

    def numbers(self) -> QueueNumbers:
        """Return what the queue looks like."""
        every = self.tables.tickets.values()
        held = sum(self._is_held(item) for item in self._queued())
        counts = {status: sum(item.status is status for item in every) for status in TicketStatus}
        seconds = self._seconds()
        return QueueNumbers(
            depth=counts[TicketStatus.QUEUED] - held,
            held=held,
            new=counts[TicketStatus.NEW],
            investigating=counts[TicketStatus.INVESTIGATING],
            discarded=counts[TicketStatus.DISCARDED],
            average_s=sum(seconds) / len(seconds) if seconds else None,
        )

    def _seconds(self) -> list[float]:
        """Return how long the last investigations took."""
        ended = [
            (ticket.ended_at, ticket.claimed_at)
            for ticket in self.tables.tickets.values()
            if ticket.ended_at and ticket.claimed_at and ticket.ended_at >= ticket.claimed_at
        ]
        last = sorted(ended, reverse=True)[:_LAST]
        return [(ended_at - claimed_at).total_seconds() for ended_at, claimed_at in last]

    def _queued(self) -> list[TicketRow]:
        return [
            ticket
            for ticket in self.tables.tickets.values()
            if ticket.status is TicketStatus.QUEUED
        ]

    def _is_held(self, ticket: TicketRow) -> bool:
        personas = InMemoryPersonas(self.tables)
        found = personas.find(ticket.persona) or personas.find(DEFAULT.name)
        return found is not None and found.persona.autonomy is Autonomy.OFF

    def _move(self, ticket: TicketRow, status: TicketStatus, now: datetime, **changes: Any) -> None:
        queued = status is TicketStatus.QUEUED
        moved = replace(
            ticket,
            status=status,
            queued_at=now if queued else ticket.queued_at,
            ended_at=None if queued else now,
            **changes,
        )
        self.tables.tickets[ticket.id] = moved


@dataclass(frozen=True)
class InMemoryTicketMessages:
    """Does what `PostgresTicketMessages` does."""

    tables: Tables

    def add(self, message: MessageRow) -> bool:
        """Keep one; False when its ticket has one of its external id."""
        if self.known(message.ticket_id, [message.external_id]):
            return False
        self.tables.ticket_messages[message.id] = message
        return True

    def known(self, ticket_id: UUID, external_ids: Collection[str]) -> Mapping[str, MessageRow]:
        """Return those of a ticket that there are, by their external ids."""
        return {
            item.external_id: item
            for item in self._of(ticket_id)
            if item.external_id in external_ids
        }

    def newest(self, ticket_id: UUID, limit: int, *, asking: bool = False) -> Sequence[MessageRow]:
        """Return the messages of a ticket, the last written first; `asking`: without small talk."""
        found = [item for item in self._of(ticket_id) if not (asking and item.small_talk)]
        return sorted(found, key=lambda item: (item.written_at, item.id), reverse=True)[:limit]

    def reopens(self, message_id: UUID) -> None:
        """Keep that a message put its ticket back."""
        found = self.tables.ticket_messages[message_id]
        self.tables.ticket_messages[message_id] = replace(found, reopened=True)

    def reopenings(self, ticket_id: UUID) -> int:
        """Return how many messages put a ticket back since somebody last did."""
        return sum(item.reopened for item in self._of(ticket_id))

    def _of(self, ticket_id: UUID) -> list[MessageRow]:
        return [
            message
            for message in self.tables.ticket_messages.values()
            if message.ticket_id == ticket_id
        ]


@dataclass(frozen=True)
class InMemoryTicketSources:
    """Does what `PostgresTicketSources` does."""

    tables: Tables

    def add(self, source: TicketSource, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when its name is taken."""
        if self.named(source.name) is not None:
            return False
        self.tables.ticket_sources[source.id] = (source, sealed_secrets, None)
        return True

    def find(self, source_id: UUID) -> TicketSource | None:
        """Return one."""
        found = self.tables.ticket_sources.get(source_id)
        return found[0] if found else None

    def named(self, name: str) -> TicketSource | None:
        """Return the one of a name."""
        return next((item for item in self.all() if item.name == name), None)

    def all(self) -> Sequence[TicketSource]:
        """Return every one, by name."""
        return sorted(
            (one for one, _, _ in self.tables.ticket_sources.values()), key=lambda item: item.name
        )

    def secrets(self, source_id: UUID) -> bytes:
        """Return the sealed secrets; NotFound when there is no such source."""
        if source_id not in self.tables.ticket_sources:
            raise NotFound("There is no such ticket source.", source_id=str(source_id))
        return self.tables.ticket_sources[source_id][1]

    def cursor(self, source_id: UUID) -> str | None:
        """Return how far polling got."""
        found = self.tables.ticket_sources.get(source_id)
        return found[2] if found else None

    def change(self, source: TicketSource, sealed_secrets: bytes | None, now: datetime) -> None:
        """Replace settings and state, and the secrets unless None."""
        known, secrets, cursor = self.tables.ticket_sources[source.id]
        changed = replace(
            known,
            config=source.config,
            persona=source.persona,
            state=source.state,
            poll_seconds=source.poll_seconds,
            failures=source.failures,
            error=source.error,
        )
        self.tables.ticket_sources[source.id] = (changed, sealed_secrets or secrets, cursor)

    def polled(self, source_id: UUID, cursor: str | None, now: datetime) -> None:
        """Keep how far polling got; its failures are over."""
        source, secrets, _ = self.tables.ticket_sources[source_id]
        paused = source.state is SourceState.PAUSED
        state = source.state if paused else SourceState.ACTIVE
        polled = replace(source, polled_at=now, failures=0, error=None, state=state)
        self.tables.ticket_sources[source_id] = (polled, secrets, cursor)

    def failed(self, source_id: UUID, error: str, state: SourceState, now: datetime) -> None:
        """Keep that polling failed, and why; a paused one stays paused."""
        source, secrets, cursor = self.tables.ticket_sources[source_id]
        stays = source.state if source.state is SourceState.PAUSED else state
        failed = replace(source, error=error, state=stays, failures=source.failures + 1)
        self.tables.ticket_sources[source_id] = (failed, secrets, cursor)

    def remove(self, source_id: UUID) -> bool:
        """Remove one; its tickets stay."""
        for item in [
            delivery for delivery in self.tables.ticket_deliveries if delivery[0] == source_id
        ]:
            del self.tables.ticket_deliveries[item]
        return self.tables.ticket_sources.pop(source_id, None) is not None

    def event(self, source_id: UUID, delivery_id: str, now: datetime) -> bool:
        """Keep that a webhook delivery arrived; False when this one did before."""
        kept = self.tables.ticket_deliveries
        for one, at in list(kept.items()):
            if one[0] == source_id and one[1] != delivery_id and at < now - _DELIVERIES_FOR:
                del kept[one]
        if (source_id, delivery_id) in kept:
            return False
        kept[source_id, delivery_id] = now
        return True


@dataclass(frozen=True)
class InMemoryWriteBacks:
    """Does what `PostgresWriteBacks` does."""

    tables: Tables

    def parts(self, investigation_id: UUID) -> Mapping[str, WriteBackPart]:
        """Return the parts that were begun, by name."""
        return {
            part: one
            for (investigation, part), (_, one) in self.tables.write_backs.items()
            if investigation == investigation_id
        }

    def begin(
        self, ticket_id: UUID, investigation_id: UUID, part: str, *, now: datetime, until: datetime
    ) -> bool:
        """Take the sending of a part `until` then; False when it is done, or another's."""
        _, known = self.tables.write_backs.get((investigation_id, part), (ticket_id, None))
        if known is not None and (known.done or (known.leased_until or now) > now):
            return False
        self.tables.write_backs_begun.setdefault((investigation_id, part), now)
        begun = WriteBackPart(
            investigation_id=investigation_id, part=part, done=False, leased_until=until
        )
        self.tables.write_backs[investigation_id, part] = (ticket_id, begun)
        return True

    def release(self, investigation_id: UUID, part: str, *, now: datetime, until: datetime) -> None:
        """Give back what was taken `until` then; nothing when another has it by now."""
        ticket_id, known = self.tables.write_backs[investigation_id, part]
        if not known.done and known.leased_until == until:
            free = replace(known, leased_until=now)
            self.tables.write_backs[investigation_id, part] = (ticket_id, free)

    def done(self, investigation_id: UUID, part: str, reference: str, now: datetime) -> bool:
        """Keep that a part stands at the source; False when that is known."""
        ticket_id, begun = self.tables.write_backs[investigation_id, part]
        if begun.done:
            return False
        done = replace(begun, done=True, reference=reference)
        self.tables.write_backs[investigation_id, part] = (ticket_id, done)
        return True

    def answered_at(self, investigation_id: UUID) -> datetime | None:
        """Return when an investigation began to send its answer; None when it never did."""
        return self.tables.write_backs_begun.get((investigation_id, "reply"))

    def add_reply(self, reply: ReplyRow) -> None:
        """Keep a reply; one of the same id changes nothing."""
        self.tables.ticket_replies.setdefault(reply.id, reply)

    def replies(self, ticket_id: UUID) -> Sequence[ReplyRow]:
        """Return the replies to a ticket, the oldest first."""
        found = (
            reply for reply in self.tables.ticket_replies.values() if reply.ticket_id == ticket_id
        )
        return sorted(found, key=lambda item: (item.created_at, item.id))


@dataclass(frozen=True)
class InMemoryPersonas:
    """Does what `PostgresPersonas` does."""

    tables: Tables

    def find(self, name: str) -> PersonaVersion | None:
        """Return the present version of one that was not removed."""
        newest = next(iter(self.versions(name)), None)
        return None if newest is None or newest.removed else newest

    def all(self) -> Sequence[PersonaVersion]:
        """Return the present versions, by name."""
        names = sorted({name for name, _ in self.tables.personas})
        return [one for name in names if (one := self.find(name)) is not None]

    def versions(self, name: str) -> Sequence[PersonaVersion]:
        """Return every version of a name, the newest first."""
        found = (
            persona for persona in self.tables.personas.values() if persona.persona.name == name
        )
        return sorted(found, key=lambda item: item.persona.version, reverse=True)

    def add(self, version: PersonaVersion) -> None:
        """Keep a version; the newest is the present one."""
        self.tables.personas[version.persona.name, version.persona.version] = version


def _rank_and_age(ticket: TicketRow) -> tuple[int, datetime, UUID]:
    return -ticket.priority.rank, ticket.received_at, ticket.id
