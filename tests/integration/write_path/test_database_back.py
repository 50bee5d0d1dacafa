"""A database that goes away and comes back: the pool tries again with the next request."""

import re
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

import pytest

from cairn.adapters.postgres import database as module
from cairn.adapters.postgres.database import Database as Pool
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

OUTAGE = 4  # requests refused, about a second each


@pytest.fixture
def door(database: "Database", tmp_path: Path) -> Path:
    """A way to the server's socket folder that can be taken away."""
    link = tmp_path / "door"
    link.symlink_to(database.server.cluster.socket_folder)
    return link


@pytest.fixture
def url(database: "Database", door: Path) -> str:
    through = re.sub(r"host=[^&]*", f"host={door}", database.app_url)
    assert str(door) in through
    return through


@pytest.fixture
def pool(url: str) -> Iterator[Pool]:
    opened = Pool(url, wait_seconds=1.0)
    yield opened
    opened.close()


def answers(pool: Pool) -> bool:
    try:
        with pool.connection() as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except Unavailable:
        return False


def drop_connections(pool: Pool) -> None:
    with pytest.raises(Unavailable), pool.connection() as connection:
        connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def test_the_first_request_after_an_outage_is_answered(pool: Pool, door: Path) -> None:
    assert answers(pool)
    away = door.readlink()
    door.unlink()
    drop_connections(pool)
    assert [answers(pool) for _ in range(OUTAGE)] == [False] * OUTAGE
    door.symlink_to(away)
    assert answers(pool)


def test_a_request_waits_for_a_database_that_wakes(
    url: str, door: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ASK_AGAIN_SECONDS", 2.0)
    away = door.readlink()
    door.unlink()
    pool = Pool(url, wait_seconds=20.0)
    waking = Timer(2.5, door.symlink_to, [away])  # the pool gives up after about a second
    waking.start()
    try:
        assert answers(pool)
    finally:
        waking.join()
        pool.close()
