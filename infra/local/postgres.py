"""The embedded PostgreSQL: one cluster on a unix socket, with roles as Aurora has them.

It knows no table of Cairn: migrations are run by `migrations`. PostgreSQL refuses to run as root,
so as root (a container, a CI machine) it gets a user namespace of its own, or another user.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from infra.local.layout import postgres_folder
from infra.local.processes import Daemon, StartFailed
from infra.local.state import write_private

SUPERUSER = "postgres"
OWNER = "cairn_owner"
APP_ROLE = "cairn_app"
DATABASE = "cairn"
START_SECONDS = 60.0
START_ATTEMPTS = 4
RETRY_SECONDS = 1.0
STOP_SECONDS = 20.0

SETTINGS: Mapping[str, str] = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "300",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "256MB",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
LOCALE = ("--locale-provider=builtin", "--locale=C.UTF-8")
INITDB = (
    "--encoding=UTF8",
    "--auth=scram-sha-256",
    "--no-instructions",
    f"--username={SUPERUSER}",
)


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A build of PostgreSQL: its folder, how its clusters sort, what its programs need."""

    folder: Path
    locale: Sequence[str] = LOCALE
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def program(self, name: str) -> str:
        """The path of one of its programs."""
        return str(self.folder / "bin" / name)

    def env(self) -> dict[str, str]:
        """The environment its programs run in."""
        path = os.environ.get("PATH", "/usr/bin:/bin")
        return {"PATH": path, "LC_ALL": "C", "TZ": "UTC", **self.environment}


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One PostgreSQL cluster. `settings` override the defaults, e.g. {"fsync": "off"} in tests."""

    data: Path
    socket_folder: Path
    superuser_password: str = field(repr=False)
    daemon: Daemon
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    distribution: Distribution = field(
        default_factory=lambda: Distribution(folder=postgres_folder())
    )

    def start(self) -> bool:
        """Create the cluster if needed and start it; False when it was running already."""
        if self.is_running():
            return False
        self.stop()
        _private_folder(self.socket_folder)
        if not (self.data / "PG_VERSION").exists():
            self._create()
        self._hand_over(self.socket_folder)
        for attempt in range(START_ATTEMPTS):
            try:
                self._launch()
            except StartFailed:
                if attempt + 1 == START_ATTEMPTS:
                    raise
                time.sleep(RETRY_SECONDS)  # backends of a killed server still hold its memory
            else:
                break
        return True

    def stop(self) -> bool:
        """Fast shutdown: clients are disconnected, what is committed is on disk."""
        stopped = self.daemon.stop(gently=signal.SIGINT, seconds=STOP_SECONDS)
        return self._stop_stranger() or stopped

    def is_running(self) -> bool:
        """True when our process lives and accepts connections on our socket."""
        return self.daemon.process() is not None and self.is_ready()

    def is_ready(self) -> bool:
        """True when the superuser can connect."""
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def url(self, user: str, password: str, database: str = DATABASE) -> str:
        """A libpq URL over the unix socket."""
        return database_url(user, password, self.socket_folder, database)

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """A superuser's connection in autocommit, for creating roles and databases only."""
        url = self.url(SUPERUSER, self.superuser_password, database)
        return psycopg.connect(url, autocommit=True, connect_timeout=5)

    def prepare(self, *, owner_password: str, database: str = DATABASE) -> None:
        """Make the owner role and its database as Aurora would give them; repeatable.

        The owner may create roles and databases but is no superuser and cannot bypass row
        security. The vector extension needs a superuser here, so it is created at this point, also
        for the databases the owner may make later.
        """
        with self.connect() as connection:
            create_owner(connection, owner_password)
            create_database(connection, database)
        for each in ("template1", database):
            with self.connect(each) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")

    def _launch(self) -> None:
        settings = {**SETTINGS, "unix_socket_directories": str(self.socket_folder), **self.settings}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        self.daemon.start(
            [*demotion(), self.distribution.program("postgres"), "-D", str(self.data), *options],
            env=self.distribution.env(),
            cwd=self.data,
        )
        self.daemon.wait_until(self.is_ready, seconds=START_SECONDS)

    def _create(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        _private_folder(self.data)
        password_file = self.data.with_name(f"pw-{secrets.token_hex(4)}")
        write_private(password_file, self.superuser_password + "\n")
        self._hand_over(self.data)
        self._hand_over(password_file)
        arguments = [
            *INITDB,
            *self.distribution.locale,
            f"--pwfile={password_file}",
            "-D",
            str(self.data),
        ]
        if self.settings.get("fsync") == "off":
            arguments.append("--no-sync")
        try:
            subprocess.run(
                [*demotion(), self.distribution.program("initdb"), *arguments],
                env=self.distribution.env(),
                cwd=self.data,
                check=True,
                capture_output=True,
                text=True,
            )
        except subprocess.CalledProcessError as exc:
            raise StartFailed(f"initdb failed\n{exc.stdout}\n{exc.stderr}") from exc
        finally:
            password_file.unlink(missing_ok=True)

    def _hand_over(self, path: Path) -> None:
        """Give `path` to the user the server runs as, when that is another one."""
        if os.geteuid() != 0 or _namespaces():
            return
        os.chown(path, _nobody().pw_uid, _nobody().pw_gid)
        programs = Path(self.distribution.program("postgres")).parents
        for folder in [path.parent, *path.parent.parents, *programs]:
            mode = folder.stat().st_mode
            if not mode & 0o001:
                folder.chmod(mode | 0o001)

    def _stop_stranger(self) -> bool:
        """Stop a server on our data folder whose pid file of ours is lost or out of date."""
        try:
            first = (self.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0]
            process = psutil.Process(int(first))
            if process.name() != "postgres" or process.cwd() != str(self.data):
                return False
            process.send_signal(signal.SIGINT)
            process.wait(STOP_SECONDS)
        except (OSError, ValueError, IndexError, psutil.Error):
            return False
        return True


def database_url(user: str, password: str, socket_folder: Path, database: str) -> str:
    """A libpq URL over the unix socket."""
    return f"postgresql://{user}:{password}@/{database}?host={socket_folder}"


def create_owner(connection: psycopg.Connection, password: str) -> None:
    """Create the owner role with Aurora's master attributes, or set its password."""
    role = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (OWNER,)).fetchone()
    verb = sql.SQL("ALTER" if role else "CREATE")
    connection.execute(
        sql.SQL(
            "{} ROLE {} LOGIN NOSUPERUSER CREATEROLE CREATEDB NOREPLICATION NOBYPASSRLS PASSWORD {}"
        ).format(verb, sql.Identifier(OWNER), sql.Literal(password))
    )


def create_database(
    connection: psycopg.Connection, name: str, *, template: str | None = None
) -> None:
    """Create a database of the owner if it is missing, empty or as a copy of `template`."""
    if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
        return
    statement = sql.SQL("CREATE DATABASE {} OWNER {}").format(
        sql.Identifier(name), sql.Identifier(OWNER)
    )
    if template is not None:
        statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
    connection.execute(statement)


def drop_database(connection: psycopg.Connection, name: str) -> None:
    """Drop a database and disconnect who uses it."""
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)")
    connection.execute(statement.format(sql.Identifier(name)))


def demotion() -> list[str]:
    """The command that makes root someone else, empty for other users.

    A user namespace keeps the files root's and needs no other rights; where it is forbidden the
    server runs as `nobody`.
    """
    if os.geteuid() != 0:
        return []
    return (
        ["unshare", "--user", f"--map-user={_someone().pw_uid}"]
        if _namespaces()
        else [
            "setpriv",
            f"--reuid={_nobody().pw_uid}",
            f"--regid={_nobody().pw_gid}",
            "--clear-groups",
        ]
    )


@cache
def _namespaces() -> bool:
    probe = ["unshare", "--user", f"--map-user={_someone().pw_uid}", "true"]
    try:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _someone() -> pwd.struct_passwd:
    return min((entry for entry in pwd.getpwall() if entry.pw_uid), key=lambda user: user.pw_uid)


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


def _private_folder(path: Path) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_uid not in {os.geteuid(), _nobody().pw_uid if os.geteuid() == 0 else -1}:
        raise StartFailed(f"{path} belongs to another user")
