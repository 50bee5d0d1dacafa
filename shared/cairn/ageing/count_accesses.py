"""Turn searches into accesses: what was returned was used, and says so in the ledger.

Runs hourly. Searches of the past, replays and explanations never get here: they do not count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.ageing.rules import ageing_entry
from cairn.kernel.access.system import system_principal
from cairn.writing.append import SYSTEM, append_and_project
from cairn.writing.entries import Planned, plan_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.kernel.transaction import Transactions

SEARCHES_AN_ENTRY = 500
"""So that an entry's clear header stays small: at most 500 x 100 ids, mostly far fewer."""

NODES_AN_ENTRY = 500
"""Archived nodes that one entry restores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UncountedSearch:
    """A search whose results have not been counted."""

    id: UUID
    started_at: datetime
    returned: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAccesses:
    """Appends `memory.accessed`: node ids and how often each was returned.

    What was archived and is used again is active again, by `node.restored`, a document whole.

    Reading, appending and marking are one transaction that holds the ledger's head, so a job that
    is killed, or that runs twice at once, counts nothing twice and loses nothing.
    """

    workspaces: Callable[[], Sequence[UUID]]
    transactions: Transactions[Stores]
    clock: Clock
    stopwatch: Stopwatch
    new_id: IdSource

    def __call__(self, *, seconds: float) -> dict[str, int]:
        """Return how many searches and nodes were counted; what `seconds` do not reach waits."""
        until = self.stopwatch() + seconds
        searches = nodes = 0
        for workspace_id in self.workspaces():
            while self.stopwatch() < until:
                counted, touched = self._count(workspace_id)
                searches, nodes = searches + counted, nodes + touched
                if counted < SEARCHES_AN_ENTRY:
                    break
        return {"searches": searches, "nodes": nodes}

    def _count(self, workspace_id: UUID) -> tuple[int, int]:
        principal = system_principal(workspace_id)
        with self.transactions.reading(principal) as stores:
            if not stores.accesses.uncounted(1):
                return 0, 0
        with self.transactions.writing(principal) as stores:
            searches = stores.accesses.uncounted(SEARCHES_AN_ENTRY)
            counts = Counter(node for search in searches for node in search.returned)
            if not searches:
                return 0, 0
            position = stores.ledger.head().position
            if counts:
                planned = self._entry(
                    workspace_id, counts, max(item.started_at for item in searches)
                )
                [entry] = append_and_project(stores, [planned], self.clock())
                position = entry.position
                self._restore(stores, workspace_id, counts)
            stores.accesses.counted([item.id for item in searches], position)
        return len(searches), len(counts)

    def _restore(self, stores: Stores, workspace_id: UUID, counts: Counter[UUID]) -> None:
        now = self.clock()
        archived = stores.accesses.archived(sorted(counts))
        for start in range(0, len(archived), NODES_AN_ENTRY):
            nodes = archived[start : start + NODES_AN_ENTRY]
            entry = ageing_entry(self.new_id(), workspace_id, "node.restored", "used", nodes, now)
            append_and_project(stores, [entry], now)

    def _entry(self, workspace_id: UUID, counts: Counter[UUID], at: datetime) -> Planned:
        meta: dict[str, JsonValue] = {
            "counts": {str(node): count for node, count in sorted(counts.items())}
        }
        entry = plan_entry(
            id=self.new_id(),
            workspace_id=workspace_id,
            type="memory.accessed",
            actor=SYSTEM,
            occurred_at=at,
            meta=meta,
        )
        return entry
