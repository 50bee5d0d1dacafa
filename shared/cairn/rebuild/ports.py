"""What replaying a ledger needs of the stores. Records and contracts; no steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.enrichment.ports import NewEmbedding
    from cairn.kernel.access import Principal
    from cairn.ledger.entry import Entry, Head
    from cairn.recall.subscriptions import SubscriptionView
    from cairn.workspace.change import SettingsStore
    from cairn.writing.ports import NodeStore, OutboxRow, SubjectStore


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSum:
    """The content of one projection: how many rows, and a checksum (32 hex characters)."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a replay is. `version` is of the code that began it, `since` the head it saw then.

    `head` is the entry reached, as the end of the chain so far.
    """

    version: str
    since: int
    head: Head
    entries: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What putting the replayed rows in place changed: rows removed and added, by table."""

    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    added: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def rows(self) -> int:
        """Return how many rows that is."""
        return sum(self.removed.values()) + sum(self.added.values())


class ReplayLedger(Protocol):
    """The chain as replaying reads it."""

    def head(self) -> Head:
        """Return where the chain ends."""
        ...

    def page(self, *, after: int, limit: int, type_: str | None = None) -> list[Entry]:
        """Return up to `limit` entries above position `after`."""
        ...

    def append(self, entries: Sequence[Entry]) -> None:
        """Append entries sealed onto `head()`, in their order, and move the head."""
        ...


class SubscriptionRows(Protocol):
    """What agents subscribe to."""

    def put(self, subscription: SubscriptionView) -> None:
        """Keep an agent's keywords; an older change does nothing."""
        ...


class Bindings(Protocol):
    """Which conversation a public key sees."""

    def bind(self, key_id: UUID, conversation_id: UUID, position: int) -> None:
        """Bind a key, for good."""
        ...


class CachedVectors(Protocol):
    """The cache, and the replayed vectors."""

    def cached(self, hashes: Collection[bytes], model_id: int) -> Mapping[bytes, Vectors]:
        """Return the cached vectors by SHA-256 of their text."""
        ...

    def store(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> None:
        """Replace the nodes' vectors, unless newer ones are stored."""
        ...


class Replica(Protocol):
    """The second set of one workspace's projections, and how far it is."""

    def progress(self) -> Progress | None:
        """Return how far it is, held until the transaction ends; None when none was begun."""
        ...

    def begin(self, progress: Progress) -> None:
        """Begin from nothing; a replay another process has just begun stays."""
        ...

    def advance(self, head: Head, *, entries: int, unreadable: int) -> None:
        """Keep that all up to `head` is replayed: so many more entries."""
        ...

    def keyless(self, subject_ids: Collection[UUID]) -> None:
        """Keep whose keys entries could not be read without."""
        ...

    def unforgotten(self) -> Sequence[UUID]:
        """Return those of them whom no entry and no tombstone says to be forgotten."""
        ...

    def discard(self) -> None:
        """Forget it, rows and all."""
        ...

    def texts(self, node_ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return nodes' texts as they are at this point of the replay."""
        ...

    def streaming(self) -> AbstractContextManager[object]:
        """Let statements that return nothing be sent while earlier ones are still being done.

        Their errors come at the latest when the block is left.
        """
        ...

    def lack(self, node_ids: Collection[UUID]) -> None:
        """Keep which nodes' vectors the cache cannot make."""
        ...

    def supplied(self, node_ids: Collection[UUID]) -> None:
        """Keep that it could after all, by a later entry."""
        ...

    def lacking(self) -> Sequence[UUID]:
        """Return those of them that are to be found by vector, by id."""
        ...

    def checksums(self) -> Mapping[str, TableSum]:
        """Return the content of each replayed projection, by table."""
        ...

    def live_checksums(self) -> Mapping[str, TableSum]:
        """Return the content of each projection in use, by table."""
        ...

    def put_in_place(self) -> Replaced:
        """Make the projections in use equal to the replayed ones; only rows that differ change."""
        ...


class Outbox(Protocol):
    """Work for the embed stage."""

    def add(self, row: OutboxRow, now: datetime) -> None:
        """Add a row that is about to be sent."""
        ...


class ReplayStores(Protocol):
    """What replaying needs of a transaction; projections are the replayed ones."""

    @property
    def ledger(self) -> ReplayLedger: ...
    @property
    def nodes(self) -> NodeStore: ...
    @property
    def subjects(self) -> SubjectStore: ...
    @property
    def subscriptions(self) -> SubscriptionRows: ...
    @property
    def conversations(self) -> Bindings: ...
    @property
    def settings(self) -> SettingsStore: ...
    @property
    def embeddings(self) -> CachedVectors: ...
    @property
    def replica(self) -> Replica: ...


class FinishStores(ReplayStores, Protocol):
    """What ending a rebuild needs beside that."""

    @property
    def outbox(self) -> Outbox: ...


class Replays(Protocol):
    """Opens the transactions of a rebuild. Leaving the block commits; an exception rolls back."""

    def replaying(self, principal: Principal) -> AbstractContextManager[ReplayStores]:
        """Open one that fills the replica; writers of the workspace do not wait for it."""
        ...

    def comparing(self, principal: Principal) -> AbstractContextManager[FinishStores]:
        """Open one that sees one moment of the database; writers do not wait for it."""
        ...

    def finishing(self, principal: Principal) -> AbstractContextManager[FinishStores]:
        """Open one that holds the workspace's ledger head; writers wait, readers do not.

        Raises Unavailable (`ledger-busy`) when the head cannot be had in time.
        """
        ...


def as_json(sums: Mapping[str, TableSum]) -> dict[str, Any]:
    """Return checksums as people and machines are told them."""
    return {name: {"rows": one.rows, "checksum": one.checksum} for name, one in sums.items()}
