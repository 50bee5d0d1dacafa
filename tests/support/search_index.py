"""A workspace whose nodes are followed by a search index, for contract and integration tests."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tests.fakes.search_index import InMemorySearchIndex
from tests.support.world import MORNING, World

from cairn.adapters.opensearch.client import Connection
from cairn.adapters.opensearch.indexes import OpenSearchIndexes
from cairn.adapters.opensearch.keyword import OpenSearchKeywordIndex
from cairn.adapters.postgres.memory.search_index import PostgresGuard, PostgresIndexSource
from cairn.kernel.access import Principal
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.recall.keyword_index import IndexedKeywordLeg, KeywordIndex
from cairn.recall.records import Filters
from cairn.search_index.check import KeepSearchIndex
from cairn.search_index.sync import (
    Bucket,
    FollowDatabase,
    IndexDocument,
    IndexState,
    SearchIndex,
)


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
        assert all(item.score > 0 for item in found)
        return [item.node_id for item in found]


def unreported(*_: object) -> None:
    """Tell nobody."""


def followed(world: World, connection: Connection) -> Followed:
    """Put a real index beside a world."""
    indexes = OpenSearchIndexes(connection, new_id)
    follow = FollowDatabase(
        source=PostgresIndexSource(world.pool),
        index=indexes,
        clock=utc_now,
        stopwatch=monotonic,
        report=unreported,
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


@dataclass
class MemorySource:
    """Implements `search_index.sync.IndexSource` over documents in memory."""

    nodes: dict[UUID, IndexDocument] = field(default_factory=dict[UUID, IndexDocument])
    states: dict[tuple[UUID, str], IndexState] = field(
        default_factory=dict[tuple[UUID, str], IndexState]
    )

    def put(self, *documents: IndexDocument) -> None:
        self.nodes |= {document.node_id: document for document in documents}

    def state(self, workspace_id: UUID, name: str) -> IndexState:
        return self.states.get((workspace_id, name), IndexState())

    def changed(
        self, workspace_id: UUID, after: tuple[int, UUID], limit: int
    ) -> Sequence[IndexDocument]:
        ordered = sorted(self._of(workspace_id), key=lambda item: (item.position, item.node_id))
        return [item for item in ordered if (item.position, item.node_id) > after][:limit]

    def documents(self, workspace_id: UUID, node_ids: Collection[UUID]) -> Sequence[IndexDocument]:
        return [item for item in self._of(workspace_id) if item.node_id in node_ids]

    def advance(
        self, workspace_id: UUID, name: str, position: int, *, refused: int, now: datetime
    ) -> None:
        known = self.state(workspace_id, name)
        self.states[workspace_id, name] = IndexState(
            position=max(known.position, position),
            refused=known.refused + refused,
            indexed_at=now,
        )

    def fail(self, workspace_id: UUID, name: str, failure: str, now: datetime) -> None:
        known = self.state(workspace_id, name)
        self.states[workspace_id, name] = replace(known, failure=failure, failed_at=now)

    def pending(self, workspace_id: UUID, position: int) -> int:
        return sum(item.position > position for item in self._of(workspace_id))

    def rewind(self, workspace_id: UUID, name: str) -> None:
        self.states.pop((workspace_id, name), None)

    def forget_others(self, workspace_id: UUID, name: str) -> None:
        gone = [state for state in self.states if state[0] == workspace_id and state[1] != name]
        for item in gone:
            del self.states[item]

    def buckets(self, workspace_id: UUID) -> Mapping[str, Bucket]:
        index = InMemorySearchIndex({"all": dict(self.nodes)})
        return index.buckets("all", workspace_id)

    def positions(self, workspace_id: UUID, bucket: str) -> Mapping[UUID, int]:
        index = InMemorySearchIndex({"all": dict(self.nodes)})
        return index.positions("all", workspace_id, bucket)

    def _of(self, workspace_id: UUID) -> list[IndexDocument]:
        return [node for node in self.nodes.values() if node.workspace_id == workspace_id]


def kept_in_memory(
    source: MemorySource, index: InMemorySearchIndex, *workspaces: UUID
) -> KeepSearchIndex:
    """The use cases of keeping an index, over a source and an index in memory."""
    follow = FollowDatabase(
        source=source,
        index=index,
        clock=lambda: MORNING,
        stopwatch=lambda: 0.0,
        report=unreported,
    )
    return KeepSearchIndex(follow=follow, workspaces=lambda: workspaces, stopwatch=lambda: 0.0)
