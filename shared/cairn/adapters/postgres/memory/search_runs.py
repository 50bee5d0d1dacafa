"""What searches did, packed for storage, and which are to be counted, in PostgreSQL."""

from __future__ import annotations

import math
import sys
from array import array
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.database import Database, bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record, scalar
from cairn.kernel.access.system import system_principal
from cairn.recall.records import Candidate, Explored, ScoredNode, SearchRun

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from cairn.ageing.count_accesses import UncountedSearch
    from cairn.kernel.access import Principal
    from cairn.recall.searches.searches import SearchView


RECORD_TIMEOUT_MS = 2_000


class PostgresSearchRuns:
    """Inserts and finds the rows. `on_its_way` knows those this process has yet to insert."""

    def __init__(
        self, database: Database, on_its_way: Callable[[UUID], SearchRun | None] | None = None
    ) -> None:
        self._database = database
        self._on_its_way = on_its_way

    def insert(self, runs: Sequence[SearchRun]) -> None:
        """Insert runs of one workspace, each once; the commit does not wait for the disk."""
        worker = system_principal(runs[0].workspace_id)
        with bound(
            self._database, worker, timeout_ms=RECORD_TIMEOUT_MS, read_only=False
        ) as connection:
            connection.execute(query("search_run.commit_lightly"))
            with connection.cursor() as cursor:
                cursor.executemany(query("search_run.record"), [_row(run) for run in runs])

    def find(self, principal: Principal, run_id: UUID) -> SearchRun | None:
        """Return a search of the principal's workspace; None when there is none."""
        coming = self._on_its_way(run_id) if self._on_its_way else None
        if coming is not None and coming.workspace_id == principal.workspace_id:
            return coming
        parameters = {"workspace_id": principal.workspace_id, "id": run_id}
        with bound(self._database, principal) as connection:
            cursor = connection.cursor(row_factory=record(_run))
            return cursor.execute(query("search_run.find"), parameters).fetchone()

    def asked_by(self, principal: Principal, principal_id: UUID) -> str | None:
        """Return the name of the key or the person who searched; None where there is none."""
        parameters = {"workspace_id": principal.workspace_id, "id": principal_id}
        with bound(self._database, principal) as connection:
            return scalar(connection, "search_run.asked_by", parameters)

    def page(
        self,
        principal: Principal,
        *,
        node_id: UUID | None,
        of: UUID | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[SearchView]:
        """Return searches before one, the newest first: `of` a principal, that gave a node."""
        from cairn.recall.searches.searches import SearchView  # the worker lists none

        parameters = {
            "workspace_id": principal.workspace_id,
            "node_id": node_id,
            "of": of,
            "before": before,
            "limit": limit,
        }
        name = "search_run.page_of_node" if node_id else "search_run.page"
        with bound(self._database, principal) as connection:
            cursor = connection.cursor(row_factory=record(SearchView))
            return cursor.execute(query(name), parameters).fetchall()


def _row(run: SearchRun) -> dict[str, Any]:
    return {
        "workspace_id": run.workspace_id,
        "id": run.id,
        "principal_id": run.principal_id,
        "recipe": run.recipe,
        "recorded_at": run.started_at,
        "returned": list(run.returned),
        "candidates": Jsonb(
            {leg: packed_candidates(candidates) for leg, candidates in run.candidates.items()}
        ),
        "degraded": list(run.degraded),
        "duration_ms": run.duration_ms,
        "counts_as_access": run.counts_as_access,
        "request_digest": run.request_digest,
        "recipe_used": Jsonb(dict(run.recipe_used)),
        "wanted": run.wanted,
        "retrieval_class": run.retrieval_class,
        "intents": Jsonb(dict(run.intents)),
        "seeds": list(run.seeds),
        "scored": Jsonb(packed_scored(run.scored)),
        "reranked": Jsonb({node_id.hex: score for node_id, score in run.reranked.items()}),
        "merged": Jsonb(
            {node_id.hex: [other.hex for other in ids] for node_id, ids in run.merged.items()}
        ),
        "edges": Jsonb([[edge[0].hex, edge[1].hex, *edge[2:]] for edge in run.edges]),
        "as_of_position": run.as_of_position,
        "session_id": run.session_id,
        "cached_from": run.cached_from,
        "stages_ms": Jsonb(dict(run.stages_ms)),
    }


def _run(
    *,
    candidates: Mapping[str, Any],
    scored: Mapping[str, Any] | None,
    reranked: Mapping[str, float],
    merged: Mapping[str, Sequence[str]],
    edges: Sequence[Sequence[Any]],
    **row: Any,
) -> SearchRun:
    """Return the run that a row of `search_run.find` is."""
    return SearchRun(
        candidates={leg: unpacked_candidates(each) for leg, each in candidates.items()},
        scored=unpacked_scored(scored) if scored else (),
        reranked={UUID(node_id): score for node_id, score in reranked.items()},
        merged={
            UUID(node_id): tuple(UUID(other) for other in ids) for node_id, ids in merged.items()
        },
        edges=tuple(Explored(UUID(edge[0]), UUID(edge[1]), *edge[2:]) for edge in edges),
        **row,
    )


class PostgresAccessLog(Store):
    """The searches of one workspace, as far as counting needs them."""

    def uncounted(self, limit: int) -> Sequence[UncountedSearch]:
        """Return the oldest searches that count and were not counted."""
        # only the hourly count needs it
        from cairn.ageing.count_accesses import UncountedSearch

        return self.all_of(record(UncountedSearch), "search_run.uncounted", limit=limit)

    def counted(self, ids: Collection[UUID], position: int) -> None:
        """Mark searches as counted by the entry at `position`."""
        self.run("search_run.counted", ids=list(ids), position=position)

    def archived(self, used: Sequence[UUID]) -> Sequence[UUID]:
        """Return what of the used nodes is archived and may become active."""
        return self.values("ageing.archived", used=list(used))


@dataclass(frozen=True)
class DropSearchRuns:
    """Calls the definer function that removes old searches, in every workspace."""

    database: Database

    def __call__(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` counted searches older than `before`; return how many went."""
        parameters = {"before": before, "limit": limit}
        with self.database.connection() as connection:
            return scalar(connection, "search_run.drop_old", parameters) or 0


ABSENT = math.nan  # no signal is ever NaN


def packed_candidates(candidates: Sequence[tuple[UUID, float]]) -> dict[str, str]:
    """Return a leg's candidates, in order."""
    return {
        "nodes": _ids(node_id for node_id, _ in candidates),
        "scores": _doubles(score for _, score in candidates),
    }


def unpacked_candidates(packed: Mapping[str, str]) -> tuple[Candidate, ...]:
    """Return what `packed_candidates` was given."""
    nodes, scores = _to_ids(packed["nodes"]), _to_doubles(packed["scores"])
    return tuple(map(Candidate, nodes, scores))


def packed_scored(scored: Sequence[ScoredNode]) -> dict[str, Any]:
    """Return scored nodes: the signals' names, and a row of position and values for each node.

    Signals keep the order they were added up in, since a sum of floats depends on it.
    """
    names = _in_order(node.signals for node in scored)
    absent = [ABSENT] * len(names)
    values: list[float] = []
    for node in scored:
        values.append(float(node.position))
        values.extend(map(node.signals.get, names, absent))
    return {
        "signals": names,
        "nodes": _ids(node.node_id for node in scored),
        "values": _doubles(values),
    }


def unpacked_scored(packed: Mapping[str, Any]) -> tuple[ScoredNode, ...]:
    """Return what `packed_scored` was given."""
    names: list[str] = packed["signals"]
    values = _to_doubles(packed["values"])
    width = len(names) + 1
    return tuple(
        ScoredNode(node_id, int(values[start]), _present(names, values[start + 1 : start + width]))
        for node_id, start in zip(
            _to_ids(packed["nodes"]), range(0, len(values), width), strict=True
        )
    )


def _present(names: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    pairs = zip(names, values, strict=True)
    return {name: value for name, value in pairs if not math.isnan(value)}


def _in_order(rows: Iterable[Mapping[str, float]]) -> list[str]:
    """Return every name, each after the one before it in its row."""
    names: list[str] = []
    placed: set[str] = set()
    for row in rows:
        if placed.issuperset(row):
            continue
        place = 0
        for name in row:
            if name not in placed:
                names.insert(place, name)
                placed.add(name)
            place = names.index(name) + 1
    return names


def _ids(ids: Iterable[UUID]) -> str:
    return b64encode(b"".join(id_.bytes for id_ in ids)).decode("ascii")


def _to_ids(packed: str) -> list[UUID]:
    data = b64decode(packed)
    return [UUID(bytes=data[start : start + 16]) for start in range(0, len(data), 16)]


def _doubles(values: Iterable[float]) -> str:
    numbers = array("d", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return b64encode(numbers.tobytes()).decode("ascii")


def _to_doubles(packed: str) -> array[float]:
    numbers = array("d", b64decode(packed))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
