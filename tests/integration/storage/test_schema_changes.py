"""A migration expands first and contracts later: the release before runs on what it leaves.

Functions are replaced after the migrations, one by one, and a deployment that fails goes back to
the old ones: for minutes, or for days, yesterday's statements run on today's schema.
"""

from __future__ import annotations

import re
import secrets
import shutil
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.support.released import LAST_MIGRATION, released

from cairn.adapters.postgres.migrate import CONCURRENT, MIGRATIONS, migrate, read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database, Server

PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
NEW = [one for one in read() if one.id > LAST_MIGRATION]
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
TABLES = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'"


@pytest.fixture(scope="module")
def before(
    postgres_cluster: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """A database as the last release left it."""
    from infra.local.postgres import drop_database
    from tests.plugins.postgres import Database

    name = f"released_{secrets.token_hex(6)}"
    folder = tmp_path_factory.mktemp("migrations")
    for path in MIGRATIONS.glob("*.sql"):
        if path.stem <= LAST_MIGRATION or not path.stem[0].isdigit():
            shutil.copy(path, folder)
    postgres_cluster.cluster.prepare(owner_password=postgres_cluster.owner_password, database=name)
    migrate(postgres_cluster.owner_url(name), postgres_cluster.app_password, folder=folder)
    yield Database(
        name=name,
        owner_url=postgres_cluster.owner_url(name),
        app_url=postgres_cluster.app_url(name),
        server=postgres_cluster,
    )
    with postgres_cluster.cluster.connect() as connection:
        drop_database(connection, name)


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
    assert {one for one in added if one.split(".")[0] in known} == set()


def test_migrations_form_one_chain() -> None:
    ids = [one.id for one in read()]
    assert [one[:4] for one in ids] == [f"{number:04d}" for number in range(1, len(ids) + 1)]
    for migration in NEW:
        said = re.findall(r"^-- depends: (\S+)", migration.text, re.MULTILINE)
        assert said == [ids[ids.index(migration.id) - 1]]


@pytest.mark.parametrize("migration", NEW, ids=lambda one: one.id)
def test_an_index_of_a_table_with_rows_is_built_while_others_write(migration: Any) -> None:
    """In a migration of its own that says `-- transactional: false`; see CONTRIBUTING.md."""
    own = set(TABLE.findall(migration.text))
    assert [table for table in INDEX.findall(migration.text) if table not in own] == []


@pytest.mark.parametrize(
    "migration", [one for one in read() if not one.transactional], ids=lambda one: one.id
)
def test_statements_that_commit_by_themselves_may_be_repeated(migration: Any) -> None:
    assert CONCURRENT.search(migration.text)
    for statement in migration.statements:
        assert REPEATABLE.match(statement), statement
