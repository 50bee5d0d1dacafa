"""A migration expands first and contracts later: the release before runs on what it leaves.

Functions are replaced after the migrations, one by one, and a deployment that fails goes back to
the old ones: for minutes, or for days, yesterday's statements run on today's schema.
"""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.support.released import (
    LAST_MIGRATION,
    kept,
    migrations_to,
    released,
    restore,
    rows_of,
)
from tests.support.schema import schema_of

from cairn.adapters.postgres.migrate import (
    CONCURRENT,
    MIGRATIONS,
    DatabaseTooOld,
    migrate,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database, Server

PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
BEFORE = read(MIGRATIONS / "before")
NEW = [*BEFORE, *read()]
LAST_OLD = "0044.allowances"
"""The last one before they were squashed."""

INDEX = re.compile(
    r"CREATE (?:UNIQUE )?INDEX(?: IF NOT EXISTS)? \w+\s+ON (?!ONLY)(?:public\.)?(\w+)"
)
TABLE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(?:public\.)?(\w+)")
REPEATABLE = re.compile(
    r"CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS |DROP INDEX CONCURRENTLY IF EXISTS "
    r"|CREATE (?:UNIQUE )?INDEX IF NOT EXISTS \w+\s+ON ONLY |ALTER INDEX \w+ ATTACH PARTITION "
)
REQUIRED = """
SELECT c.table_name || '.' || c.column_name FROM information_schema.columns c
 WHERE c.table_schema = 'public' AND c.is_nullable = 'NO' AND c.column_default IS NULL
   AND c.is_generated = 'NEVER' AND c.is_identity = 'NO'
"""
USED = """
SELECT agent_slug FROM principal WHERE agent_slug IS NOT NULL
UNION SELECT agent_slug FROM subscription UNION SELECT unnest(agents) FROM node
"""
TABLES = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'"


@contextmanager
def made_by(server: Server, last: str, folder: Path) -> Generator[Database]:
    """A database that the old migrations made, up to `last`."""
    from infra.local.postgres import drop_database
    from tests.plugins.postgres import Database

    name = f"released_{secrets.token_hex(6)}"
    server.cluster.prepare(owner_password=server.owner_password, database=name)
    migrate(server.owner_url(name), server.app_password, folder=migrations_to(last, folder))
    yield Database(
        name=name, owner_url=server.owner_url(name), app_url=server.app_url(name), server=server
    )
    with server.cluster.connect() as connection:
        drop_database(connection, name)


@pytest.fixture(scope="module")
def before(
    postgres_cluster: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """A database as the last release left it."""
    folder = tmp_path_factory.mktemp("migrations")
    with made_by(postgres_cluster, LAST_MIGRATION, folder) as made:
        yield made


def schema(database: Database) -> list[str]:
    with database.connect_as_superuser() as root:
        return schema_of(root)


def rows(database: Database, like: Iterable[str] = ()) -> dict[str, str]:
    with database.connect_as_superuser() as root:
        return rows_of(root, like)


@pytest.mark.parametrize("last", [LAST_MIGRATION, "0039.calls-of-agents", LAST_OLD])
def test_a_database_that_older_migrations_made_gets_the_schema_of_a_new_one_and_keeps_its_rows(
    last: str, postgres_cluster: Server, database: Database, tmp_path: Path
) -> None:
    with made_by(postgres_cluster, last, tmp_path) as upgraded:
        restore(upgraded)
        stored = rows(upgraded)
        assert len(stored) > len(kept("rows")) - 2  # before 0042 there are no settings
        lacking = [item.id for item in NEW if item.id > last]
        assert migrate(upgraded.owner_url) == lacking
        assert set(schema(upgraded)) ^ set(schema(database)) == set()
        now = rows(upgraded, like=stored)
        assert {name: now.pop(name) for name in stored} == stored
        assert {name.partition(" ")[0] for name in now} <= {"agent"}
        assert registered(upgraded) == used(upgraded)
        assert migrate(upgraded.owner_url) == []


def registered(database: Database) -> set[str]:
    with database.connect_as_superuser() as root:
        asked = root.execute("SELECT agent, agent_slug, of_person FROM principal").fetchall()
        assert all(agent == slug and person == (slug is None) for agent, slug, person in asked)
        return {row[0] for row in root.execute("SELECT slug FROM agent")}


def used(database: Database) -> set[str]:
    """The slugs that keys, subscriptions and nodes name."""
    with database.connect_as_superuser() as root:
        return {row[0] for row in root.execute(USED.encode())}


def test_a_migrated_database_is_left_alone(database: Database) -> None:
    made = schema(database)
    assert migrate(database.owner_url) == []
    assert schema(database) == made


def test_a_database_from_before_the_last_release_is_refused_with_the_way_to_go(
    postgres_cluster: Server, tmp_path: Path
) -> None:
    with made_by(postgres_cluster, "0033.redaction-profiles", tmp_path) as old:
        made = schema(old)
        message = "at 0033.redaction-profiles, and is migrated from 0034.ticket-messages on"
        with pytest.raises(DatabaseTooOld, match=message):
            migrate(old.owner_url)
        assert schema(old) == made


def refused(database: Database) -> dict[str, str]:
    """Every statement of the last release that cannot be planned here, with the reason."""
    found: dict[str, str] = {}
    with psycopg.connect(database.app_url, autocommit=True) as connection:
        for name, text in released().items():
            if not text.lstrip().upper().startswith(PLANNED):
                continue
            try:
                # planned, and the rights looked at, as the functions' role; not run
                connection.execute(f"EXPLAIN (GENERIC_PLAN) {text}".encode())
            except psycopg.Error as problem:
                found[name] = str(problem).splitlines()[0]
    return found


def column(database: Database, query: str) -> set[str]:
    with psycopg.connect(database.owner_url) as connection:
        return {row[0] for row in connection.execute(query.encode())}


def test_what_the_last_release_asks_is_answered_by_the_new_schema(
    before: Database, database: Database
) -> None:
    never = refused(before)  # parameters whose type only the caller says
    assert len(never) < len(released()) / 4
    assert {name: why for name, why in refused(database).items() if name not in never} == {}


def test_what_the_last_release_writes_lacks_no_column(before: Database, database: Database) -> None:
    known = column(before, TABLES)
    added = column(database, REQUIRED) - column(before, REQUIRED)
    assert {item for item in added if item.split(".")[0] in known} == set()


def test_migrations_form_one_chain() -> None:
    assert [item.id[:4] for item in NEW] == [f"{35 + place:04d}" for place in range(len(NEW))]
    assert [BEFORE[0].depends, BEFORE[-1].id] == [LAST_MIGRATION, LAST_OLD]
    for chain in (BEFORE, read()):
        assert [item.depends for item in chain[1:]] == [item.id for item in chain[:-1]]


@pytest.mark.parametrize("migration", NEW, ids=lambda item: item.id)
def test_an_index_of_a_table_with_rows_is_built_while_others_write(migration: Any) -> None:
    """In a migration of its own that says `-- transactional: false`; see CONTRIBUTING.md."""
    own = set(TABLE.findall(migration.text))
    assert [table for table in INDEX.findall(migration.text) if table not in own] == []


@pytest.mark.parametrize(
    "migration", [item for item in NEW if not item.transactional], ids=lambda item: item.id
)
def test_statements_that_commit_by_themselves_may_be_repeated(migration: Any) -> None:
    assert CONCURRENT.search(migration.text)
    for statement in migration.statements:
        assert REPEATABLE.match(statement), statement
