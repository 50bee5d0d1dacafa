"""Recall over PostgreSQL, for the API and for the retrieve function."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from cairn.clock import monotonic, utc_now
from cairn.ids import new_id
from cairn.retrieval.recall import Recall
from cairn.storage.postgres.recall import (
    PostgresKeywordLeg,
    PostgresSearchRuns,
    PostgresVectorLeg,
    recall_transactions,
)

if TYPE_CHECKING:
    from cairn.embedding.port import Embedder
    from cairn.storage.postgres.database import Database

LEG_THREADS = 4


def recall(opened: Database, embedder: Embedder) -> Recall:
    """Return the use case with one thread pool for its legs."""
    return Recall(
        embedder=embedder,
        vector_leg=PostgresVectorLeg(opened),
        keyword_leg=PostgresKeywordLeg(opened),
        transactions=recall_transactions(opened),
        search_runs=PostgresSearchRuns(opened),
        pool=ThreadPoolExecutor(LEG_THREADS, thread_name_prefix="leg"),
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
    )
