"""How every write goes: keys before the lock, then one transaction, done once, then the queue.

Not what a write means: the use cases plan it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cairn.writing.append import append, principal_actor
from cairn.writing.entries import Entries
from cairn.writing.once import replayed_answer, save_answer
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.subjects import Resolution, retried

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Committing
    from cairn.ledger.entry import Actor, Entry
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform

EMBED_BATCH = 100
"""Nodes that one message to the embed stage names at the most."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A write under way: the transaction's stores, the keys found before it, its entries so far.

    `data_subjects` are whom its entries are about, unless they say so; `rows` name what is to be
    sent once it is committed.
    """

    stores: Stores
    resolution: Resolution
    entries: Entries
    data_subjects: tuple[UUID, ...] = ()
    rows: list[OutboxRow] = field(default_factory=list["OutboxRow"])

    @classmethod
    def begin(
        cls,
        platform: Platform,
        stores: Stores,
        resolution: Resolution,
        actor: Actor,
        data_subjects: tuple[UUID, ...] = (),
    ) -> Write:
        """Return a write in an open transaction that holds the ledger's head."""

        def seal(entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
            keys = resolution.keys_of(subjects)
            return platform.cipher.seal(entry_id, resolution.workspace_id, keys, body)

        entries = Entries(
            workspace_id=resolution.workspace_id,
            actor=actor,
            now=platform.clock(),
            next_position=stores.ledger.head().position + 1,
            new_id=platform.new_id,
            seal=seal,
        )
        return cls(
            stores=stores, resolution=resolution, entries=entries, data_subjects=data_subjects
        )

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

    def note(
        self, type_: str, meta: Mapping[str, Any], body: Mapping[str, Any] | None = None
    ) -> int:
        """Plan an entry about the write's data subjects, now; return the position it will get."""
        return self.entries.add(
            type_, meta, body, data_subjects=self.data_subjects, occurred_at=self.now
        )

    def append(self) -> list[Entry]:
        """Append, project and announce what was planned since the last time."""
        done = append(self.stores, self.entries.taken(), self.now, self.entries.new_id)
        self.entries.held_back |= done.held_back
        self.entries.holds += done.holds
        self.rows.extend(done.rows)
        return done.entries

    def wake(
        self,
        topic: str,
        reference: UUID | None = None,
        *,
        id: UUID | None = None,
        position: int | None = None,
        node_ids: tuple[UUID, ...] = (),
        batch: int | None = None,
    ) -> None:
        """Keep a row whose message is sent after the commit."""
        row = OutboxRow(
            workspace_id=self.entries.workspace_id,
            id=id or self.entries.new_id(),
            topic=topic,
            position=self.entries.position if position is None else position,
            node_ids=node_ids,
            reference=reference,
            batch=batch,
        )
        self.stores.outbox.add(row, self.now)
        self.rows.append(row)

    def tell_channels(self, about: UUID) -> None:
        """Let messaging channels be told after the commit, where there are any."""
        if self.stores.messaging.any():
            self.wake(Topic.CHANNEL, about)

    def wake_embed(self, node_ids: Iterable[UUID]) -> None:
        """Let the embed stage look at these nodes after the commit."""
        touched = tuple(node_ids)
        for start in range(0, len(touched), EMBED_BATCH):
            self.wake(Topic.EMBED, node_ids=touched[start : start + EMBED_BATCH])


@contextmanager
def open_write(
    platform: Platform,
    principal: Principal,
    *,
    actor: Actor | None = None,
    keys: Mapping[UUID, bytes] | None = None,
    data_subjects: tuple[UUID, ...] = (),
    once: str | None = None,
) -> Generator[Write]:
    """Open a write by `actor` (the principal) whose bodies are sealed under `keys`.

    Whatever is planned is appended, and what it woke is sent when it is committed.
    """
    resolution = Resolution(workspace_id=principal.workspace_id, ids={}, new=(), keys=keys or {})
    actor = actor or principal_actor(principal)
    with platform.transactions.writing(principal, once=once) as stores:
        write = Write.begin(platform, stores, resolution, actor, data_subjects)
        yield write
        write.append()
    platform.dispatcher.send(write.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work(Generic[ResultT]):
    """What a write is to do, with the keys it needs.

    `do` runs in the transaction and returns its result. `keep` is the result as it is stored for a
    repeat (ids and numbers, no texts), `read` makes it a result again.
    """

    resolution: Resolution
    do: Callable[[Write], ResultT]
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
            begun = Write.begin(self.platform, stores, work.resolution, principal_actor(principal))
            result = work.do(begun)
            begun.append()
            if idempotency:
                save_answer(stores, idempotency, work.keep(result), now)
            return result, begun.rows

        if self.commit is not None:
            return self.commit(principal, write, once=once)
        with self.platform.transactions.writing(principal, once=once) as stores:
            return write(stores)
