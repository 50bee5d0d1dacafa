"""Sessions are what Cairn makes them, whatever was altered on the role or on the database."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.migrate import migrate
from cairn.adapters.postgres.sweeping import OldestRow
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.operations.sweep import PROMPT

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ALTERED = {
    "search_path": "evil, public",
    "statement_timeout": "1",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "1",
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "row_security": "off",
    "timezone": "Pacific/Kiritimati",
}
UNLIMITED = "-c statement_timeout=0 -c idle_in_transaction_session_timeout=0 -c row_security=on"
PLANTED = ("ledger_head", "ledger", "node", "outbox", "workspace")


def alter(root: psycopg.Connection[Any], target: sql.Composed, changes: dict[str, str]) -> None:
    for name, value in changes.items():
        change = sql.SQL("ALTER {} SET {} = {}").format(target, sql.SQL(name), sql.Literal(value))
        root.execute(change if name != "search_path" else change.as_string().replace("'", ""))


@pytest.fixture(params=["the database", "the role there"])
def altered(request: pytest.FixtureRequest, database: "Database") -> Iterator[None]:
    """Tables of ours planted in a schema that is looked through first, and settings that break."""
    name = sql.Identifier(database.name)
    targets = [sql.SQL("DATABASE {}").format(name)]
    if request.param == "the role there":
        roles = [sql.Identifier(role) for role in ("cairn_app", "cairn_owner")]
        targets = [sql.SQL("ROLE {} IN DATABASE {}").format(role, name) for role in roles]
    with database.connect_as_superuser() as root:
        root.autocommit = True
        root.execute("DROP SCHEMA IF EXISTS evil CASCADE")
        root.execute("CREATE SCHEMA evil")
        root.execute("GRANT USAGE ON SCHEMA evil TO PUBLIC")
        for table in PLANTED:
            root.execute(f"CREATE TABLE evil.{table} (LIKE public.{table})")
            root.execute(f"GRANT ALL ON evil.{table} TO PUBLIC")
        for target in targets:
            alter(root, target, ALTERED)
    yield
    with database.server.cluster.connect() as root:
        for target in targets:
            root.execute(sql.SQL("ALTER {} RESET ALL").format(target))


@pytest.mark.usefixtures("altered")
def test_the_application_reads_and_writes_its_own_tables_in_its_own_time(
    database: "Database",
) -> None:
    world: World = open_world(database.owner_url, database.app_url, f"sessions-{new_id()}")
    try:
        assert migrate(database.owner_url) == []
        world.tell(memory("The staging database listens on port 6432."))
        assert OldestRow(world.pool, PROMPT)() is not None
        with world.pool.connection() as connection:
            shown = {
                name: connection.execute(sql.SQL("SHOW {}").format(sql.SQL(name))).fetchone()
                for name in ALTERED
            }
    finally:
        world.pool.close()
    assert shown == {
        "search_path": ("public,pg_temp",),
        "statement_timeout": ("30s",),
        "lock_timeout": ("2s",),
        "idle_in_transaction_session_timeout": ("5min",),
        "default_transaction_isolation": ("read committed",),
        "default_transaction_read_only": ("off",),
        "row_security": ("on",),
        "timezone": ("UTC",),
    }
    with psycopg.connect(database.app_url, options=UNLIMITED) as intruder:
        for table in PLANTED:
            name = sql.Identifier("evil", table)
            found = intruder.execute(sql.SQL("SELECT FROM {}").format(name)).fetchall()
            assert found == [], table


def test_what_is_read_at_one_moment_leaves_the_next_transaction_as_ever(
    database: "Database",
) -> None:
    world = open_world(database.owner_url, database.app_url, "moments")
    only = Pool(database.app_url, size=1)
    try:
        shown = []
        for one_moment in (True, False):
            with bound(only, world.admin, one_moment=one_moment) as connection:
                shown.append(connection.execute("SHOW transaction_isolation").fetchone())
    finally:
        only.close()
        world.pool.close()
    assert shown == [("repeatable read",), ("read committed",)]


def test_one_lost_connection_lets_the_others_be_asked_before_they_are_lent(
    database: "Database",
) -> None:
    pool = Pool(database.app_url, size=2)
    with ThreadPoolExecutor(2) as threads:
        both = Barrier(2)

        def meet() -> None:
            with pool.connection() as connection:
                connection.execute("SELECT 1")
                both.wait(10)

        for held in [threads.submit(meet), threads.submit(meet)]:
            held.result()
    with database.connect_as_superuser() as root:
        root.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = 'cairn_app'"
        )
    with pytest.raises(Unavailable), pool.connection() as connection:
        connection.execute("SELECT 1")
    with pool.connection() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    pool.close()
