"""Recall over PostgreSQL, for the API and for the retrieve function."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from cairn.bootstrap.logs import logger, warn
from cairn.clock import monotonic, utc_now
from cairn.ids import new_id
from cairn.retrieval.leg_calls import Legs
from cairn.retrieval.recall import Recall
from cairn.retrieval.result_cache import ResultCache
from cairn.storage.postgres.recall import (
    PostgresKeywordLeg,
    PostgresVectorLeg,
    recall_transactions,
)
from cairn.storage.postgres.search_runs import PostgresSearchRuns
from cairn.storage.postgres.workspaces import PostgresReindex, PostgresWorkspaceSettings

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from cairn.embedding.port import Embedder
    from cairn.retrieval.ports import KeywordLeg
    from cairn.storage.postgres.database import Database

LEG_THREADS = 8


def recall(
    opened: Database,
    embedder: Embedder,
    log: Logger | None = None,
    keyword: KeywordLeg | None = None,
) -> Recall:
    """Return the use case with one thread pool for its legs; `keyword` is PostgreSQL's if None."""
    pool = ThreadPoolExecutor(LEG_THREADS, thread_name_prefix="leg")
    return Recall(
        legs=Legs(
            embedder=embedder,
            vector=PostgresVectorLeg(opened),
            keyword=keyword or PostgresKeywordLeg(opened),
            pool=pool,
            stopwatch=monotonic,
        ),
        transactions=recall_transactions(opened),
        search_runs=PostgresSearchRuns(opened),
        pool=pool,
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
        settings=PostgresWorkspaceSettings(opened, monotonic),
        cache=ResultCache(monotonic),
        reindex=PostgresReindex(opened, model_id=embedder.model.id, clock=utc_now, new_id=new_id),
        report=warn(log or logger("recall", "INFO")),
    )
