"""Let the search index follow the database: the ports, and the update after a write.

Not the search itself, nor drift and rebuilding (`lifecycle`). Nothing is queued: whatever changed
past the position an index has reached is what it lacks, so an update that fails is made up for by
the next one. At least once, in any order: a document's version is its node's ledger position.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol
from uuid import UUID

from cairn.graph.node import State
from cairn.kernel.errors import CairnError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from cairn.kernel.clock import Clock, Stopwatch

BATCH = 500
CATCH_UP_LIMIT = 2_000
"""Nodes one update after a write indexes at most; what is left is the next one's."""

REST_SECONDS = 15.0
"""How long writers leave an index alone that failed."""

LAST_ID = UUID(int=2**128 - 1)
FINDABLE = frozenset({State.ACTIVE, State.PROVISIONAL, State.SUPERSEDED, State.ARCHIVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexDocument:
    """A node as an index holds it. `own` and `context` are indexed and never stored.

    `position` is the ledger position the node changed last; `described` says that an entity has a
    compiled truth. Nodes in other than a findable state are taken out of the index.
    """

    workspace_id: UUID
    node_id: UUID
    position: int
    label: str
    kind: str | None
    scope: str
    agents: Sequence[str] | None
    client_id: str
    state: str
    occurred_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    described: bool
    own: str
    context: str
    extra_labels: Sequence[str] = ()

    @property
    def findable(self) -> bool:
        """Whether it belongs into the index at all."""
        return self.state in FINDABLE


class Bucket(NamedTuple):
    """The nodes whose ids end alike: how many, and the sum of their marks."""

    nodes: int
    marks: int


class LiveIndex(NamedTuple):
    """The index searches use; `current` says that this version of the code can use it."""

    name: str
    current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncResult:
    """What became of documents. `newer` ones had been there already; `refused` say why not."""

    indexed: int = 0
    removed: int = 0
    newer: int = 0
    refused: Mapping[UUID, str] = field(default_factory=dict[UUID, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How far an index has followed a workspace, and how its last update went."""

    position: int = 0
    refused: int = 0
    indexed_at: datetime | None = None
    failed_at: datetime | None = None
    failure: str | None = None


class SearchIndex(Protocol):
    """The indexes outside the database. Every method raises Unavailable when it cannot."""

    def live(self) -> LiveIndex | None:
        """Return the index searches use, None when there is none. Unavailable when unclear."""
        ...

    def building(self) -> str | None:
        """Return the index of the current mapping that was begun and is not live yet."""
        ...

    def create(self) -> str:
        """Make an empty index of the current mapping, not live, and return its name."""
        ...

    def go_live(self, name: str) -> Sequence[str]:
        """Let searches use `name` from one moment to the next; drop the others, return them."""
        ...

    def write(self, name: str, documents: Sequence[IndexDocument]) -> SyncResult:
        """Put findable documents in and take the others out, unless newer ones are there.

        Raises Unavailable when a document could be written later; what the index will never take
        is in the answer.
        """
        ...

    def remove(self, name: str, workspace_id: UUID, positions: Mapping[UUID, int]) -> int:
        """Take documents out that no node stands behind, unless they changed; return how many."""
        ...

    def refresh(self, name: str) -> None:
        """Let everything written so far be found."""
        ...

    def buckets(self, name: str, workspace_id: UUID) -> Mapping[str, Bucket]:
        """Return the workspace's documents by the last two digits of their ids."""
        ...

    def positions(self, name: str, workspace_id: UUID, bucket: str) -> Mapping[UUID, int]:
        """Return the documents of one bucket and their positions."""
        ...


class IndexSource(Protocol):
    """What an index should hold, from the database; every method is one short transaction."""

    def state(self, workspace_id: UUID, name: str) -> IndexState:
        """Return how far the index `name` has followed the workspace."""
        ...

    def changed(
        self, workspace_id: UUID, after: tuple[int, UUID], limit: int
    ) -> Sequence[IndexDocument]:
        """Return up to `limit` nodes changed after (position, id), in that order, gone ones too."""
        ...

    def documents(self, workspace_id: UUID, node_ids: Collection[UUID]) -> Sequence[IndexDocument]:
        """Return these nodes as they are now."""
        ...

    def advance(
        self, workspace_id: UUID, name: str, position: int, *, refused: int, now: datetime
    ) -> None:
        """Keep that everything up to `position` is in the index `name`; never goes back."""
        ...

    def fail(self, workspace_id: UUID, name: str, failure: str, now: datetime) -> None:
        """Keep why an update failed."""
        ...

    def pending(self, workspace_id: UUID, position: int) -> int:
        """Return how many nodes changed after `position`."""
        ...

    def rewind(self, workspace_id: UUID, name: str) -> None:
        """Let the index `name` follow the workspace from its beginning again."""
        ...

    def forget_others(self, workspace_id: UUID, name: str) -> None:
        """Drop what is known of all indexes but `name`."""
        ...

    def buckets(self, workspace_id: UUID) -> Mapping[str, Bucket]:
        """Return what the index should hold by the last two digits of the ids."""
        ...

    def positions(self, workspace_id: UUID, bucket: str) -> Mapping[UUID, int]:
        """Return the nodes of one bucket that the index should hold, and their positions."""
        ...


@dataclass(kw_only=True)
class FollowDatabase:
    """Brings an index up to what the database holds. One a process; threads may share it."""

    source: IndexSource
    index: SearchIndex
    clock: Clock
    stopwatch: Stopwatch
    report: Callable[[str, dict[str, object]], None]
    _rest_until: float = field(default=0.0, init=False)

    def after_write(self, workspace_id: UUID) -> None:
        """Index what changed in the workspace. Never raises: what failed is the next update's.

        An index that failed is left alone for a while, so that it cannot hold up every write.
        """
        if self.stopwatch() < self._rest_until:
            return
        try:
            self.catch_up(workspace_id, self.live(), limit=CATCH_UP_LIMIT)
        except CairnError as error:
            self._rest_until = self.stopwatch() + REST_SECONDS
            self.report("search_index.behind", {"reason": error.reason})

    def live(self) -> str:
        """Return the index to write to, made when there is none.

        Raises Unavailable `stale-mapping` when the live one is of another version of the mapping.
        """
        live = self.index.live()
        if live is None:
            name = self.index.create()
            self.index.go_live(name)
            return name
        if not live.current:
            raise Unavailable("The search index has another mapping.", reason="stale-mapping")
        return live.name

    def catch_up(self, workspace_id: UUID, name: str, *, limit: int | None = None) -> int:
        """Index what changed past the index's position and return how many nodes that were.

        About `limit` nodes, all without; never half of one position's. Raises Unavailable when the
        index or the database does not answer; what was reached stays reached, and why it ended is
        kept.
        """
        begun = reached = self.source.state(workspace_id, name).position
        after, done = (begun, LAST_ID), 0
        while limit is None or done < limit or reached == begun:
            documents = self.source.changed(workspace_id, after, BATCH)
            refused = self._write(workspace_id, name, documents) if documents else 0
            if documents:
                after, done = (documents[-1].position, documents[-1].node_id), done + len(documents)
            last = len(documents) < BATCH
            reached = after[0] if last else after[0] - 1  # else its position may have more nodes
            if done:
                self.source.advance(workspace_id, name, reached, refused=refused, now=self.clock())
            if last:
                break
        return done

    def _write(self, workspace_id: UUID, name: str, documents: Sequence[IndexDocument]) -> int:
        """Write documents and return how many the index will never take; each is reported."""
        try:
            written = self.index.write(name, documents)
        except Unavailable as error:
            self.source.fail(workspace_id, name, error.reason, self.clock())
            raise
        for node_id, reason in written.refused.items():
            self.report("search_index.refused", {"node_id": str(node_id), "reason": reason})
        return len(written.refused)


def bucket_of(node_id: UUID) -> str:
    """Return the bucket of a node: the last two digits of its id."""
    return str(node_id)[-2:]


def mark_of(node_id: UUID, position: int) -> int:
    """Return a number below 2**30 that stands for this node at this position.

    Sums of a million of them are exact in a double, which is what an index adds them up in.
    """
    text = f"{node_id}:{position}".encode()
    return int(hashlib.md5(text, usedforsecurity=False).hexdigest()[:8], 16) & (2**30 - 1)


class EmbedStage(Protocol):
    """What the embed function runs: `enrichment.enrich.Enrich`, or that and the index."""

    def rows(self, workspace_id: UUID, outbox_ids: Collection[UUID]) -> int:
        """Work off outbox rows and return how many nodes got vectors."""
        ...

    def batch(self, workspace_id: UUID, ingestion_id: UUID, batch: int) -> int:
        """Work off one batch of an ingestion."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichAndIndex:
    """The embed stage with a search index: after each transaction the index is brought up to it.

    Also when enriching failed: what was written is found by its words before it has vectors.
    """

    enrich: EmbedStage
    follow: FollowDatabase

    def rows(self, workspace_id: UUID, outbox_ids: Collection[UUID]) -> int:
        """As `Enrich.rows`, then index."""
        try:
            return self.enrich.rows(workspace_id, outbox_ids)
        finally:
            self.follow.after_write(workspace_id)

    def batch(self, workspace_id: UUID, ingestion_id: UUID, batch: int) -> int:
        """As `Enrich.batch`, then index."""
        try:
            return self.enrich.batch(workspace_id, ingestion_id, batch)
        finally:
            self.follow.after_write(workspace_id)
