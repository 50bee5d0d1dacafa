"""What searches did, over PostgreSQL: one row a search, written once. Not when they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.database import Database, bound
from cairn.adapters.postgres.packing import (
    packed_candidates,
    packed_scored,
    unpacked_candidates,
    unpacked_scored,
)
from cairn.adapters.postgres.sql import query
from cairn.kernel.access.system import system_principal
from cairn.recall.records import Explored, SearchRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cairn.kernel.access import Principal

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
        asked = {"workspace_id": principal.workspace_id, "id": run_id}
        with bound(self._database, principal) as connection:
            row = connection.execute(query("search_run.find"), asked).fetchone()
        return _run(row) if row else None


def _row(run: SearchRun) -> dict[str, Any]:
    return {
        "workspace_id": run.workspace_id,
        "id": run.id,
        "principal_id": run.principal_id,
        "recipe": run.recipe,
        "recorded_at": run.started_at,
        "returned": list(run.returned),
        "candidates": Jsonb({leg: packed_candidates(one) for leg, one in run.candidates.items()}),
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
        "reranked": Jsonb({one.hex: score for one, score in run.reranked.items()}),
        "merged": Jsonb({one.hex: [other.hex for other in ids] for one, ids in run.merged.items()}),
        "edges": Jsonb([[edge[0].hex, edge[1].hex, *edge[2:]] for edge in run.edges]),
        "as_of_position": run.as_of_position,
        "session_id": run.session_id,
        "cached_from": run.cached_from,
    }


def _run(row: Sequence[Any]) -> SearchRun:
    """Return the run that a row of `search_run.find` is."""
    candidates: Mapping[str, Any] = row[6]
    scored, reranked, merged, edges = row[16:20]
    return SearchRun(
        id=row[0],
        workspace_id=row[1],
        principal_id=row[2],
        recipe=row[3],
        started_at=row[4],
        returned=tuple(row[5]),
        candidates={leg: unpacked_candidates(each) for leg, each in candidates.items()},
        degraded=tuple(row[7]),
        duration_ms=row[8],
        counts_as_access=row[9],
        request_digest=row[10],
        recipe_used=row[11],
        wanted=row[12],
        retrieval_class=row[13],
        intents=row[14],
        seeds=tuple(row[15]),
        scored=unpacked_scored(scored) if scored else (),
        reranked={UUID(one): score for one, score in reranked.items()},
        merged={UUID(one): tuple(UUID(other) for other in ids) for one, ids in merged.items()},
        edges=tuple(Explored(UUID(edge[0]), UUID(edge[1]), *edge[2:]) for edge in edges),
        as_of_position=row[20],
        session_id=row[21],
        cached_from=row[22],
    )
