"""The embed stage over PostgreSQL: at least once, late, failing, and at the same time."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Barrier
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.platform import on_other, platform_of
from tests.support.world import Sent, World, memory, open_world

from cairn.adapters.postgres.store_transactions import PostgresStores, StoreTransactions
from cairn.enrichment.enrich import Enrich
from cairn.graph.projection import Projection, Purge
from cairn.kernel.access import Principal
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.memories.kinds import MemoryKind
from cairn.reading.browse import Browse
from cairn.reading.views import Status

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    """A superuser, to look behind the policies; the test's model is made known first."""
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        connection.execute(
            "INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
        yield connection


@pytest.fixture
def world(database: "Database", root: Connection) -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"enrich-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def enrich(world: World, embedder: HashingEmbedder) -> Enrich:
    return Enrich(
        platform=platform_of(StoreTransactions(world.pool), keys=world.remember.platform.keys),
        embedder=embedder,
    )


def waiting(world: World) -> list[UUID]:
    """The outbox rows that were handed to the dispatcher, oldest first."""
    sent = world.remember.platform.dispatcher
    assert isinstance(sent, Sent)
    return [row.id for row in sent.rows]


def vectors(root: Connection, world: World) -> dict[UUID, tuple[int, str]]:
    """Position and vector of each node that has one."""
    rows = root.execute(
        "SELECT node_id, position, v::text FROM embedding WHERE workspace_id = %s",
        [world.workspace_id],
    )
    return {node_id: (position, vector) for node_id, position, vector in rows}


def browse(world: World) -> Browse:
    return Browse(transactions=StoreTransactions(world.pool))


def status(world: World) -> Status:
    return browse(world).get_status(world.admin)


def test_a_message_that_comes_twice_is_work_once(
    world: World, root: Connection, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    world.tell(memory("one"), memory("two"))
    assert enrich.rows(world.workspace_id, waiting(world)) == 2
    after_first = status(world).ledger_position, vectors(root, world)
    assert enrich.rows(world.workspace_id, waiting(world)) == 0
    assert (status(world).ledger_position, vectors(root, world)) == after_first
    assert len(embedder.calls) == 1


def test_two_workers_with_one_message_leave_one_vector_a_node_and_a_good_chain(
    world: World, root: Connection, enrich: Enrich
) -> None:
    world.tell(*(memory(f"PostgreSQL feeds Redis, number {n}") for n in range(20)))
    start = Barrier(2)

    def work(_: int) -> int:
        start.wait()
        return enrich.rows(world.workspace_id, waiting(world))

    with ThreadPoolExecutor(2) as threads:
        counts = list(threads.map(work, range(2)))
    assert max(counts) == 20
    assert len(vectors(root, world)) == 20
    pairs = root.execute(
        "SELECT DISTINCT weight FROM edge WHERE workspace_id = %s AND relation = 'CO_OCCURRENCE'",
        [world.workspace_id],
    )
    assert pairs.fetchall() == [(20.0,)]
    assert status(world).pending_embeddings == 0
    assert browse(world).verify_ledger(world.admin).ok


def test_a_name_keeps_the_type_that_an_earlier_text_of_its_audience_gave_it(
    world: World, root: Connection, enrich: Enrich
) -> None:
    world.tell(memory("Our dog Biscuit is old."))
    enrich.rows(world.workspace_id, waiting(world)[-1:])
    world.tell(memory("I gave Biscuit a bath."), memory("We saw Biscuit there.", scope="public"))
    enrich.rows(world.workspace_id, waiting(world)[-1:])
    found = root.execute(
        "SELECT scope, kind FROM node WHERE workspace_id = %s AND canonical_name = 'Biscuit'",
        [world.workspace_id],
    ).fetchall()
    assert sorted(found) == [("admin", "animal"), ("public", "concept")]


def test_an_embedder_that_fails_leaves_the_row_counted_as_failed_until_it_works(
    world: World, root: Connection, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    world.tell(memory("found by keyword meanwhile"))
    embedder.failures = [Unavailable("No answer.", reason="embedder-down")]
    before = status(world)
    with pytest.raises(Unavailable):
        enrich.rows(world.workspace_id, waiting(world))
    failed = status(world)
    assert (failed.pending_embeddings, failed.failed_embeddings) == (1, 1)
    assert failed.ledger_position == before.ledger_position
    assert vectors(root, world) == {}
    assert enrich.rows(world.workspace_id, waiting(world)) == 1
    after = status(world)
    assert (after.pending_embeddings, after.failed_embeddings) == (0, 0)


def test_an_old_message_does_not_put_an_old_vector_over_a_newer_one(
    world: World, root: Connection, enrich: Enrich
) -> None:
    session: dict[str, Any] = {"type": MemoryKind.EVENT, "session_id": "talk"}
    world.tell(memory("the second message", sequence=2, **session))
    world.tell(memory("the first message", sequence=1, **session))
    old, new = waiting(world)
    enrich.rows(world.workspace_id, [new])
    newer = vectors(root, world)
    assert len(newer) == 2
    enrich.rows(world.workspace_id, [old])
    assert vectors(root, world) == newer


def test_a_late_neighbour_changes_the_vector_of_the_message_after_it(
    world: World, root: Connection, enrich: Enrich
) -> None:
    session: dict[str, Any] = {"type": MemoryKind.EVENT, "session_id": "talk"}
    told = world.tell(memory("the second message", sequence=2, **session))
    second = told.outcomes[0].id
    assert second is not None
    enrich.rows(world.workspace_id, waiting(world))
    alone = vectors(root, world)[second]
    world.tell(memory("a first one about zebras", sequence=1, **session))
    enrich.rows(world.workspace_id, waiting(world))
    assert vectors(root, world)[second][1] != alone[1]


def test_a_text_known_from_before_is_not_embedded_again(
    world: World, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    world.tell(memory("said by two clients", client_id="acme"))
    enrich.rows(world.workspace_id, waiting(world))
    world.tell(memory("said by two clients", client_id="bolt"))
    assert enrich.rows(world.workspace_id, waiting(world)) == 1
    assert len(embedder.calls) == 1


def test_what_was_deleted_meanwhile_gets_no_vector(
    world: World, root: Connection, enrich: Enrich
) -> None:
    told = world.tell(memory("soon gone"))
    root.execute(
        "UPDATE node SET state = 'deleted', deleted_at = now() WHERE id = %s",
        [told.outcomes[0].id],
    )
    assert enrich.rows(world.workspace_id, waiting(world)) == 0
    assert vectors(root, world) == {}
    assert status(world).pending_embeddings == 0


@dataclass
class Meanwhile:
    """Transactions in which something happens once, when vectors are stored and before the head."""

    inner: StoreTransactions
    happens: Callable[[], object]

    def __post_init__(self) -> None:
        self.reading, self.writing = self.inner.reading, self.inner.writing

    @contextmanager
    def preparing(
        self, principal: Principal
    ) -> Iterator[tuple[PostgresStores, Callable[[], None]]]:
        with self.inner.preparing(principal) as (stores, hold_head), ThreadPoolExecutor(1) as other:

            def hold() -> None:
                happens, self.happens = self.happens, lambda: None
                other.submit(happens).result()
                hold_head()

            yield stores, hold


def test_a_write_need_not_wait_for_vectors_that_are_being_stored_and_counts_for_them(
    world: World, root: Connection, enrich: Enrich
) -> None:
    first = world.tell(memory("one")).outcomes[0].id

    def replaced() -> None:
        world.tell(memory("two"))  # fails after two seconds when somebody holds the head
        root.execute("UPDATE node SET state = 'superseded' WHERE id = %s", [first])

    stage = on_other(enrich, transactions=Meanwhile(enrich.platform.transactions, replaced))
    assert stage.rows(world.workspace_id, waiting(world)) == 1
    found = root.execute(
        "SELECT node_id, state FROM embedding WHERE workspace_id = %s", [world.workspace_id]
    )
    assert found.fetchall() == [(first, "superseded")]
    assert browse(world).verify_ledger(world.admin).ok


def test_what_is_purged_while_its_vector_is_being_stored_leaves_none_and_no_text_in_the_cache(
    world: World, root: Connection, enrich: Enrich
) -> None:
    first, second = (outcome.id for outcome in world.tell(memory("one"), memory("two")).outcomes)

    def purge() -> None:
        with enrich.platform.transactions.writing(world.admin) as stores:
            position = stores.ledger.head().position
            gone = Purge(workspace_id=world.workspace_id, node_ids=(first,), position=position)
            stores.nodes.apply([Projection(purges=(gone,))])

    stage = on_other(enrich, transactions=Meanwhile(enrich.platform.transactions, purge))
    assert stage.rows(world.workspace_id, waiting(world)) == 1
    assert set(vectors(root, world)) == {second}
    cached = root.execute(
        "SELECT node_id FROM embedding_cache WHERE workspace_id = %s", [world.workspace_id]
    )
    assert cached.fetchall() == [(second,)]
    assert status(world).pending_embeddings == 0


class NoKeys:
    """A key store that cannot be reached."""

    def get_or_create(self, *_: object) -> Any:
        raise Unavailable("The key store does not answer.", reason="key-store")

    get = destroy = get_or_create


def test_without_the_key_store_nothing_is_written(world: World) -> None:
    before = status(world)
    with pytest.raises(Unavailable):
        on_other(world.remember, keys=NoKeys())(world.admin, [memory("never stored")])
    assert status(world) == before
