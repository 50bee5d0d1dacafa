"""The embedded PostgreSQL has Aurora's roles, and keeps what was committed through a kill."""

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from infra.local.layout import PROJECT, SOCKET_FOLDER_LIMIT, Layout
from infra.local.postgres import OWNER, Cluster
from infra.local.processes import Daemon

if TYPE_CHECKING:
    from tests.plugins.postgres import Server

DEFAULTS = (
    "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = %s"
)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(
        data=tmp_path / "data",
        socket_folder=tmp_path / "socket",
        superuser_password="for-this-test",
        daemon=Daemon(
            name="postgres", pid_file=tmp_path / "pid.json", log_file=tmp_path / "postgres.log"
        ),
    )
    cluster.start()
    yield cluster
    cluster.stop()


def test_the_owner_has_auroras_attributes(postgres_cluster: "Server") -> None:
    postgres_cluster.cluster.prepare(owner_password=postgres_cluster.owner_password)
    with postgres_cluster.cluster.connect() as connection:
        attributes = connection.execute(DEFAULTS, (OWNER,)).fetchone()
    assert attributes == (False, False, True, True)


def test_the_database_has_pgvector_and_belongs_to_the_owner(postgres_cluster: "Server") -> None:
    postgres_cluster.cluster.prepare(owner_password=postgres_cluster.owner_password)
    with psycopg.connect(postgres_cluster.owner_url("cairn")) as connection:
        assert connection.execute("SELECT '[1,2]'::halfvec::text").fetchone() == ("[1,2]",)
        connection.execute("CREATE TABLE mine (id int)")
        connection.rollback()


def test_a_wrong_password_is_refused(postgres_cluster: "Server") -> None:
    wrong = replace(postgres_cluster.cluster, superuser_password="wrong")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        wrong.connect()


def test_a_commit_outlives_a_kill_of_the_server(cluster: Cluster) -> None:
    with cluster.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS id")
    server = cluster.daemon.process()
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    assert cluster.start()
    with cluster.connect() as connection:
        assert connection.execute("SELECT id FROM kept").fetchone() == (1,)


def test_a_server_whose_pid_file_was_lost_is_replaced(cluster: Cluster) -> None:
    cluster.daemon.pid_file.unlink()
    assert cluster.start()
    assert cluster.is_running()


def test_writes_are_flushed_to_disk_and_many_workers_may_connect(cluster: Cluster) -> None:
    with cluster.connect() as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
        assert connection.execute("SHOW max_connections").fetchone() == ("300",)


def test_a_deep_folder_gets_a_short_socket_path() -> None:
    deep = Layout(project=PROJECT, base=Path("/home") / ("x" * 120) / ".local")
    assert len(str(deep.socket_folder).encode()) <= SOCKET_FOLDER_LIMIT
    assert deep.socket_folder != Layout(project=PROJECT, base=deep.base.parent).socket_folder
