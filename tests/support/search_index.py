"""A workspace whose nodes are followed by a search index, for contract and integration tests."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.support.world import MORNING, World

from cairn.access import Principal
from cairn.clock import monotonic, utc_now
from cairn.ids import new_id
from cairn.ingestion.search_index import FollowDatabase, IndexDocument, SearchIndex
from cairn.retrieval.keyword_index import IndexedKeywordLeg, KeywordIndex
from cairn.retrieval.records import Filters
from cairn.storage.opensearch.client import Connection
from cairn.storage.opensearch.indexes import OpenSearchIndexes
from cairn.storage.opensearch.keyword import OpenSearchKeywordIndex
from cairn.storage.postgres.search_index import PostgresGuard, PostgresIndexSource


def document(workspace_id: UUID, own: str, **changes: Any) -> IndexDocument:
    """A memory as an index holds it, unless changed."""
    given: dict[str, Any] = {
        "node_id": new_id(),
        "position": 1,
        "label": "Memory",
        "kind": "fact",
        "scope": "admin",
        "agents": None,
        "client_id": "global",
        "state": "active",
        "occurred_at": MORNING,
        "valid_from": MORNING,
        "valid_to": None,
        "described": False,
        "context": "",
    }
    return IndexDocument(workspace_id=workspace_id, own=own, **(given | changes))


@dataclass(frozen=True, kw_only=True)
class Followed:
    """A world, the indexes that follow it, and what searches them."""

    world: World
    indexes: SearchIndex
    index: KeywordIndex
    follow: FollowDatabase

    @property
    def source(self) -> PostgresIndexSource:
        return PostgresIndexSource(self.world.pool)

    def leg(self, *, clock: Callable[[], Any] = utc_now) -> IndexedKeywordLeg:
        guard = PostgresGuard(self.world.pool, clock)
        return IndexedKeywordLeg(index=self.index, guard=guard, stopwatch=monotonic)

    def catch_up(self) -> int:
        """Index what is missing and let it be found."""
        name = self.follow.live()
        done = self.follow.catch_up(self.world.workspace_id, name)
        self.indexes.refresh(name)
        return done

    def found(self, *terms: str, who: Principal | None = None, **filters: Any) -> list[UUID]:
        """What the leg finds, best first."""
        found = self.leg().search(
            who or self.world.admin, terms, Filters(**filters), limit=10, timeout_ms=5000
        )
        assert all(one.score > 0 for one in found)
        return [one.node_id for one in found]


def followed(world: World, connection: Connection) -> Followed:
    """Put a real index beside a world."""
    indexes = OpenSearchIndexes(connection, new_id)
    follow = FollowDatabase(
        source=PostgresIndexSource(world.pool),
        index=indexes,
        clock=utc_now,
        stopwatch=monotonic,
        report=lambda *_: None,
    )
    return Followed(
        world=world,
        indexes=indexes,
        index=OpenSearchKeywordIndex(connection, monotonic),
        follow=follow,
    )


def later(**parts: float) -> Callable[[], Any]:
    """A clock that is ahead."""
    return lambda: utc_now() + timedelta(**parts)
