"""The search index of a process, where an endpoint is configured; PostgreSQL alone where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from cairn.clock import monotonic, utc_now
from cairn.ids import new_id
from cairn.storage.postgres.recall import PostgresKeywordLeg

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import SecretStr

    from cairn.ingestion.search_index import FollowDatabase
    from cairn.lifecycle.search_index import KeepSearchIndex
    from cairn.retrieval.ports import KeywordLeg
    from cairn.storage.postgres.database import Database

INDEX_THREADS = 8


class SearchIndexSettings(Protocol):
    """Where OpenSearch answers, if anywhere, and how requests are signed."""

    @property
    def opensearch_url(self) -> SecretStr | None: ...
    @property
    def opensearch_auth(self) -> str: ...


def keyword_leg(settings: SearchIndexSettings, opened: Database) -> KeywordLeg:
    """Return PostgreSQL's leg, behind OpenSearch's where there is one. Nothing connects yet."""
    url = settings.opensearch_url
    if url is None:
        return PostgresKeywordLeg(opened)
    from concurrent.futures import ThreadPoolExecutor

    from cairn.retrieval.keyword_index import FallbackKeywordLeg, IndexedKeywordLeg
    from cairn.storage.opensearch.client import Connection
    from cairn.storage.opensearch.keyword import OpenSearchKeywordIndex
    from cairn.storage.postgres.search_index import PostgresGuard

    connection = Connection(url.get_secret_value(), auth=settings.opensearch_auth)
    return FallbackKeywordLeg(
        primary=IndexedKeywordLeg(
            index=OpenSearchKeywordIndex(connection, monotonic),
            guard=PostgresGuard(opened, utc_now),
            stopwatch=monotonic,
        ),
        secondary=PostgresKeywordLeg(opened),
        pool=ThreadPoolExecutor(INDEX_THREADS, thread_name_prefix="index"),
        stopwatch=monotonic,
    )


def follow_database(
    settings: SearchIndexSettings,
    opened: Database,
    report: Callable[[str, dict[str, Any]], None],
) -> FollowDatabase | None:
    """Return what keeps the index up to the database; None where there is no index."""
    url = settings.opensearch_url
    if url is None:
        return None
    from cairn.ingestion.search_index import FollowDatabase
    from cairn.storage.opensearch.client import Connection
    from cairn.storage.opensearch.indexes import OpenSearchIndexes
    from cairn.storage.postgres.search_index import PostgresIndexSource

    connection = Connection(url.get_secret_value(), auth=settings.opensearch_auth)
    return FollowDatabase(
        source=PostgresIndexSource(opened),
        index=OpenSearchIndexes(connection, new_id),
        clock=utc_now,
        stopwatch=monotonic,
        report=report,
    )


def keep_search_index(
    settings: SearchIndexSettings,
    opened: Database,
    report: Callable[[str, dict[str, Any]], None],
) -> KeepSearchIndex | None:
    """Return checks, repairs and rebuilds; None where there is no index."""
    follow = follow_database(settings, opened, report)
    if follow is None:
        return None
    from cairn.lifecycle.search_index import KeepSearchIndex
    from cairn.storage.postgres.sweeping import ListWorkspaces

    return KeepSearchIndex(follow=follow, workspaces=ListWorkspaces(opened), stopwatch=monotonic)
