"""How every write goes: keys before the lock, then one transaction, done once, then the queue.

Not what a write means: the use cases plan it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cairn.writing.append import append_and_hold_back, principal_actor
from cairn.writing.entries import Entries
from cairn.writing.once import replayed_answer, save_answer
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.subjects import retried
from cairn.writing.webhook_events import announce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Committing
    from cairn.ledger.entry import Entry
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform
    from cairn.writing.subjects import Resolution

EMBED_BATCH = 100
"""Nodes that one message to the embed stage names at the most."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write under way: the transaction's stores, the keys found before it, its entries so far."""

    stores: Stores
    resolution: Resolution
    entries: Entries
    appended: list[Entry] = field(default_factory=list["Entry"])

    @property
    def now(self) -> datetime:
        """Return the moment of the write, under the lock."""
        return self.entries.now

    def register(self) -> None:
        """Plan the entries of new data subjects.

        Raises SubjectRegisteredMeanwhile when another write registered one of them first.
        """
        self.resolution.check(self.stores)
        self.entries.register(self.resolution.new)

    def append(self) -> list[Entry]:
        """Append and project what was planned."""
        entries, held = append_and_hold_back(self.stores, self.entries.planned, self.now)
        self.entries.held_back |= held
        self.appended.extend(entries)
        return entries

    def wake(self, row: OutboxRow) -> OutboxRow:
        """Keep a row whose message is sent after the commit."""
        self.stores.outbox.add(row, self.now)
        return row

    def wake_embed(self, node_ids: Iterable[UUID]) -> list[OutboxRow]:
        """Let the embed stage look at these nodes after the commit."""
        return [self.wake(row) for row in _embed_rows(self.entries, tuple(node_ids))]


def appended(stores: Stores, entries: Entries, touched: Sequence[UUID]) -> list[OutboxRow]:
    """Append planned entries outside of a request; return the rows of what waits for vectors.

    Who is to be told of them is told by a sweep.
    """
    sealed, _ = append_and_hold_back(stores, entries.planned, entries.now)
    announce(stores, sealed, entries.now, entries.new_id)
    rows = _embed_rows(entries, touched)
    for row in rows:
        stores.outbox.add(row, entries.now)
    return rows


def _embed_rows(entries: Entries, touched: Sequence[UUID]) -> list[OutboxRow]:
    return [
        OutboxRow(
            workspace_id=entries.workspace_id,
            id=entries.new_id(),
            topic=Topic.EMBED,
            position=entries.position,
            node_ids=tuple(touched[start : start + EMBED_BATCH]),
        )
        for start in range(0, len(touched), EMBED_BATCH)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Generic[ResultT]):
    """What a write is to do, with the keys it needs.

    `do` runs in the transaction and returns its result and the outbox rows it added. `keep` is the
    result as it is stored for a repeat (ids and numbers, no texts), `read` makes it a result again.
    """

    resolution: Resolution
    do: Callable[[Write], tuple[ResultT, list[OutboxRow]]]
    keep: Callable[[ResultT], Mapping[str, Any]]
    read: Callable[[Mapping[str, Any]], ResultT]


@dataclass(frozen=True, slots=True)
class Writer:
    """What a use case that writes is made of. With `commit`, writes share transactions."""

    platform: Platform
    commit: Committing[Stores] | None = field(default=None, kw_only=True)

    def write_once(
        self,
        principal: Principal,
        prepare: Callable[[], Work[ResultT]],
        idempotency: IdempotencyKey | None,
    ) -> ResultT:
        """Do the work in one transaction, or return what it gave the first time.

        `prepare` runs before the lock, as anything that is slow must; it runs again when a data
        subject it took for a new one was registered meanwhile.
        """

        def attempt() -> tuple[ResultT, list[OutboxRow]]:
            return self._write(principal, prepare(), idempotency)

        result, rows = retried(attempt)
        self.platform.dispatcher.send(rows)
        return result

    def _write(
        self,
        principal: Principal,
        work: Work[ResultT],
        idempotency: IdempotencyKey | None,
    ) -> tuple[ResultT, list[OutboxRow]]:
        once = idempotency.key if idempotency else None

        def write(stores: Stores) -> tuple[ResultT, list[OutboxRow]]:
            now = self.platform.clock()
            answer = replayed_answer(stores, idempotency, now)
            if answer is not None:
                return work.read(answer), []
            begun = self._begun(principal, stores, work.resolution, now)
            result, rows = work.do(begun)
            rows = [*rows, *announce(stores, begun.appended, now, self.platform.new_id)]
            if idempotency:
                save_answer(stores, idempotency, work.keep(result), now)
            return result, rows

        if self.commit is not None:
            return self.commit(principal, write, once=once)
        with self.platform.transactions.writing(principal, once=once) as stores:
            return write(stores)

    def _begun(
        self, principal: Principal, stores: Stores, resolution: Resolution, now: datetime
    ) -> Write:
        def seal(entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
            keys = resolution.keys_of(subjects)
            return self.platform.cipher.seal(entry_id, principal.workspace_id, keys, body)

        entries = Entries(
            workspace_id=principal.workspace_id,
            actor=principal_actor(principal),
            now=now,
            next_position=stores.ledger.head().position + 1,
            new_id=self.platform.new_id,
            seal=seal,
        )
        return Write(stores=stores, resolution=resolution, entries=entries)
