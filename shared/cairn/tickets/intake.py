"""Tickets come in: each once, its raw text only where it is sealed. Not their screening.

The same ticket again changes nothing; a later form of it (by the source's own clock) is kept and
told of in the ledger. A delivery that comes late, twice or out of order is no news.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.ledger.keys import forgotten_name
from cairn.tickets.sealing import checked, mark_of, mended, owners_of, sealed_body, text_of
from cairn.tickets.ticket import TicketRow, TicketStatus
from cairn.writing.ports import Topic
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.tickets.adapter import Incoming
    from cairn.writing.checks import Owner
    from cairn.writing.items import IdempotencyKey

BATCH = 50
"""Tickets that one transaction takes in."""


class Outcome(StrEnum):
    """What became of a ticket that came in."""

    NEW = "new"
    CHANGED = "changed"  # known, and it says something else by now
    KNOWN = "known"  # nothing is new
    CLOSED = "closed"  # its source closed it before it was taken in: left alone
    NAMELESS = "nameless"  # its source gave it no id that can be kept: nothing to take in


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A ticket that came in; `id` is None and `position` 0 for one that was left alone."""

    external_id: str
    outcome: Outcome
    id: UUID | None = None
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class From:
    """Where tickets come from: their source's name, who works on them, how they are screened.

    `advisory` screening labels and holds nothing back: an administrator's own words.
    """

    source: str
    persona: str
    advisory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    given: Incoming
    owners: tuple[Owner, ...]
    mark: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake(Writer):
    """Takes tickets in, in one transaction: the row, the entry, and the message that wakes."""

    def add(
        self,
        principal: Principal,
        origin: From,
        ticket: Incoming,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Received:
        """Take in what a caller of the API says; ValidationFailed or TooLarge names the field."""
        return self._taken(principal, origin, [checked(ticket)], idempotency)[0]

    def receive(
        self, principal: Principal, origin: From, tickets: Sequence[Incoming]
    ) -> tuple[Received, ...]:
        """Take in what a help desk sent, up to `BATCH` at once; the last form of each counts.

        What cannot be kept is mended; one without any id is left out, and said so.
        """
        items: dict[str, Incoming] = {}
        nameless: list[Received] = []
        for ticket in tickets:
            try:
                items[ticket.external_id] = mended(ticket)
            except ValidationFailed:
                nameless.append(Received(external_id="", outcome=Outcome.NAMELESS))
        taken = self._taken(principal, origin, list(items.values()), None) if items else ()
        return (*taken, *nameless)

    def add_about(
        self,
        principal: Principal,
        origin: From,
        ticket: Incoming,
        owners: tuple[Owner, ...],
        also: Callable[[Write, Received], None],
    ) -> Received:
        """Take in a ticket of Cairn's own about `owners`; `also` does the rest of its transaction,
        and undoes all of it by raising.
        """
        return self._taken(principal, origin, [checked(ticket)], None, owners=owners, also=also)[0]

    def _taken(
        self,
        principal: Principal,
        origin: From,
        tickets: Sequence[Incoming],
        idempotency: IdempotencyKey | None,
        *,
        owners: tuple[Owner, ...] | None = None,
        also: Callable[[Write, Received], None] = lambda write, received: None,
    ) -> tuple[Received, ...]:
        about = owners

        def prepared() -> Work[tuple[Received, ...]]:
            owners = [owners_of(ticket) if about is None else about for ticket in tickets]
            owners_needed = tuple(dict.fromkeys(owner for each in owners for owner in each))
            resolution = resolve(self.platform, principal, owners_needed)
            key = resolution.keys[principal.workspace_id]
            items = [
                _Item(given=ticket, owners=its, mark=mark_of(key, _content(ticket)))
                for ticket, its in zip(tickets, owners, strict=True)
            ]
            return Work(
                resolution=resolution,
                do=partial(self._take, origin, items, also),
                keep=_stored_answer,
                read=_read,
            )

        return self.write_once(principal, prepared, idempotency)

    def _take(
        self,
        origin: From,
        items: Sequence[_Item],
        also: Callable[[Write, Received], None],
        write: Write,
    ) -> tuple[Received, ...]:
        write.register()
        tickets = write.stores.tickets
        forgotten = partial(forgotten_name, write.resolution.keys[write.entries.workspace_id])
        names = [item.given.external_id for item in items]
        erased = {name: forgotten(origin.source, name) for name in names}
        rows = tickets.known(origin.source, [*names, *erased.values()])
        done: list[Received] = []
        for item in items:
            name = item.given.external_id
            row = rows.get(name) or rows.get(erased[name])
            done.append(
                self._new(write, origin, item) if row is None else self._seen(write, item, row)
            )
        for received in done:
            also(write, received)
        write.append()
        for received in done:
            if received.outcome is Outcome.NEW:
                write.wake(Topic.TICKET, received.id, position=received.position)
        return tuple(done)

    def _new(self, write: Write, origin: From, item: _Item) -> Received:
        incoming = item.given
        if incoming.closed:
            return Received(external_id=incoming.external_id, outcome=Outcome.CLOSED)
        ticket_id = self.platform.new_id()
        received_at = min(incoming.received_at or write.now, write.now)
        meta = {
            "ticket_id": str(ticket_id),
            "priority": incoming.priority.value,
            "advisory": origin.advisory,
        }
        position = self._entry(write, "ticket.received", meta, item, received_at, origin)
        row = TicketRow(
            id=ticket_id,
            source=origin.source,
            external_id=incoming.external_id,
            status=TicketStatus.NEW,
            priority=incoming.priority,
            persona=origin.persona,
            sealed=self._sealed(write, ticket_id, item),
            mark=item.mark,
            data_subjects=write.resolution.subjects_of(item.owners),
            position=position,
            received_at=received_at,
            modified_at=incoming.modified_at,
            sla_at=incoming.sla_at,
            screening={"advisory": True} if origin.advisory else {},
        )
        write.stores.tickets.add(row)
        return Received(
            external_id=incoming.external_id, outcome=Outcome.NEW, id=ticket_id, position=position
        )

    def _seen(self, write: Write, item: _Item, row: TicketRow) -> Received:
        incoming = item.given
        same = Received(
            external_id=incoming.external_id,
            outcome=Outcome.KNOWN,
            id=row.id,
            position=row.position,
        )
        if not is_later(incoming.modified_at, row.modified_at) or not row.sealed:
            return same
        if item.mark == row.mark:
            write.stores.tickets.change(replace(row, modified_at=incoming.modified_at))
            return same
        meta = {"ticket_id": str(row.id), "priority": incoming.priority.value}
        happened_at = min(incoming.modified_at or write.now, write.now)
        position = self._entry(write, "ticket.changed", meta, item, happened_at)
        changed = replace(
            row,
            priority=incoming.priority,
            sealed=self._sealed(write, row.id, item),
            mark=item.mark,
            data_subjects=write.resolution.subjects_of(item.owners),
            position=position,
            modified_at=incoming.modified_at,
            sla_at=incoming.sla_at,
        )
        write.stores.tickets.change(changed)
        return replace(same, outcome=Outcome.CHANGED, position=position)

    def _entry(
        self,
        write: Write,
        type_: str,
        meta: Mapping[str, Any],
        item: _Item,
        occurred_at: datetime,
        origin: From | None = None,
    ) -> int:
        """Plan the entry whose body holds the raw text, whole; return its position."""
        origin_fields = {"source": origin.source, "persona": origin.persona} if origin else {}
        body = {"external_id": item.given.external_id, **origin_fields, **_content(item.given)}
        return write.entries.add(
            type_,
            meta,
            body,
            data_subjects=write.resolution.subjects_of(item.owners),
            occurred_at=occurred_at,
        )

    def _sealed(self, write: Write, ticket_id: UUID, item: _Item) -> bytes:
        subjects = write.resolution.subjects_of(item.owners)
        keys = write.resolution.keys_of(subjects)
        body = sealed_body(text_of(item.given))
        return self.platform.cipher.seal(ticket_id, write.entries.workspace_id, keys, body)


def is_later(moment: datetime | None, previous: datetime | None) -> bool:
    """Return whether a form of a ticket is later than the known one, by the source's clock.

    One without a time is never news: nobody can say that it is.
    """
    return moment is not None and (previous is None or moment > previous)


def _content(incoming: Incoming) -> dict[str, Any]:
    """Return what a ticket says: what its mark covers, and what the ledger keeps of it."""
    return {
        "title": incoming.title,
        "body": incoming.body,
        "customer": incoming.customer,
        "requester_email": incoming.requester_email,
        "priority": incoming.priority.value,
        "sla_at": format_timestamp(incoming.sla_at) if incoming.sla_at else None,
        "source_metadata": dict(incoming.source_metadata),
    }


def _stored_answer(done: tuple[Received, ...]) -> dict[str, Any]:
    items = [
        {
            "id": str(received.id) if received.id else None,
            "outcome": received.outcome.value,
            "at": received.position,
        }
        for received in done
    ]
    return {"items": items}


def _read(answer: Mapping[str, Any]) -> tuple[Received, ...]:
    return tuple(
        Received(
            external_id="",
            outcome=Outcome(item["outcome"]),
            id=UUID(item["id"]) if item["id"] else None,
            position=item["at"],
        )
        for item in answer["items"]
    )
