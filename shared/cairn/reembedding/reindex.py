"""Queue every node of a workspace for its vector of the present model, when it has none.

That is so after the model changed. The vectors themselves are the embed stage's work, and which
single nodes a search finds without one is `retrieval`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.accounts.keys import record
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.writing.append import principal_actor
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.writer import EMBED_BATCH

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.embedding.port import EmbeddingModel
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

PAGE = 1_000
"""Nodes looked at in one transaction: some ten milliseconds, in which nobody else may write."""

REQUEST_NODES = 5_000
"""Nodes queued by one call, 50 messages; a page begun before is finished."""

REQUEST_SECONDS = 8.0
"""After so long a call stops too, so that it ends within any gateway's time."""

BEGINNING = UUID(int=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class GapPage:
    """Some nodes in the order of their ids: how many lack a vector, and which do not wait for one.

    `last` is the last id looked at, None when there was none left. `stale` are those whose words
    would be others if they were written now.
    """

    last: UUID | None
    missing: int
    unqueued: tuple[UUID, ...]
    stale: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GapCount:
    """How many nodes lack a vector, and how many of these are queued for it."""

    missing: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """What a call did: nodes without a vector of `model` among those looked at, and newly queued.

    When there is `more`, the next call goes on `after` that node.
    """

    model: str
    missing: int
    queued: int
    more: bool
    after: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingVectors:
    """How many nodes have no vector of the present model, and how many of them wait for it."""

    model: str
    missing: int
    waiting: int


def any_model(model: EmbeddingModel) -> None:
    """Refuse no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountMissingVectors:
    """Counts over the whole workspace, whatever scopes the admin's key has: numbers, no nodes.

    `check` raises when the database does not know the model.
    """

    platform: Platform
    model: EmbeddingModel
    check: Callable[[EmbeddingModel], None] = any_model

    def __call__(self, principal: Principal, /) -> MissingVectors:
        """Return the counts; Denied unless the principal is an admin."""
        principal.require(Role.ADMIN)
        self.check(self.model)
        with self.platform.transactions.reading(system_principal(principal.workspace_id)) as stores:
            count = stores.vector_gaps.count(self.model.id)
        return MissingVectors(model=self.model.name, missing=count.missing, waiting=count.waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindex:
    """Queues (ids only) what lacks a vector and does not wait for one, a bounded part a call.

    Any number of calls at once queue a node once: rows are written while the ledger's head is held,
    over what waits then. Pages on which nothing is to be queued hold nothing. `check` raises when
    the database does not know the model.
    """

    platform: Platform
    model: EmbeddingModel
    check: Callable[[EmbeddingModel], None] = any_model

    def __call__(self, principal: Principal, *, after: UUID | None = None) -> Reindexed:
        """Go on after a node, or begin; Denied unless the principal is an admin.

        Raises Unavailable when the database or the ledger's head cannot be had. What earlier pages
        queued stands, and a repeated call does not queue it again.
        """
        principal.require(Role.ADMIN)
        self.check(self.model)
        worker = system_principal(principal.workspace_id)
        self._note(principal)
        until = self.platform.stopwatch() + REQUEST_SECONDS
        missing = queued = 0
        last, more = after or BEGINNING, True
        while more and queued < REQUEST_NODES and self.platform.stopwatch() < until:
            page, rows = self._page(worker, last)
            missing += page.missing
            queued += sum(len(row.node_ids) for row in rows)
            last, more = page.last or last, page.last is not None
        return Reindexed(
            model=self.model.name,
            missing=missing,
            queued=queued,
            more=more,
            after=last if more else None,
        )

    def _note(self, principal: Principal) -> None:
        with self.platform.transactions.writing(system_principal(principal.workspace_id)) as stores:
            record(
                stores,
                workspace_id=principal.workspace_id,
                type_="reindex.requested",
                meta={"model": self.model.name},
                actor=principal_actor(principal),
                now=self.platform.clock(),
                new_id=self.platform.new_id,
            )

    def _page(self, worker: Principal, after: UUID) -> tuple[GapPage, list[OutboxRow]]:
        with self.platform.transactions.reading(worker) as stores:
            page = stores.vector_gaps.page(self.model.id, after=after, limit=PAGE)
        if not page.unqueued and not page.stale:
            return page, []
        with self.platform.transactions.writing(worker) as stores:
            page = stores.vector_gaps.page(self.model.id, after=after, limit=PAGE)
            stores.vector_gaps.index_words(page.stale)
            rows = self._rows(worker.workspace_id, page, stores.ledger.head().position)
            now = self.platform.clock()
            for row in rows:
                stores.outbox.add(row, now)
        self.platform.dispatcher.send(rows)
        return page, rows

    def _rows(self, workspace_id: UUID, page: GapPage, position: int) -> list[OutboxRow]:
        return [
            OutboxRow(
                workspace_id=workspace_id,
                id=self.platform.new_id(),
                topic=Topic.EMBED,
                position=position,
                node_ids=page.unqueued[start : start + EMBED_BATCH],
            )
            for start in range(0, len(page.unqueued), EMBED_BATCH)
        ]
