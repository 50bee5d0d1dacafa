"""The OpenSearch index beside PostgreSQL in the same benchmark, where one is configured."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.bootstrap.search_index import Endpoint, follow_database
from cairn.kernel.clock import monotonic, utc_now
from cairn.recall.keyword_index import IndexedKeywordLeg

if TYPE_CHECKING:
    from collections.abc import Generator
    from uuid import UUID

    from benchmarks.scale.load import Workspace
    from cairn.adapters.postgres.database import Database
    from cairn.search_index.sync import FollowDatabase


@dataclass(frozen=True, kw_only=True)
class IndexBeside:
    """The index's leg, with the guard in PostgreSQL and nothing to fall back to."""

    leg: IndexedKeywordLeg
    follow: FollowDatabase
    filled: list[UUID] = field(default_factory=list["UUID"])

    def fill(self, workspace: Workspace) -> None:
        """Index every node of a workspace."""
        workspace_id = workspace.principal.workspace_id
        self.filled.append(workspace_id)
        name = self.follow.live()
        self.follow.catch_up(workspace_id, name)
        self.follow.index.refresh(name)


@contextmanager
def index_beside(found: Endpoint | None, database: Database) -> Generator[IndexBeside | None]:
    """Yield the index of that endpoint, None without one; what was written goes at the end."""
    if found is None:
        yield None
        return
    from cairn.adapters.opensearch.client import Connection
    from cairn.adapters.opensearch.keyword import OpenSearchKeywordIndex
    from cairn.adapters.opensearch.proving import OpenSearchEraser
    from cairn.adapters.postgres.memory.search_index import PostgresGuard

    connection = Connection(found.url, auth=found.auth)
    beside = IndexBeside(
        leg=IndexedKeywordLeg(
            index=OpenSearchKeywordIndex(connection, monotonic),
            guard=PostgresGuard(database, utc_now),
            stopwatch=monotonic,
        ),
        follow=follow_database(found, database, lambda event, fields: None),
    )
    try:
        yield beside
    finally:
        for workspace_id in beside.filled:
            OpenSearchEraser(connection).erase(workspace_id)
