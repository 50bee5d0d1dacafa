"""Connections and transactions: the tenancy settings are set here, once, before anything is read.

Not a place for queries: stores hold those.
"""

from __future__ import annotations

import atexit
from contextlib import contextmanager, suppress
from math import ceil
from threading import Lock, local
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout

from cairn.adapters.postgres.sql import query
from cairn.kernel.access import Role
from cairn.kernel.clock import monotonic
from cairn.kernel.errors import (
    CairnError,
    Conflict,
    Denied,
    Unavailable,
    ValidationFailed,
)
from cairn.kernel.transaction import LedgerBusy

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from cairn.kernel.access import Principal


LOCK_TIMEOUT_MS = 2_000
STATEMENT_TIMEOUT_MS = 30_000
WAIT_SECONDS = 5.0
"""How long a request waits for a connection, unless the settings say otherwise."""

RECONNECT_SECONDS = 1.0
"""After so long the pool gives up until it is asked again; its own pauses grow with the outage."""

ASK_AGAIN_SECONDS = WAIT_SECONDS
"""A request that may wait longer asks the pool again: a cluster that wakes may refuse at first."""

CHECK_AFTER_SECONDS = 1.0
"""A connection unused for so long is asked whether it still lives before it is lent; an outage
takes longer than that, and a busy process saves a round trip each time. When one was lost, all that
were unused since are asked: what ended it has most likely ended them."""

IDLE_TIMEOUT_MS = 300_000
"""How long a transaction may do nothing: a frozen function must not keep its locks."""


def session_options(*, statement_timeout_ms: int, lock_timeout_ms: int) -> str:
    """Return what a session is started with (0: no limit).

    It counts more than what was altered on the database, or on the role, which a role may do to
    itself.
    """
    settings = {
        "search_path": "public,pg_temp",
        "statement_timeout": statement_timeout_ms,
        "lock_timeout": lock_timeout_ms,
        "idle_in_transaction_session_timeout": IDLE_TIMEOUT_MS,
        "default_transaction_isolation": r"read\ committed",
        "default_transaction_read_only": "off",
        "row_security": "on",
        "timezone": "UTC",
    }
    return " ".join(f"-c {name}={value}" for name, value in settings.items())


Connection = psycopg.Connection[Any]


class PooledConnection(psycopg.Connection[Any]):
    """A connection that knows when it was given back (monotonic seconds)."""

    used_at: float = 0.0


class PatientPool(ConnectionPool[PooledConnection]):
    """A pool that goes on trying to connect for as long as a request waits."""

    def getconn(self, timeout: float | None = None) -> PooledConnection:
        """Lend a connection; PoolTimeout when none can be had within `timeout` seconds."""
        until = monotonic() + (self.timeout if timeout is None else timeout)
        while (left := until - monotonic()) > ASK_AGAIN_SECONDS:
            with suppress(PoolTimeout):
                return super().getconn(ASK_AGAIN_SECONDS)
        return super().getconn(left)


class Database:
    """A pool of at most `size` connections as the functions' role, opened on first use.

    A thread has one at a time: who waits for a second while holding the first waits for somebody
    who does the same. `password` returns the secret of a new connection (an IAM token on AWS);
    None takes the URL's.
    """

    def __init__(
        self,
        url: str,
        *,
        size: int = 1,
        password: Callable[[], str] | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._url = url
        self.size = size
        self._password = password
        self._wait = wait_seconds
        self._pool: ConnectionPool[PooledConnection] | None = None
        self._opening = Lock()
        self._thread = local()
        self._lost_at = 0.0

    @contextmanager
    def connection(self) -> Generator[Connection]:
        """Lend an autocommit connection; Unavailable when none can be had in time.

        RuntimeError when this thread holds one already: that is a mistake in the code.
        """
        if getattr(self._thread, "holds", False):
            raise RuntimeError("this thread holds a connection already")
        with translated(), self._opened().connection() as connection:
            self._thread.holds = True
            try:
                yield connection
            finally:
                self._thread.holds = False
                connection.used_at = monotonic()
                if connection.closed:
                    self._lost_at = connection.used_at

    def close(self) -> None:
        """Give every connection back."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _opened(self) -> ConnectionPool[PooledConnection]:
        with self._opening:
            if self._pool is None:
                self._pool = self._open()
                atexit.register(self.close)
            return self._pool

    def _open(self) -> ConnectionPool[PooledConnection]:
        def options() -> dict[str, Any]:
            secret = {"password": self._password()} if self._password else {}
            waiting = {"connect_timeout": ceil(self._wait)}
            started = session_options(
                statement_timeout_ms=STATEMENT_TIMEOUT_MS, lock_timeout_ms=LOCK_TIMEOUT_MS
            )
            return {
                "autocommit": True,
                "prepare_threshold": 0,
                "options": started,
                **waiting,
                **secret,
            }

        return PatientPool(
            self._url,
            connection_class=PooledConnection,
            kwargs=options if self._password else options(),
            min_size=0,
            max_size=self.size,
            timeout=self._wait,
            reconnect_timeout=RECONNECT_SECONDS,
            max_idle=300.0,
            num_workers=1,
            check=self._check,
            open=True,
        )

    def _check(self, connection: PooledConnection) -> None:
        lost = connection.used_at <= self._lost_at
        if lost or monotonic() - connection.used_at > CHECK_AFTER_SECONDS:
            ConnectionPool.check_connection(connection)


@contextmanager
def bound(
    database: Database,
    principal: Principal,
    *,
    timeout_ms: int | None = None,
    read_only: bool = True,
    sees_deleted: bool = False,
    one_moment: bool = False,
    lock_timeout_ms: int = LOCK_TIMEOUT_MS,
) -> Generator[Connection]:
    """Open a transaction whose row policies and candidate functions know the principal.

    With `one_moment` all its statements see the database as the first one saw it.
    """
    with database.connection() as connection, _transaction(connection, one_moment=one_moment):
        bind(
            connection,
            principal,
            timeout_ms=timeout_ms,
            read_only=read_only,
            sees_deleted=sees_deleted,
            lock_timeout_ms=lock_timeout_ms,
        )
        yield connection


def bind(
    connection: Connection,
    principal: Principal,
    *,
    timeout_ms: int | None = None,
    read_only: bool = True,
    sees_deleted: bool = False,
    lock_timeout_ms: int = LOCK_TIMEOUT_MS,
) -> None:
    """Let the row policies of an open transaction know the principal."""
    settings = {
        "workspace_id": str(principal.workspace_id),
        "scopes": ",".join(sorted(principal.allowed_scopes)),
        "agent": _agent_of(principal),
        "client": principal.client_id or "",
        "person": principal.person or "",
        "person_id": str(principal.principal_id) if principal.person else "",
        "sees_deleted": "on" if sees_deleted else "",
        "sees_expired": "on" if not read_only or _is_system(principal) else "",
        "conversations": _conversations_of(principal),
        "read_only": "on" if read_only else "off",
        "lock_timeout": str(lock_timeout_ms),
        "statement_timeout": str(timeout_ms or STATEMENT_TIMEOUT_MS),
    }
    connection.execute(query("tenancy.bind"), settings)


@contextmanager
def _transaction(connection: Connection, *, one_moment: bool) -> Generator[None]:
    if one_moment:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            yield
    finally:
        if one_moment and not connection.closed:
            connection.isolation_level = None


def _agent_of(principal: Principal) -> str:
    """Return whose tags are found: the key's agent's, everyone's, or nobody's (`-`)."""
    sees_all = principal.role is Role.ADMIN or principal.person is not None
    return principal.agent_slug or ("" if sees_all else "-")


def _conversations_of(principal: Principal) -> str:
    """Return whose conversations are seen: `all`, or the public key whose own one it is."""
    return str(principal.key_id or "none") if principal.role is Role.PUBLIC else "all"


def _is_system(principal: Principal) -> bool:
    return principal.principal_id == principal.workspace_id


LOCK_RETRY_SECONDS = 1.0


@contextmanager
def translated() -> Generator[None]:
    """Raise the Cairn error that a driver error inside the block means."""
    try:
        yield
    except CairnError:
        raise
    except psycopg.Error as exc:
        error = cairn_error(exc)
        if error is None:
            raise
        raise error from exc


def cairn_error(exc: Exception) -> CairnError | None:
    """Return what a driver error means; identifiers stay out of the sentence.

    None for a bug of ours, such as a column that does not exist: trying again would not help.
    """
    if isinstance(exc, errors.LockNotAvailable | errors.DeadlockDetected):
        return LedgerBusy(retry_after=LOCK_RETRY_SECONDS)
    if isinstance(exc, errors.QueryCanceled):
        return Unavailable("The database took too long.", reason="database-timeout")
    if isinstance(exc, errors.UniqueViolation | errors.ForeignKeyViolation):
        return Conflict("This collides with what is stored.", reason="constraint")
    if isinstance(exc, errors.InsufficientPrivilege):
        return Denied("The database refuses this.", reason="row-security")
    if isinstance(exc, errors.CheckViolation | errors.DataError):
        return ValidationFailed("The database refuses a value.", reason="invalid-value")
    if isinstance(exc, psycopg.OperationalError | psycopg.InterfaceError):
        return Unavailable("The database cannot be reached.", reason="database-unavailable")
    return None
