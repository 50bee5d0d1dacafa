"""The application's role moves the head of a chain by appending, and in no other way."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.stores import PostgresLedger
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.chain import entry_hash, seal
from cairn.ledger.entry import Actor, ActorKind, Entry, NewEntry
from cairn.reading.browse import Browse

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]
Change = Callable[[Connection, World], None]


@pytest.fixture(scope="module")
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"heads-{new_id()}")
    for number in range(3):
        world.tell(memory(f"Number {number}."))
    yield world
    world.pool.close()


def sealed(connection: Connection, world: World, count: int = 1) -> list[Entry]:
    head = PostgresLedger(connection, world.admin).head()
    news = [
        NewEntry(
            id=new_id(),
            workspace_id=world.workspace_id,
            type="memory.other",
            actor=Actor(kind=ActorKind.SYSTEM, id="x"),
            occurred_at=utc_now(),
            meta={},
        )
        for _ in range(count)
    ]
    return list(seal(head, news, utc_now()))


def move(connection: Connection, world: World, **columns: Any) -> None:
    names = ", ".join(f"{name} = %({name})s" for name in columns)
    query = f"UPDATE ledger_head SET {names} WHERE workspace_id = %(w)s"  # noqa: S608
    connection.execute(query.encode(), columns | {"w": world.workspace_id})


def forward(connection: Connection, world: World) -> None:
    connection.execute("UPDATE ledger_head SET position = position + 1")


def far(connection: Connection, world: World) -> None:
    connection.execute("UPDATE ledger_head SET position = 9007199254740993")


def back(connection: Connection, world: World) -> None:
    [before] = PostgresLedger(connection, world.admin).page(after=1, limit=1)
    move(connection, world, position=before.position, hash=before.hash)


def rewritten(connection: Connection, world: World) -> None:
    connection.execute("UPDATE ledger_head SET hash = sha256('x')")


def later(connection: Connection, world: World) -> None:
    connection.execute("UPDATE ledger_head SET recorded_at = recorded_at + interval '1 day'")


def elsewhere(connection: Connection, world: World) -> None:
    connection.execute("UPDATE ledger_head SET workspace_id = %s", [new_id()])


def removed(connection: Connection, world: World) -> None:
    connection.execute("DELETE FROM ledger_head")


def orphan(connection: Connection, world: World) -> None:
    """An entry past the head, which would stand in every later writer's way."""
    [entry] = sealed(connection, world)
    append(connection, [entry])


def gap(connection: Connection, world: World) -> None:
    first, second = sealed(connection, world, 2)
    append(connection, [second])
    move(connection, world, position=second.position, hash=second.hash)
    del first


def unchained(connection: Connection, world: World) -> None:
    [entry] = sealed(connection, world)
    draft = replace(entry, prev_hash=bytes(32))
    forged = replace(draft, hash=entry_hash(draft))
    append(connection, [forged])
    move(connection, world, position=forged.position, hash=forged.hash)


def beside(connection: Connection, world: World) -> None:
    """A temporary table of the same name, which an unguarded search path would find first."""
    connection.execute("CREATE TEMPORARY TABLE ledger (LIKE public.ledger)")
    [entry] = sealed(connection, world)
    connection.execute(
        "INSERT INTO pg_temp.ledger SELECT * FROM public.ledger WHERE workspace_id = %s",
        [world.workspace_id],
    )
    connection.execute(
        "UPDATE pg_temp.ledger SET position = %s, hash = %s",
        [entry.position, entry.hash],
    )
    move(connection, world, position=entry.position, hash=entry.hash)


def append(connection: Connection, entries: list[Entry]) -> None:
    from cairn.adapters.postgres.sql import query
    from cairn.adapters.postgres.stores import _entry_row  # pyright: ignore[reportPrivateUsage]

    for entry in entries:
        connection.execute(query("ledger.append"), _entry_row(entry))


@pytest.mark.parametrize(
    "change",
    [forward, far, back, rewritten, later, elsewhere, removed, orphan, gap, unchained, beside],
)
def test_the_application_cannot_move_the_head_by_hand(
    database: "Database", world: World, change: Change
) -> None:
    with psycopg.connect(database.app_url) as connection:
        connection.execute(
            "SELECT set_config('cairn.workspace_id', %s, false)", [str(world.workspace_id)]
        )
        connection.commit()
        before = PostgresLedger(connection, world.admin).head()
        with pytest.raises((errors.RestrictViolation, errors.InsufficientPrivilege)):
            change(connection, world)
            connection.commit()
        connection.rollback()
        assert PostgresLedger(connection, world.admin).head() == before


def test_what_was_appended_moves_it_one_by_one_together_and_at_once(world: World) -> None:
    browse = Browse(transactions=StoreTransactions(world.pool))
    before = browse.verify_ledger(world.admin).checked
    world.tell(*(memory(f"Together {number}.") for number in range(40)))
    start = Barrier(3)

    def write(number: int) -> None:
        start.wait()
        for turn in range(5):
            world.tell(memory(f"At once {number}-{turn}."))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, range(3)))
    found = browse.verify_ledger(world.admin)
    assert (found.ok, found.checked >= before + 55) == (True, True)
