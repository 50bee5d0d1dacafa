"""A workspace after its embedding model changed, over PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.platform import platform_of
from tests.support.world import Sent, World, memory, open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.embedding.port import EmbeddingModel
from cairn.enrichment.enrich import Enrich
from cairn.kernel.clock import monotonic
from cairn.kernel.ids import new_id
from cairn.reembedding import reindex as use_case
from cairn.reembedding.reindex import CountMissingVectors, Reindex

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]
NEW = EmbeddingModel(id=998, name="hashing-2", dimensions=384, max_tokens=256)


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    """A superuser, to look behind the policies; the test's models are made known first."""
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        for model in (HASHING, NEW):
            connection.execute(
                """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
                   ON CONFLICT DO NOTHING""",
                (model.id, model.name, model.dimensions),
            )
        yield connection


def opened(database: "Database") -> World:
    return open_world(database.owner_url, database.app_url, f"reindex-{new_id()}")


@pytest.fixture
def world(database: "Database", root: Connection) -> Iterator[World]:
    """A workspace of 130 memories with vectors of the former model; nothing waits."""
    world = opened(database)
    for start in range(0, 130, 65):
        world.tell(*(memory(f"PostgreSQL feeds Redis, {start + n}") for n in range(65)))
    work_off(world, HASHING)
    yield world
    world.pool.close()


def sent(world: World) -> Sent:
    dispatcher = world.remember.platform.dispatcher
    assert isinstance(dispatcher, Sent)
    return dispatcher


def work_off(world: World, model: EmbeddingModel) -> int:
    """Do the embed stage's work for everything sent so far, with this model."""
    enrich = Enrich(
        platform=platform_of(StoreTransactions(world.pool), keys=world.remember.platform.keys),
        embedder=HashingEmbedder(model),
    )
    rows, sent(world).rows = sent(world).rows, []
    return sum(enrich.rows(world.workspace_id, [row.id]) for row in rows)


def reindexing(world: World) -> Reindex:
    platform = platform_of(
        StoreTransactions(world.pool), dispatcher=sent(world), stopwatch=monotonic
    )
    return Reindex(platform=platform, model=NEW)


def counted(world: World) -> tuple[int, int]:
    platform = platform_of(StoreTransactions(world.pool))
    found = CountMissingVectors(platform=platform, model=NEW)(world.admin)
    return found.missing, found.waiting


def embedded(root: Connection, world: World, model: EmbeddingModel) -> set[UUID]:
    rows = root.execute(
        "SELECT node_id FROM embedding WHERE workspace_id = %s AND model_id = %s",
        [world.workspace_id, model.id],
    )
    return {one for (one,) in rows}


def queued(root: Connection, world: World) -> list[UUID]:
    """Every node that waits, as often as it does."""
    rows = root.execute("SELECT node_ids FROM outbox WHERE workspace_id = %s", [world.workspace_id])
    return [id_ for (ids,) in rows for id_ in ids]


def memories(root: Connection, world: World, state: str = "active") -> list[UUID]:
    rows = root.execute(
        """SELECT id FROM node WHERE workspace_id = %s AND label = 'Memory' AND state = %s
            ORDER BY id""",
        [world.workspace_id, state],
    )
    return [one for (one,) in rows]


def test_nodes_of_the_former_model_are_queued_once_and_get_vectors_of_the_present_one(
    world: World, root: Connection
) -> None:
    assert counted(world) == (130, 0)
    told = reindexing(world)(world.admin)
    assert (told.model, told.missing, told.queued, told.more) == ("hashing-2", 130, 130, False)
    assert sorted(queued(root, world)) == memories(root, world)
    assert [len(row.node_ids) for row in sent(world).rows] == [100, 30]
    assert counted(world) == (130, 130)

    again = reindexing(world)(world.admin)
    assert (again.missing, again.queued) == (130, 0)
    assert len(queued(root, world)) == 130

    assert work_off(world, NEW) == 130
    assert embedded(root, world, NEW) == set(memories(root, world))
    assert queued(root, world) == []
    assert counted(world) == (0, 0)
    last = reindexing(world)(world.admin)
    assert (last.missing, last.queued) == (0, 0)


def test_a_node_embedded_anew_keeps_its_place_in_the_graph(world: World, root: Connection) -> None:
    edges = """SELECT view, relation, source_id, target_id, weight FROM edge
                WHERE workspace_id = %s AND superseded_at IS NULL ORDER BY 1, 2, 3, 4"""
    before = root.execute(edges, [world.workspace_id]).fetchall()
    reindexing(world)(world.admin)
    work_off(world, NEW)
    assert root.execute(edges, [world.workspace_id]).fetchall() == before


@pytest.mark.parametrize("state", ["deleted", "quarantined", "expired", "archived"])
def test_what_is_not_to_be_found_is_left_out(world: World, root: Connection, state: str) -> None:
    gone = memories(root, world)[::2]
    root.execute(
        "UPDATE node SET state = %s WHERE workspace_id = %s AND id = ANY (%s)",
        [state, world.workspace_id, gone],
    )
    assert counted(world) == (65, 0)
    assert reindexing(world)(world.admin).queued == 65
    assert not set(queued(root, world)) & set(gone)


@pytest.mark.parametrize("state", ["superseded", "provisional"])
def test_what_can_still_be_asked_for_is_queued_too(
    world: World, root: Connection, state: str
) -> None:
    root.execute(
        "UPDATE node SET state = %s WHERE workspace_id = %s AND label = 'Memory'",
        [state, world.workspace_id],
    )
    assert reindexing(world)(world.admin).queued == 130


def test_entities_count_only_when_they_had_a_vector(world: World, root: Connection) -> None:
    rows = root.execute(
        "SELECT id FROM node WHERE workspace_id = %s AND label = 'Entity'", [world.workspace_id]
    )
    entities = [one for (one,) in rows]
    assert len(entities) >= 2
    assert not set(entities) & set(reindexed(world, root))
    root.execute("DELETE FROM outbox WHERE workspace_id = %s", [world.workspace_id])
    root.execute(
        """INSERT INTO embedding SELECT workspace_id, %s, model_id, ordinal, v, position, 'Entity',
             kind, scope, agents, client_id, state, occurred_at, valid_from, valid_to
             FROM embedding WHERE workspace_id = %s LIMIT 1""",
        [entities[0], world.workspace_id],
    )
    assert counted(world) == (131, 0)
    assert set(entities) & set(reindexed(world, root)) == {entities[0]}


def reindexed(world: World, root: Connection) -> list[UUID]:
    reindexing(world)(world.admin)
    return queued(root, world)


def test_another_workspace_is_untouched(
    world: World, root: Connection, database: "Database"
) -> None:
    other = opened(database)
    try:
        other.tell(memory("the harbour is quiet"))
        work_off(other, HASHING)
        reindexing(world)(world.admin)
        assert queued(root, other) == []
        assert counted(other) == (1, 0)
        assert counted(world) == (130, 130)
    finally:
        other.pool.close()


def test_an_admin_whose_key_sees_less_has_the_whole_workspace_embedded(
    world: World, root: Connection
) -> None:
    from cairn.kernel.access import Role, Scope

    narrow = world.as_other(role=Role.ADMIN, allowed_scopes=frozenset({Scope.PUBLIC}))
    assert reindexing(world)(narrow).queued == 130


def test_calls_at_the_same_time_queue_a_node_once(
    world: World, root: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_case, "PAGE", 20)
    start = Barrier(3)

    def call(_: int) -> int:
        start.wait()
        return reindexing(world)(world.admin).queued

    with ThreadPoolExecutor(3) as threads:
        told = list(threads.map(call, range(3)))
    assert sum(told) == 130
    assert sorted(queued(root, world)) == memories(root, world)


def test_pages_come_to_every_node_whatever_their_size(
    world: World, root: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_case, "PAGE", 7)
    monkeypatch.setattr(use_case, "REQUEST_NODES", 50)
    after, calls = None, 0
    while True:
        part = reindexing(world)(world.admin, after=after)
        after, calls = part.after, calls + 1
        if not part.more:
            break
    assert calls == 3
    assert sorted(queued(root, world)) == memories(root, world)
