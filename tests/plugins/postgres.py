"""One embedded PostgreSQL a test run, a migrated template, a cloned database for each module.

Commits are real and roles are as on Aurora; only what protects from a power cut is off. The data
are in memory where there is room: a clone, some 2,700 files, takes a tenth of the time there.
"""

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import psycopg
    from infra.local.postgres import Cluster, Distribution

TEMPLATE = "cairn_template"
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "128MB",
    "max_wal_size": "256MB",
}
MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
"""What must be left there; a run takes less than 1 GB, and several share it."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """The run's cluster with the passwords of its roles."""

    cluster: "Cluster"
    owner_password: str = field(repr=False)
    app_password: str = field(repr=False)

    def owner_url(self, database: str) -> str:
        """As the owner: Aurora's master attributes, no superuser."""
        from infra.local.postgres import OWNER

        return self.cluster.url(OWNER, self.owner_password, database)

    def app_url(self, database: str) -> str:
        """As the role of the functions, which owns nothing."""
        from infra.local.postgres import APP_ROLE

        return self.cluster.url(APP_ROLE, self.app_password, database)


@dataclass(frozen=True, kw_only=True)
class Database:
    """A migrated, empty database of its own."""

    name: str
    owner_url: str = field(repr=False)
    app_url: str = field(repr=False)
    server: Server

    def connect_as_superuser(self) -> "psycopg.Connection":
        """What an intruder with the disk could do; Cairn itself never has this."""
        return self.server.cluster.connect(self.name)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--aurora", action="store_true", help="test on PostgreSQL 17 with en_US.UTF-8")


@pytest.fixture(scope="session")
def distribution(pytestconfig: pytest.Config) -> "Distribution":
    """The PostgreSQL of the laptop; with --aurora one that sorts as Aurora does."""
    from infra.local.layout import postgres_folder
    from infra.local.postgres import Distribution
    from tests.support import aurora

    if not pytestconfig.getoption("--aurora"):
        return Distribution(folder=postgres_folder())
    if lacking := aurora.missing():
        pytest.skip(lacking)
    return Distribution(
        folder=aurora.postgres_folder(),
        locale=aurora.COLLATION,
        environment=aurora.environment(),
    )


@contextmanager
def data_folder(otherwise: Path) -> Iterator[Path]:
    """Where data lie while this lasts; what killed runs left in memory goes first."""
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        yield otherwise
        return
    for left in MEMORY.glob("cairn-tests-*"):
        with suppress(OSError), (left / "lock").open() as lock:  # held: its run goes on
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=".cairn-tests-", dir=MEMORY))
    with (made / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = made.rename(made.with_name(made.name[1:]))  # from here on others see it
        yield made / "data"
        shutil.rmtree(made)


@pytest.fixture(scope="session")
def postgres_cluster(
    tmp_path_factory: pytest.TempPathFactory, distribution: "Distribution"
) -> Iterator[Server]:
    """An empty cluster, started on first use and removed at the end of the run."""
    from infra.local.layout import PROJECT, Layout
    from infra.local.postgres import Cluster
    from infra.local.processes import Daemon

    layout = Layout(project=PROJECT, base=tmp_path_factory.mktemp("postgres"))
    layout.make()
    with data_folder(layout.postgres) as data:
        cluster = Cluster(
            data=data,
            socket_folder=layout.socket_folder,
            superuser_password=secrets.token_hex(16),
            daemon=Daemon(
                name="postgres",
                pid_file=layout.run / "postgres.json",
                log_file=layout.logs / "postgres.log",
            ),
            settings=SETTINGS,
            distribution=distribution,
        )
        cluster.start()
        yield Server(
            cluster=cluster,
            owner_password=secrets.token_hex(16),
            app_password=secrets.token_hex(16),
        )
        cluster.stop()
    shutil.rmtree(layout.base)
    shutil.rmtree(layout.socket_folder, ignore_errors=True)


@pytest.fixture(scope="session")
def template_database(postgres_cluster: Server) -> str:
    """The name of a database that is migrated and never written to."""
    from cairn.adapters.postgres.migrate import migrate

    postgres_cluster.cluster.prepare(
        owner_password=postgres_cluster.owner_password, database=TEMPLATE
    )
    migrate(postgres_cluster.owner_url(TEMPLATE), postgres_cluster.app_password)
    return TEMPLATE


@pytest.fixture(scope="module")
def database(postgres_cluster: Server, template_database: str) -> Iterator[Database]:
    """A clone of the template for one test module; tests of a module share it."""
    from infra.local.postgres import create_database, drop_database

    name = f"test_{secrets.token_hex(6)}"
    with postgres_cluster.cluster.connect() as connection:
        create_database(connection, name, template=template_database)
    yield Database(
        name=name,
        owner_url=postgres_cluster.owner_url(name),
        app_url=postgres_cluster.app_url(name),
        server=postgres_cluster,
    )
    with postgres_cluster.cluster.connect() as connection:
        drop_database(connection, name)
