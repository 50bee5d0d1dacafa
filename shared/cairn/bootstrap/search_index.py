"""The search index of a process, where an endpoint is configured; PostgreSQL alone where not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import SecretStr

    from cairn.adapters.postgres.database import Database
    from cairn.recall.ports import KeywordLeg
    from cairn.search_index.check import KeepSearchIndex
    from cairn.search_index.sync import FollowDatabase

INDEX_THREADS = 8


class SearchIndexSettings(Protocol):
    """Where OpenSearch answers, if anywhere, and how requests are signed."""

    @property
    def opensearch_url(self) -> SecretStr | None: ...
    @property
    def opensearch_auth(self) -> str: ...


@dataclass(frozen=True)
class Endpoint:
    """An OpenSearch endpoint: its URL, which may hold a password, and how requests are signed."""

    url: str = field(repr=False)
    auth: str = "none"


def endpoint(settings: SearchIndexSettings) -> Endpoint | None:
    """Return the endpoint that is configured, None where there is none."""
    url = settings.opensearch_url
    return Endpoint(url.get_secret_value(), settings.opensearch_auth) if url else None


def keyword_leg(settings: SearchIndexSettings, opened: Database) -> KeywordLeg:
    """Return PostgreSQL's leg, behind OpenSearch's where there is one. Nothing connects yet."""
    from cairn.adapters.postgres.memory.recall import (
        PostgresKeywordLeg,  # not for those who only write
    )

    search_endpoint = endpoint(settings)
    if search_endpoint is None:
        return PostgresKeywordLeg(opened)
    from concurrent.futures import ThreadPoolExecutor

    from cairn.adapters.opensearch.client import Connection
    from cairn.adapters.opensearch.keyword import OpenSearchKeywordIndex
    from cairn.adapters.postgres.memory.search_index import PostgresGuard
    from cairn.recall.keyword_index import FallbackKeywordLeg, IndexedKeywordLeg

    connection = Connection(search_endpoint.url, auth=search_endpoint.auth)
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
    search_endpoint: Endpoint, opened: Database, report: Callable[[str, dict[str, Any]], None]
) -> FollowDatabase:
    """Return what keeps the index up to the database. Nothing connects yet."""
    from cairn.adapters.opensearch.client import Connection
    from cairn.adapters.opensearch.indexes import OpenSearchIndexes
    from cairn.adapters.postgres.memory.search_index import PostgresIndexSource
    from cairn.search_index.sync import FollowDatabase

    return FollowDatabase(
        source=PostgresIndexSource(opened),
        index=OpenSearchIndexes(Connection(search_endpoint.url, auth=search_endpoint.auth), new_id),
        clock=utc_now,
        stopwatch=monotonic,
        report=report,
    )


def keep_search_index(
    search_endpoint: Endpoint, opened: Database, report: Callable[[str, dict[str, Any]], None]
) -> KeepSearchIndex:
    """Return checks, repairs and rebuilds of the index. Nothing connects yet."""
    from cairn.adapters.postgres.sweeping import ListWorkspaces
    from cairn.search_index.check import KeepSearchIndex

    follow = follow_database(search_endpoint, opened, report)
    return KeepSearchIndex(follow=follow, workspaces=ListWorkspaces(opened), stopwatch=monotonic)
