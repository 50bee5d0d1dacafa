"""Turn searches into accesses: what was returned was used, and says so in the ledger.

Runs hourly. Searches of the past, replays and explanations never get here: they do not count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.ageing.rules import ageing_meta
from cairn.kernel.access.system import system_principal
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.writing.platform import Platform

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

    platform: Platform
    workspaces: Callable[[], Sequence[UUID]]

    def __call__(self, *, seconds: float) -> dict[str, int]:
        """Return how many searches and nodes were counted; what `seconds` do not reach waits."""
        until = self.platform.stopwatch() + seconds
        searches = nodes = 0
        for workspace_id in self.workspaces():
            while self.platform.stopwatch() < until:
                counted, touched = self._count(workspace_id)
                searches, nodes = searches + counted, nodes + touched
                if counted < SEARCHES_AN_ENTRY:
                    break
        return {"searches": searches, "nodes": nodes}

    def _count(self, workspace_id: UUID) -> tuple[int, int]:
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            if not stores.accesses.uncounted(1):
                return 0, 0
        with open_write(self.platform, principal) as write:
            accesses = write.stores.accesses
            searches = accesses.uncounted(SEARCHES_AN_ENTRY)
            counts = Counter(node for search in searches for node in search.returned)
            if not searches:
                return 0, 0
            position = write.entries.position
            if counts:
                position = write.entries.add(
                    "memory.accessed",
                    {"counts": {str(node): count for node, count in sorted(counts.items())}},
                    None,
                    data_subjects=(),
                    occurred_at=max(item.started_at for item in searches),
                )
                write.append()
                _restore(write, accesses.archived(sorted(counts)))
            accesses.counted([item.id for item in searches], position)
        return len(searches), len(counts)


def _restore(write: Write, archived: Sequence[UUID]) -> None:
    for start in range(0, len(archived), NODES_AN_ENTRY):
        nodes = archived[start : start + NODES_AN_ENTRY]
        write.note("node.restored", ageing_meta("used", nodes))
