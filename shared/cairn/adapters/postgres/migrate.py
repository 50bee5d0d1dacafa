"""Brings a database to the newest schema. Runs as its owner; not used by the functions.

Migrations are numbered plain SQL. One is applied and recorded in one transaction, so whoever dies
in the middle leaves nothing half done. One that says `-- transactional: false` is for statements
that take no transaction (CREATE INDEX CONCURRENTLY): each commits by itself and may be repeated.

Those that say `-- squashes: ID` make together what the migrations up to ID made. A database that
older migrations made goes on with those in `before/`, and has the squashed ones recorded only.

Only one session migrates at a time: it holds an advisory lock, which PostgreSQL frees with the
session, however that ends.
"""

from __future__ import annotations

import argparse
import re
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors, sql
from psycopg.rows import dict_row, scalar_row

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

MIGRATIONS = Path(__file__).parent / "migrations"
AFTERWARDS = "post-apply"
LOCK = 0x636169726E  # any number that nobody else locks
WAIT_SECONDS = 60.0
"""For another migrator to end."""

LOCK_SECONDS = 5.0
"""For a lock on a table; whoever waits longer makes everybody after them wait, too."""

TRIES = 12
"""Of a migration that does not get its locks, with as many seconds between them."""

DIRECTIVE = re.compile(r"^-- (transactional|depends|squashes): (\S+)", re.MULTILINE)
STATEMENT = re.compile(r";[ \t]*$", re.MULTILINE)
CONCURRENT = re.compile(r"CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+)")

# The table is yoyo's, a library that applied the first 35 migrations of older databases.
RECORDS = """
CREATE TABLE IF NOT EXISTS _yoyo_migration (
  migration_hash varchar(64) NOT NULL PRIMARY KEY, migration_id varchar(255),
  applied_at_utc timestamp)
"""
RECORD = """
INSERT INTO _yoyo_migration (migration_hash, migration_id, applied_at_utc)
VALUES (encode(sha256(convert_to(%(id)s, 'UTF8')), 'hex'), %(id)s, now() AT TIME ZONE 'UTC')
ON CONFLICT DO NOTHING
"""
REMOVE = "DELETE FROM _yoyo_migration WHERE migration_id = %(id)s"
APPLIED = "SELECT migration_id FROM _yoyo_migration"
HOLDER = """
SELECT a.pid, a.application_name, a.backend_start
  FROM pg_locks l JOIN pg_stat_activity a USING (pid)
 WHERE l.locktype = 'advisory' AND l.granted AND l.classid = %(high)s AND l.objid = %(low)s
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
HELD_BY = "process {pid} ({application_name}), connected since {backend_start:%H:%M:%S}"
INVALID = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE c.relname = ANY (%(names)s) AND NOT i.indisvalid
"""
SESSION = {
    "tcp_keepalives_idle": "30",  # a migrator that vanished holds its lock a minute at most
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "3",
    "client_connection_check_interval": "10s",
}

Connection = psycopg.Connection[Any]


class MigrationsBusy(Exception):
    """Another session migrates this database, and did not end in time."""


class DatabaseTooOld(Exception):
    """A release before the last one made the database: one in between has to migrate it first."""


class MigrationsLeft(Exception):
    """The time is over and some migrations are left: run again. `applied` are the names done."""

    def __init__(self, applied: list[str], left: list[str]) -> None:
        super().__init__(f"{len(left)} migrations are left, {left[0]} first")
        self.applied = applied
        self.left = left


class StatementTooLong(Exception):
    """A whole run was not enough for one statement of a migration; it has to be cut in pieces."""


OPTIONS = (
    "-c search_path=public,pg_temp -c statement_timeout=0 -c idle_in_transaction_session_timeout=0"
    " -c default_transaction_read_only=off -c row_security=on"
)
"""What counts more than what was altered on the owner's role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One file: its name without the ending, and what it says."""

    id: str
    text: str
    transactional: bool = True
    depends: str | None = None
    squashes: str | None = None
    """The last of the older migrations whose schema it makes a part of."""

    @property
    def statements(self) -> list[str]:
        """What is executed at a time: all of it, or one statement after the other."""
        if self.transactional:
            return [self.text]
        parts = map(without_comments, STATEMENT.split(self.text))
        return [part for part in parts if part]


def migrate(
    owner_url: str,
    app_password: str | None = None,
    *,
    iam: bool = False,
    seconds: float | None = None,
    folder: Path = MIGRATIONS,
) -> list[str]:
    """Apply what is missing, in order, and return the names of what was applied or recorded.

    `app_password` is set for the functions' role when given; with `iam` the role signs in with
    IAM tokens instead. Safe to run again, and from two places at once.

    Raises MigrationsBusy and DatabaseTooOld; with `seconds`, MigrationsLeft when they are over, and
    StatementTooLong when nothing at all was done in them.
    """
    with alone(owner_url) as session:
        names = Run(session, seconds).apply(folder)
        _let_the_functions_in(session, app_password, iam=iam)
        return names


@contextmanager
def alone(owner_url: str) -> Generator[Connection]:
    """Connect as the owner and hold the lock of migrators while the block runs."""
    with (
        psycopg.connect(
            owner_url, autocommit=True, application_name="cairn-migrate", options=OPTIONS
        ) as session,
        _locked(session),
    ):
        yield session


def read(folder: Path = MIGRATIONS) -> list[Migration]:
    """Return the migrations of a folder in their order."""
    migrations: list[Migration] = []
    for path in sorted(folder.glob("[0-9]*.sql")):
        text = path.read_text(encoding="utf-8")
        directives = dict(DIRECTIVE.findall(text))
        migration = Migration(
            id=path.stem,
            text=text,
            transactional=directives.get("transactional", "true") == "true",
            depends=directives.get("depends"),
            squashes=directives.get("squashes"),
        )
        migrations.append(migration)
    return migrations


def missing(folder: Path, applied: set[str]) -> list[Migration]:
    """Return what a database with the migrations `applied` lacks, in order.

    Raises DatabaseTooOld when the older ones it lacks are not in `before/` any more.
    """
    migrations, before = read(folder), read(folder / "before")
    older = {id_ for id_ in applied if before and id_ < before[0].id}
    if older:
        if before[0].depends not in older:
            raise DatabaseTooOld(
                f"the database is at {max(older)}, and is migrated from {before[0].depends} on:"
                " install a release in between first"
            )
        recorded = [replace(each, text="") if each.squashes else each for each in migrations]
        migrations = [*before, *recorded]
    return [migration for migration in migrations if migration.id not in applied]


class Run:
    """One run of a migrator, in one session, for some seconds from now or to its end."""

    def __init__(self, session: Connection, seconds: float | None) -> None:
        self._session = session
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._done = 0  # statements of this run

    def build(self, migration: Migration) -> None:
        """Execute what takes no transaction and may be repeated; it is not recorded."""
        try:
            self._one_by_one(migration)
        except errors.QueryCanceled as canceled:
            raise MigrationsLeft([], [migration.id]) from canceled

    def apply(self, folder: Path) -> list[str]:
        """Apply what the database lacks of a folder; return the names. Raises as `migrate` does."""
        self._session.execute(RECORDS)
        applied_before = set(self._session.cursor(row_factory=scalar_row).execute(APPLIED))
        pending = missing(folder, applied_before)
        afterwards = folder / f"{AFTERWARDS}.sql"
        applied: list[str] = []
        try:
            for migration in pending:
                self._apply_in_tries(migration)
                applied.append(migration.id)
            if afterwards.exists() and (pending or AFTERWARDS not in applied_before):
                text = afterwards.read_text(encoding="utf-8")
                self._apply_in_tries(Migration(id=AFTERWARDS, text=text))
        except errors.QueryCanceled as canceled:
            left = [each.id for each in pending if each.id not in applied] or [AFTERWARDS]
            if not self._done:
                raise StatementTooLong(
                    f"{left[0]}: a statement takes longer than a whole run; cut it in pieces"
                ) from canceled
            raise MigrationsLeft(applied, left) from canceled
        return applied

    def _apply_in_tries(self, migration: Migration) -> None:
        """Apply a migration; who does not get a lock lets the others pass, and tries again."""
        for left in reversed(range(TRIES)):
            try:
                return self._apply(migration)
            except (errors.LockNotAvailable, errors.DeadlockDetected):
                if not left:
                    raise
                time.sleep(min(TRIES - left, self._left()))
        return None

    def _apply(self, migration: Migration) -> None:
        if migration.transactional:
            with self._session.transaction():
                self._bound(lock_seconds=LOCK_SECONDS)
                if migration.text:
                    self._execute(migration.text)
                self._record(migration)
            return
        self._one_by_one(migration)
        with self._session.transaction():
            self._record(migration)

    def _one_by_one(self, migration: Migration) -> None:
        self._bound(lock_seconds=0)  # what is built concurrently waits, and nobody waits for it
        self._drop_half_built(migration)
        for statement in migration.statements:
            self._bound(lock_seconds=0)
            self._execute(statement)

    def _execute(self, statement: str) -> None:
        self._session.execute(statement.encode())
        self._done += 1

    def _record(self, migration: Migration) -> None:
        """Keep that it was applied, and until it has run again, that what follows has not."""
        if migration.id != AFTERWARDS:
            self._session.execute(REMOVE, {"id": AFTERWARDS})
        self._session.execute(RECORD, {"id": migration.id})

    def _drop_half_built(self, migration: Migration) -> None:
        """Drop indexes that a run before began and did not end: they are kept up, and not used."""
        names = CONCURRENT.findall(migration.text)
        cursor = self._session.cursor(row_factory=scalar_row)
        for name in cursor.execute(INVALID, {"names": names}).fetchall():
            drop = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}")
            self._session.execute(drop.format(sql.Identifier(name)))

    def _bound(self, *, lock_seconds: float) -> None:
        """Bound the waits of what comes next: for locks, and for its end."""
        left = self._left()
        if left <= 0:
            raise errors.QueryCanceled("the time of this run is over")
        bounds = {"lock_timeout": lock_seconds, "statement_timeout": 0 if left == ENDLESS else left}
        for name, seconds in bounds.items():
            value = "0" if not seconds else str(max(1, int(seconds * 1000)))
            self._session.execute("SELECT set_config(%s, %s, false)", (name, value))

    def _left(self) -> float:
        return ENDLESS if self._deadline is None else max(0.0, self._deadline - time.monotonic())


ENDLESS = float("inf")


@contextmanager
def _locked(session: Connection) -> Generator[None]:
    """Hold the lock of migrators while the block runs; the session's end frees it, too."""
    for name, value in SESSION.items():
        # not known to this system, or not for a unix socket
        with suppress(errors.InvalidParameterValue):
            session.execute("SELECT set_config(%s, %s, false)", (name, value))
    _wait_for(lambda: _taken(session), session)
    try:
        yield
    finally:
        if not session.closed:
            session.execute("SELECT set_config('lock_timeout', '0', false)")
            session.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def _taken(session: Connection) -> bool:
    cursor = session.cursor(row_factory=scalar_row)
    return bool(cursor.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone())


def _wait_for(taken: Callable[[], bool], session: Connection) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not taken():
        if time.monotonic() >= until:
            high, low = divmod(LOCK, 2**32)
            cursor = session.cursor(row_factory=dict_row)
            row = cursor.execute(HOLDER, {"high": high, "low": low}).fetchone()
            who = HELD_BY.format_map(row) if row else "?"
            raise MigrationsBusy(f"another session migrates this database: {who}")
        time.sleep(0.2)


def _let_the_functions_in(session: Connection, app_password: str | None, *, iam: bool) -> None:
    if app_password is not None:
        session.execute(
            sql.SQL("ALTER ROLE cairn_app PASSWORD {}").format(sql.Literal(app_password))
        )
    if iam:
        session.execute("GRANT rds_iam TO cairn_app")


def without_comments(statement: str) -> str:
    """Return a statement without lines that are comments only."""
    lines = (line for line in statement.splitlines() if not line.lstrip().startswith("--"))
    return "\n".join(lines).strip()


def main() -> None:
    """Migrate the database named on the command line."""
    parser = argparse.ArgumentParser(description="Bring a Cairn database to the newest schema.")
    parser.add_argument("owner_url")
    print("\n".join(migrate(parser.parse_args().owner_url)) or "Nothing to do.")  # noqa: T201


if __name__ == "__main__":
    main()
