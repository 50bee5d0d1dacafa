"""A customer's PostgreSQL, as connectors reach it: one connection a call, never Cairn's own.

Refused before any statement of a caller runs: a database that holds Cairn's tables, a role of
Cairn's, and a role so mighty that a read-only transaction would not hold it. Not the statements.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow, tuple_row

from cairn.adapters.postgres.sql import queries_in
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.errors import CairnError, Conflict, FieldError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping


QUERIES = Path(__file__).parent / "queries"


@cache
def query(name: str) -> bytes:
    """Return the query `noun.verb`; KeyError when there is none."""
    noun, _, verb = name.partition(".")
    return named_queries(noun)[verb]


@cache
def named_queries(noun: str) -> dict[str, bytes]:
    """Return the queries of a noun by name."""
    return queries_in(QUERIES / f"{noun}.sql")


CONNECTION: Mapping[str, str | int] = MappingProxyType(
    {
        "application_name": "cairn-connector",
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
    }
)
"""In seconds: a server that vanished during a statement is noticed within half a minute."""
MAX_STATEMENT_SECONDS = 60.0
ROLE_PREFIX = "cairn_"
PARTS = frozenset(
    {
        "channel_binding",
        "dbname",
        "host",
        "hostaddr",
        "password",
        "port",
        "sslmode",
        "sslnegotiation",
        "sslrootcert",
        "target_session_attrs",
        "user",
    }
)
"""What a DSN may set; the driver knows others that read files, write them, or become another role.
`sslrootcert` may be `system` only."""

MIGHTY = (
    "pg_execute_server_program",
    "pg_read_server_files",
    "pg_signal_backend",
    "pg_write_server_files",
)
"""Roles of the server that a transaction does not hold: they reach its files and other sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDatabase:
    """Where it is and how long a statement may take, in seconds."""

    dsn: str = field(repr=False)
    statement_seconds: float = 5.0

    def __post_init__(self) -> None:
        checked_dsn(self.dsn)

    @contextmanager
    def reading(self) -> Generator[psycopg.Connection[TupleRow]]:
        """Give a connection in a read-only transaction, which is rolled back at the end."""
        with self._connected() as connection, translated(writing=False):
            connection.read_only = True
            self._begin(connection)
            yield connection
            connection.rollback()

    @contextmanager
    def writing(self) -> Generator[psycopg.Connection[TupleRow]]:
        """Give a connection in a transaction, committed at the end unless an error is raised.

        Raises OutcomeUnknown when the connection breaks while the commit is under way.
        """
        with self._connected() as connection:
            with translated(writing=False):
                self._begin(connection)
                yield connection
            with translated(writing=True):
                connection.commit()

    def _begin(self, connection: psycopg.Connection[TupleRow]) -> None:
        """Set the limits and look at the role; from here on, reading cannot be made writing."""
        milliseconds = int(min(self.statement_seconds, MAX_STATEMENT_SECONDS) * 1000)
        connection.execute(query("customer.limits"), {"milliseconds": str(milliseconds)})
        _refuse_what_is_ours(connection)

    @contextmanager
    def _connected(self) -> Generator[psycopg.Connection[TupleRow]]:
        dsn = make_conninfo(self.dsn, **CONNECTION)
        with translated(writing=False):
            connection = psycopg.connect(dsn, row_factory=tuple_row)
        try:
            yield connection
        finally:
            connection.close()


def checked_dsn(dsn: str) -> str:
    """Return the DSN; ValidationFailed for one that is none, or that names a role of Cairn's."""
    try:
        parts: dict[str, Any] = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        _refuse_dsn("is a PostgreSQL connection string")
    if not parts.keys() <= PARTS or parts.get("sslrootcert", "system") != "system":
        _refuse_dsn(f"sets nothing but {', '.join(sorted(PARTS))}: no options, services and files")
    if not parts.get("user") or not parts.get("dbname"):
        _refuse_dsn("names a user and a database")
    if str(parts["user"]).startswith(ROLE_PREFIX):
        _refuse_dsn("names a role of Cairn's own; make one for the connector")
    return dsn


def secrets_of(dsn: str) -> list[str]:
    """Return what of a DSN no answer may hold: all of it, and its password."""
    password = conninfo_to_dict(dsn).get("password")
    return [dsn, *([str(password)] if password else [])]


def _refuse_dsn(fault: str) -> NoReturn:
    raise ValidationFailed(
        f"dsn {fault}.", reason="connector-database", errors=[FieldError("dsn", fault)]
    )


def _refuse_what_is_ours(connection: psycopg.Connection[TupleRow]) -> None:
    values = {"prefix": ROLE_PREFIX, "mighty": list(MIGHTY)}
    row = connection.execute(query("customer.who"), values).fetchone()
    assert row is not None
    session, current, is_ours, is_mighty, holds_ours = row
    if holds_ours or str(session).startswith(ROLE_PREFIX):
        _refuse("This is a database or a role of Cairn's own; a connector never reaches it.")
    if is_mighty or session != current:
        _refuse("The role is too mighty for a connector: give it one without superuser rights.")
    if is_ours:
        _refuse("The role is a member of one of Cairn's own; a connector never has such a role.")


def _refuse(sentence: str) -> NoReturn:
    raise Conflict(sentence, reason="connector-database")


@contextmanager
def translated(*, writing: bool) -> Generator[None]:
    """Raise the Cairn error that a driver error inside the block means.

    The server's own words are passed on for mistakes in a statement only; `writing` says that the
    block may have changed something when it broke off.
    """
    try:
        yield
    except CairnError:
        raise
    except psycopg.Error as exc:
        raise _meant(exc, writing=writing) from None


def _meant(exc: psycopg.Error, *, writing: bool) -> CairnError:
    if isinstance(exc, errors.InvalidAuthorizationSpecification | errors.InvalidPassword):
        return ConnectorUnauthorised("The database refuses the connector's role and password.")
    if isinstance(exc, errors.QueryCanceled | errors.LockNotAvailable):
        return ValidationFailed(
            "The statement took too long and was stopped.", reason="statement-timeout"
        )
    if isinstance(exc, errors.ReadOnlySqlTransaction):
        return ValidationFailed(
            "The statement writes; this connector only reads.", reason="read-only"
        )
    if exc.sqlstate and exc.sqlstate[:2] not in {"08", "53", "57", "58", "XX"}:
        words = exc.diag.message_primary or "it is not valid"
        return ValidationFailed(f"The database refuses it: {words[:300]}.", reason="refused")
    if "password authentication failed" in str(exc):
        return ConnectorUnauthorised("The database refuses the connector's role and password.")
    if writing:
        return OutcomeUnknown("The database broke off; nobody knows whether it was done.")
    return Unavailable("The database cannot be reached.", reason="database-unavailable")
