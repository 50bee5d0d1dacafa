"""Keyword search in an index outside the database, and the database in its stead. No driver here.

An index may be stale, wrong or hostile: what it names is only shown once the database has let it
through, and when it does not answer well in time the database answers instead.
"""

from __future__ import annotations

from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from concurrent.futures import Executor
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.recall.ports import KeywordLeg
    from cairn.recall.records import Candidate, Filters

SPARE = 1.2
"""How many more than wanted are asked of the index: some may have to stay unsaid."""

REST_SECONDS = 5.0
"""How long an index that failed is not asked; the first search after that tries it again."""

SHARE = 0.5
"""The part of the leg's time the index may take; the rest is the database's."""


class NotedCandidates(list["Candidate"]):
    """Candidates with a remark on how they were found, which a search shows in `meta.degraded`."""

    def __init__(self, candidates: Iterable[Candidate], note: str) -> None:
        super().__init__(candidates)
        self.note = note


class IndexCandidates(tuple["Candidate", ...]):
    """Candidates of an index, with its scores: they are no share of the question's words."""

    __slots__ = ()


class IndexAnswer(NamedTuple):
    """What an index found, best first, and the name of the index that answered."""

    index_name: str
    candidates: Sequence[Candidate]


class KeywordIndex(Protocol):
    """An index of nodes by their words, outside the database."""

    def find(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> IndexAnswer:
        """Return up to `limit` nodes with any of the terms, under the filters and guards it knows.

        Raises Unavailable with the reason when it cannot, or not completely, or not in time.
        """
        ...


Guard: TypeAlias = "Callable[[Principal, Collection[UUID], Filters, str, int], frozenset[UUID]]"
"""Returns which ids of an index (its name) the principal may find under these filters now.

Within a number of milliseconds. Raises Unavailable when the index is too far behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedKeywordLeg:
    """Implements `ports.KeywordLeg` with an index; nothing passes that the guard does not name."""

    index: KeywordIndex
    guard: Guard
    stopwatch: Stopwatch

    def search(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return what the index finds and the database admits, in the index's order."""
        if not terms:
            return ()
        start = self.stopwatch()
        name, candidates = self.index.find(
            principal, terms, filters, limit=int(limit * SPARE), timeout_ms=timeout_ms
        )
        left = timeout_ms - int((self.stopwatch() - start) * 1000)
        if left <= 0:
            raise Unavailable("The index took all the time.", reason="timed-out")
        ids = {item.node_id for item in candidates}
        admitted = self.guard(principal, ids, filters, name, left)
        return IndexCandidates([item for item in candidates if item.node_id in admitted][:limit])


@dataclass(kw_only=True)
class FallbackKeywordLeg:
    """Implements `ports.KeywordLeg`: `primary` within its share of the time, else `secondary`.

    The primary runs in `pool`, so that one that hangs costs its share and no more. After a failure
    it rests; one search at a time then finds out whether it is well again. The past (`as_of`) and
    what is asked of memories' metadata are always the secondary's: an index knows neither.
    """

    primary: KeywordLeg
    secondary: KeywordLeg
    pool: Executor
    stopwatch: Stopwatch
    names: tuple[str, str] = ("opensearch", "postgresql")
    _rest_until: float = field(default=0.0, init=False)
    _reason: str = field(default="", init=False)

    def search(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return the primary's candidates, else the secondary's with a note that says why."""
        if filters.as_of_position is not None or filters.of_memories or not terms:
            return self.secondary.search(
                principal, terms, filters, limit=limit, timeout_ms=timeout_ms
            )
        start = self.stopwatch()
        try:
            return self._ask_primary(
                principal, terms, filters, limit=limit, timeout_ms=int(timeout_ms * SHARE)
            )
        except Unavailable as error:
            left = max(1, timeout_ms - int((self.stopwatch() - start) * 1000))
            candidates = self.secondary.search(
                principal, terms, filters, limit=limit, timeout_ms=left
            )
            first, second = self.names
            return NotedCandidates(candidates, f"{first} {error.reason}, answered by {second}")

    def _ask_primary(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Ask the primary unless it rests; Unavailable with the reason when there is no answer."""
        if self.stopwatch() < self._rest_until:
            raise Unavailable("The index rests after a failure.", reason=self._reason)
        trial = bool(self._reason)
        if trial:  # the others go on without it until this one knows
            self._rest_until = self.stopwatch() + REST_SECONDS
        future = self.pool.submit(
            self.primary.search, principal, terms, filters, limit=limit, timeout_ms=timeout_ms
        )
        try:
            candidates = future.result(timeout=timeout_ms / 1000)
        except TooLate as error:
            future.cancel()
            raise self._failed("timed-out") from error
        except Unavailable as error:
            raise self._failed(error.reason) from error
        self._rest_until, self._reason = 0.0, ""
        return candidates

    def _failed(self, reason: str) -> Unavailable:
        self._rest_until, self._reason = self.stopwatch() + REST_SECONDS, reason
        return Unavailable("The index did not answer.", reason=reason)
