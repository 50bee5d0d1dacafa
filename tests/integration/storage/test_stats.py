"""The numbers of a workspace and its orphans, over PostgreSQL."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.edge import Edge, View
from cairn.graph.projection import Projection
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Denied
from cairn.kernel.ids import new_id
from cairn.memories.kinds import MemoryKind
from cairn.operations import stats as use_case
from cairn.operations.stats import GetStats, Stats
from cairn.rebuild.missing_keys import FindOrphans

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"stats-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def root(database: "Database") -> Iterator[Connection]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


def numbers(world: World) -> Stats:
    transactions = StoreTransactions(world.pool)
    return GetStats(transactions=transactions, clock=utc_now)(world.admin)


def told(world: World, *texts: str, **changes: Any) -> list[UUID]:
    outcomes = world.tell(*(memory(text, **changes) for text in texts)).outcomes
    return [outcome.id for outcome in outcomes if outcome.id]


def join(world: World, relation: str, source: UUID, target: UUID, **properties: Any) -> None:
    edge = Edge(
        workspace_id=world.workspace_id,
        id=new_id(),
        view=View.SEMANTIC,
        relation=relation,
        source_id=source,
        target_id=target,
        valid_from=utc_now(),
        recorded_at=utc_now(),
        position=1,
        properties=properties,
    )
    with StoreTransactions(world.pool).writing(world.admin) as stores:
        stores.nodes.apply([Projection(edges=(edge,))])


def test_counts_are_by_column_and_another_workspace_is_not_counted(
    world: World, database: "Database"
) -> None:
    other = open_world(database.owner_url, database.app_url, f"stats-{new_id()}")
    told(other, "the other workspace's")
    told(world, "Redis is a cache", "Postgres is a database", category="procedural")
    told(world, "deployed", type=MemoryKind.EVENT)
    told(world, "up", type=MemoryKind.STATUS, subject="api")
    told(world, "down", type=MemoryKind.STATUS, subject="api")

    found = numbers(world)

    assert (found.nodes, found.active_memories) == (5, 4)
    assert found.labels == {"Memory": 5}
    assert found.kinds == {"event": 1, "fact": 2, "status": 2}
    assert found.states == {"active": 4, "superseded": 1}
    assert found.categories == {"episodic": 1, "procedural": 2, "semantic": 2}
    assert found.outbox == {"embed": 4}
    assert found.vectors == {}
    assert found.chain_head.position >= 5
    assert found.storage_bytes["nodes"] > 5 * 100
    other.pool.close()


def test_decay_is_counted_from_the_last_access_or_the_recording(
    world: World, root: Connection
) -> None:
    old, used, fresh = told(world, "old", "used lately", "fresh")
    root.execute(
        "UPDATE node SET recorded_at = now() - interval '40 days' WHERE id = ANY (%s)",
        [[old, used]],
    )
    root.execute("UPDATE node SET last_accessed_at = now() WHERE id = %s", [used])
    found = numbers(world)
    assert found.decayed_below_50pct == 1
    assert (found.decayed.of, found.decayed.exact) == (3, True)
    assert fresh


def test_duplicates_contradictions_and_junk_are_shares_of_the_active_memories(
    world: World,
) -> None:
    first, second, third = told(
        world, "The harbour opens at nine", "The harbour opens at 9", "The harbour opens at ten"
    )
    told(world, "ok thanks")
    join(world, "SIMILAR_TO", second, first, score=0.95)
    join(world, "SIMILAR_TO", third, first, score=0.91)
    join(world, "CONTRADICTS", third, second)
    found = numbers(world)
    assert (found.duplicates.count, found.duplicates.share) == (1, 0.25)
    assert found.contradictions.count == 2
    assert (found.junk.count, found.junk.of) == (1, 4)


def test_beyond_what_is_cheap_a_random_sample_is_looked_at_and_said_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_case, "EXACT", 5)
    monkeypatch.setattr(use_case, "FACT_SAMPLE", 4)
    monkeypatch.setattr(use_case, "MEMORY_SAMPLE", 6)
    told(world, *(f"fact number {n}" for n in range(9)))
    found = numbers(world)
    assert (found.decayed.of, found.decayed.exact) == (4, False)
    assert (found.junk.of, found.junk.exact) == (6, False)


def test_numbers_are_an_admins(world: World) -> None:
    transactions = StoreTransactions(world.pool)
    with pytest.raises(Denied):
        GetStats(transactions=transactions, clock=utc_now)(world.as_other(role=Role.AGENT))
    with pytest.raises(Denied):
        FindOrphans(transactions=transactions)(world.as_other(role=Role.AGENT))


def test_each_kind_of_orphan_is_found_and_nothing_else(world: World, root: Connection) -> None:
    kept, gone, bare = told(world, "kept", "gone", "made by nobody")
    find = FindOrphans(transactions=StoreTransactions(world.pool))
    assert {kind: one.count for kind, one in find(world.admin).items()} == {
        "node_without_entry": 0,
        "edge_without_end": 0,
        "vector_without_node": 0,
        "entity_without_reference": 0,
        "entry_without_row": 0,
    }
    join(world, "SIMILAR_TO", gone, kept, score=0.9)
    root.execute(
        """INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, scope,
             client_id, state, occurred_at, valid_from)
           SELECT workspace_id, id, 1, array_fill(0.1, ARRAY[384])::vector::halfvec, 1, label,
             scope, client_id, state, occurred_at, valid_from FROM node WHERE id = %s""",
        [gone],
    )
    root.execute("DELETE FROM node WHERE id = %s", [gone])
    root.execute("UPDATE node SET created_position = 9999 WHERE id = %s", [bare])

    found = find(world.admin)

    assert found["edge_without_end"].count == 1
    assert found["vector_without_node"].examples == (gone,)
    assert found["node_without_entry"].examples == (bare,)
    assert found["entry_without_row"].count == 1
