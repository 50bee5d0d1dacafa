"""What a migrator owes whoever deploys after it died, beside it, or under load."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.plugins.waiting import eventually

from cairn.adapters.postgres import migrate as migrating
from cairn.adapters.postgres.migrate import (
    MigrationsBusy,
    MigrationsLeft,
    StatementTooLong,
    migrate,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Server

THINGS = {"0001.things": "CREATE TABLE thing (id int); INSERT INTO thing VALUES (1), (1);"}
INDEX = """-- depends: 0001.things
-- transactional: false
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS thing_id ON thing (id);
"""
MIGRATOR = """
import sys; from pathlib import Path; from cairn.adapters.postgres.migrate import migrate
migrate(sys.argv[1], folder=Path(sys.argv[2]))
"""


@pytest.fixture
def url(postgres_cluster: Server) -> Iterator[str]:
    """An empty database of the owner."""
    from infra.local.postgres import create_database, create_owner, drop_database

    name = f"migrate_{secrets.token_hex(6)}"
    with postgres_cluster.cluster.connect() as connection:
        create_owner(connection, postgres_cluster.owner_password)
        create_database(connection, name)
    yield postgres_cluster.owner_url(name)
    with postgres_cluster.cluster.connect() as connection:
        drop_database(connection, name)


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text, encoding="utf-8")
    return folder


def rows(url: str, query: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        return [row[0] for row in connection.execute(query.encode())]


def applied(url: str) -> list[str]:
    return rows(url, "SELECT migration_id FROM _yoyo_migration ORDER BY 1")


def sleeping(url: str) -> bool:
    found = "SELECT 1 FROM pg_stat_activity WHERE query ~ 'pg_sleep' AND pid <> pg_backend_pid()"
    return bool(rows(url, f"{found} AND datname = current_database()"))


def test_a_migrator_killed_in_the_middle_leaves_nothing_that_stops_the_next(
    url: str, tmp_path: Path
) -> None:
    slow = {"0002.slow": "CREATE TABLE half (id int); SELECT pg_sleep(60); CREATE TABLE rest ();"}
    command = [sys.executable, "-c", MIGRATOR, url, str(written(tmp_path, {**THINGS, **slow}))]
    with subprocess.Popen(command) as killed:
        eventually(lambda: sleeping(url), seconds=30)
        killed.send_signal(signal.SIGKILL)
    written(tmp_path, {"0002.slow": "CREATE TABLE half (id int);"})
    assert migrate(url, folder=tmp_path) == ["0002.slow"]
    assert applied(url) == ["0001.things", "0002.slow"]


def test_the_lock_that_an_older_migrator_left_behind_stops_nobody(url: str, tmp_path: Path) -> None:
    """It was a row of a table, and stayed when whoever wrote it was killed."""
    with psycopg.connect(url, autocommit=True) as older:
        older.execute("CREATE TABLE yoyo_lock (locked int PRIMARY KEY, ctime timestamp, pid int)")
        older.execute("INSERT INTO yoyo_lock VALUES (1, now(), 7)")
    assert migrate(url, folder=written(tmp_path, THINGS)) == ["0001.things"]


def test_of_two_at_once_one_applies_and_the_other_finds_nothing_to_do(
    url: str, tmp_path: Path
) -> None:
    folder = written(tmp_path, {**THINGS, "0002.slow": "SELECT pg_sleep(0.5);"})
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: migrate(url, folder=folder), range(3)))
    assert sorted(map(len, done)) == [0, 0, 2]


def test_who_waits_for_another_migrator_too_long_is_told_for_whom(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "WAIT_SECONDS", 0.3)
    with psycopg.connect(url, autocommit=True, application_name="other-migrator") as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", (migrating.LOCK,))
        with pytest.raises(MigrationsBusy, match=f"{holder.info.backend_pid} .other-migrator"):
            migrate(url, folder=tmp_path)


def test_a_migration_that_does_not_get_its_lock_lets_readers_pass_and_tries_again(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrating, "LOCK_SECONDS", 0.1)
    migrate(url, folder=written(tmp_path, THINGS))
    written(tmp_path, {"0002.wider": "ALTER TABLE thing ADD COLUMN name text;"})
    with psycopg.connect(url) as reader, ThreadPoolExecutor(1) as pool:
        reader.execute("SELECT * FROM thing")  # a transaction that goes on
        wider = pool.submit(migrate, url, folder=tmp_path)
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
        eventually(lambda: rows(url, waits) == [1], seconds=10)
        began = time.monotonic()
        assert rows(url, "SELECT count(*) FROM thing") == [2]  # behind it in the queue
        assert time.monotonic() - began < migrating.TRIES
        reader.rollback()
        assert wider.result(timeout=30) == ["0002.wider"]


def test_an_index_that_was_left_half_built_is_built_anew(url: str, tmp_path: Path) -> None:
    folder = written(tmp_path, {**THINGS, "0002.index": INDEX})
    with pytest.raises(psycopg.errors.UniqueViolation):
        migrate(url, folder=folder)
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'thing_id'::regclass"
    assert (applied(url), rows(url, valid)) == (["0001.things"], [False])
    rows(url, "DELETE FROM thing RETURNING 1")
    assert migrate(url, folder=folder) == ["0002.index"]
    assert rows(url, valid) == [True]


def test_an_index_is_built_while_others_write(url: str, tmp_path: Path) -> None:
    migrate(url, folder=written(tmp_path, THINGS))
    written(tmp_path, {"0002.index": INDEX.replace("UNIQUE ", "")})
    with psycopg.connect(url) as writer:
        writer.execute("INSERT INTO thing VALUES (2)")
        with ThreadPoolExecutor(1) as pool:
            building = pool.submit(migrate, url, folder=tmp_path)
            waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            eventually(lambda: rows(url, waits) == [1], seconds=10)
            assert rows(url, "INSERT INTO thing VALUES (3) RETURNING id") == [3]
            writer.commit()
            assert building.result(timeout=30) == ["0002.index"]


def test_what_does_not_fit_in_one_run_is_done_in_the_next(url: str, tmp_path: Path) -> None:
    files = {f"000{number}.slow": "SELECT pg_sleep(0.4);" for number in range(1, 5)}
    folder = written(tmp_path, files)
    with pytest.raises(MigrationsLeft) as first:
        migrate(url, folder=folder, seconds=1)
    assert first.value.applied == applied(url)
    assert migrate(url, folder=folder, seconds=30) == first.value.left
    assert applied(url) == sorted(files)


def test_a_statement_that_no_run_is_long_enough_for_is_named_instead_of_tried_for_ever(
    url: str, tmp_path: Path
) -> None:
    folder = written(tmp_path, {"0001.endless": "SELECT pg_sleep(60);"})
    with pytest.raises(StatementTooLong, match=r"0001\.endless"):
        migrate(url, folder=folder, seconds=0.5)


def test_what_follows_every_migration_is_made_up_for_when_it_was_not_reached(
    url: str, tmp_path: Path
) -> None:
    folder = written(tmp_path, {**THINGS, "post-apply": "SELECT 1 / 0"})
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(url, folder=folder)
    written(tmp_path, {"post-apply": "CREATE TABLE IF NOT EXISTS after_all ()"})
    assert migrate(url, folder=folder) == []
    assert rows(url, "SELECT to_regclass('after_all') IS NOT NULL") == [True]


def test_a_session_that_is_lost_frees_the_lock(url: str, tmp_path: Path) -> None:
    folder = written(tmp_path, {"0001.slow": "SELECT pg_sleep(60);"})
    failed: list[BaseException] = []

    def lost() -> None:
        try:
            migrate(url, folder=folder)
        except psycopg.Error as problem:
            failed.append(problem)

    thread = threading.Thread(target=lost)
    thread.start()
    eventually(lambda: sleeping(url), seconds=10)
    rows(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ 'pg_sleep'"
         " AND pid <> pg_backend_pid() AND datname = current_database()")  # fmt: skip
    thread.join(10)
    assert failed
    written(tmp_path, {"0001.slow": "SELECT 1;"})
    assert migrate(url, folder=folder) == ["0001.slow"]
