"""Answers given a while ago, for the same question by the same principal. In process, bounded.

An answer holds as long as nothing that can be found has changed: no entry that makes rows of nodes
or edges was appended since. Tickets, settings and counted accesses are no such entries.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from cairn.recall.searches.recorder import digest_of
from cairn.writing.projectors import WITH_TEXTS, WITHOUT_TEXTS

if TYPE_CHECKING:
    from collections.abc import Hashable
    from uuid import UUID

    from cairn.kernel.clock import Stopwatch
    from cairn.recall.query import Search
    from cairn.recall.records import SearchRun
    from cairn.recall.results import RecallResult

SEARCHABLE = frozenset({*WITH_TEXTS, *WITHOUT_TEXTS, "subscription.changed"} - {"memory.accessed"})
"""Types of the entries after which a search may find something else."""

LIFETIME_S = 600.0
MOST_ANSWERS = 256
MOST_WORKSPACES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedAnswer:
    """An answer, what was recorded of it, and until when it may be given (stopwatch seconds)."""

    result: RecallResult
    run: SearchRun
    until: float


class ResultCache:
    """Keeps at most `size` answers for ten minutes; safe between threads."""

    def __init__(self, stopwatch: Stopwatch, *, size: int = MOST_ANSWERS) -> None:
        self._stopwatch = stopwatch
        self._size = size
        self._answers: OrderedDict[Hashable, CachedAnswer] = OrderedDict()
        self._heads: OrderedDict[UUID, int] = OrderedDict()
        self._lock = Lock()

    def find(self, search: Search) -> CachedAnswer | None:
        """Return the answer to this very question, if it is young enough.

        Whoever gives it again checks that nothing to be found changed after its `head_position`.
        """
        with self._lock:
            cached = self._answers.get(_key(search))
            return cached if cached and self._stopwatch() < cached.until else None

    def keep(self, search: Search, result: RecallResult, run: SearchRun) -> None:
        """Keep an answer; the oldest goes when there are too many."""
        until = self._stopwatch() + LIFETIME_S
        with self._lock:
            _put(self._answers, _key(search), CachedAnswer(result=result, run=run, until=until))
            while len(self._answers) > self._size:
                self._answers.popitem(last=False)

    def last_head(self, workspace_id: UUID) -> int | None:
        """Return the ledger's end as this process saw it last."""
        with self._lock:
            return self._heads.get(workspace_id)

    def saw(self, workspace_id: UUID, head: int | None) -> None:
        """Remember the ledger's end.

        An answer is kept only when nothing to be found changed between the end seen before its legs
        ran and the end seen when its nodes were read.
        """
        if head is None:
            return
        with self._lock:
            _put(self._heads, workspace_id, head)
            while len(self._heads) > MOST_WORKSPACES:
                self._heads.popitem(last=False)


def _put(
    entries: OrderedDict[Hashable, CachedAnswer] | OrderedDict[UUID, int], key: Any, value: Any
) -> None:
    entries[key] = value
    entries.move_to_end(key)


def _key(search: Search) -> Hashable:
    """Return what must be the same: who asks, what, and how the workspace answers."""
    who = search.principal
    return (
        who.workspace_id,
        who.principal_id,
        tuple(sorted(who.allowed_scopes)),
        who.agent_slug,
        who.role,
        digest_of(search.request, who.workspace_id),
        repr(search.workspace),
        search.recipe.name,
    )
