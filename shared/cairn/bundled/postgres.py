"""The connector `postgres`: reading a customer's PostgreSQL. It cannot write, whatever it is told.

What a caller sends runs inside `DECLARE ... CURSOR FOR SELECT ... FROM (<sql>)`, in a read-only
transaction, over the extended protocol: one statement, a query, with a time limit, a row cap and a
byte cap. The role decides what may be read, and must be able to read nothing beyond the granted
schemas. Settings: `schemas`, `statement_seconds`, `max_rows`; secret: `dsn`.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

from psycopg import sql
from pydantic import Field, SecretStr, field_validator

from cairn.bundled.configuration import ConnectorConfig, configured, run
from cairn.bundled.database import CustomerDatabase, checked_dsn, query, secrets_of, translated
from cairn.bundled.serving import Answer, Arguments, Line, Text, connector_server, reads
from cairn.connectors.port import whole_words
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    import psycopg
    from mcp.server.lowlevel import Server
    from psycopg.rows import TupleRow

    from cairn.kernel.text.json_value import JsonValue

NAME, VERSION, PREFIX = "postgres", "1.0.0", "POSTGRES_"
MAX_BYTES = 90_000
"""Of the rows of one answer, as JSON; the rest is left out and said to be."""

MAX_TABLES = 500
SYSTEM_SCHEMAS = ("pg_catalog", "information_schema")
_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_$]{0,62}"

Identifier = Annotated[str, Field(pattern=f"^{_IDENTIFIER}$")]


class PostgresConfig(ConnectorConfig):
    """What the connector may read, and how much of it at once."""

    dsn: SecretStr
    schemas: tuple[Identifier, ...] = Field(default=("public",), min_length=1, max_length=20)
    statement_seconds: float = Field(default=5.0, gt=0, le=60)
    max_rows: int = Field(default=200, ge=1, le=5_000)

    @field_validator("schemas")
    @classmethod
    def _no_system_schema(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(name in SYSTEM_SCHEMAS or name.startswith("pg_") for name in value):
            raise ValueError("holds a schema of the system")
        return value


class Query(Arguments):
    """One query."""

    sql: Text = Field(description="One SELECT, VALUES or WITH ... SELECT, without a semicolon.")
    max_rows: int = Field(default=100, ge=1, le=5_000, description="Rows to return at most.")


class Tables(Arguments):
    """Which tables to list."""

    name_like: Line | None = Field(default=None, description="Part of a table's name.")


class Table(Arguments):
    """Which table to describe."""

    table: Line = Field(description="schema.table, or a table of the first granted schema.")


KINDS = {
    "r": "table",
    "p": "partitioned table",
    "v": "view",
    "m": "materialised view",
    "f": "foreign table",
}


class Reader:
    """The three tools over one database."""

    def __init__(self, config: PostgresConfig) -> None:
        self._config = config
        self._schemas = list(config.schemas)
        self._database = CustomerDatabase(
            dsn=checked_dsn(config.dsn.get_secret_value()),
            statement_seconds=config.statement_seconds,
        )

    def health(self) -> Mapping[str, JsonValue]:
        """Connect, check the role, and return the server's version."""
        with self._database.reading() as connection:
            self._check_grants(connection)
            return {"server_version": connection.info.server_version}

    def query(self, arguments: Query) -> Answer:
        """Run one query and return its rows as JSON objects."""
        limit = min(arguments.max_rows, self._config.max_rows)
        statement = as_one_query(arguments.sql, f"row_{new_id().hex}")
        with self._database.reading() as connection:
            self._check_grants(connection)
            self._use_schemas(connection)
            with connection.cursor(name="answer") as cursor, translated(writing=False):
                cursor.execute(statement)
                rows = cursor.fetchmany(limit + 1)
        return Answer(value=_as_answer(rows, limit))

    def list_tables(self, arguments: Tables) -> Answer:
        """Return the tables and views of the granted schemas that the role may read."""
        values = {
            "system": list(SYSTEM_SCHEMAS),
            "schemas": self._schemas,
            "part": arguments.name_like,
            "limit": MAX_TABLES + 1,
        }
        with self._database.reading() as connection:
            self._check_grants(connection)
            rows = connection.execute(query("reading.tables"), values).fetchall()
        tables: list[JsonValue] = [
            {"table": f"{schema}.{name}", "kind": KINDS[kind]} for schema, name, kind in rows
        ]
        return Answer(value={"tables": tables[:MAX_TABLES], "truncated": len(tables) > MAX_TABLES})

    def describe_table(self, arguments: Table) -> Answer:
        """Return the columns the role may read."""
        schema, _, name = arguments.table.rpartition(".")
        schema = schema or self._schemas[0]
        if schema not in self._schemas:
            raise NotFound("There is no such table in the granted schemas.")
        with self._database.reading() as connection:
            self._check_grants(connection)
            rows = connection.execute(
                query("reading.columns"), {"schema": schema, "table": name}
            ).fetchall()
        if not rows:
            raise NotFound("There is no such table in the granted schemas.")
        columns: list[JsonValue] = [
            {"column": column, "type": kind, "required": required, "comment": comment}
            for column, kind, required, comment in rows
        ]
        return Answer(value={"table": f"{schema}.{name}", "columns": columns})

    def _check_grants(self, connection: psycopg.Connection[TupleRow]) -> None:
        values = {"system": list(SYSTEM_SCHEMAS), "schemas": self._schemas}
        outside = connection.execute(query("reading.outside"), values).fetchone()
        if outside is not None:
            raise Conflict(
                f"The connector's role may read {outside[0]}.{outside[1]}, which is in none of the "
                "granted schemas; take that right away, or grant the schema.",
                reason="connector-grants",
            )

    def _use_schemas(self, connection: psycopg.Connection[TupleRow]) -> None:
        path = sql.SQL(", ").join(sql.Identifier(schema) for schema in self._schemas)
        connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(path))


def as_one_query(text: str, alias: str) -> sql.Composed:
    """Return a query around a caller's: each row as JSON text, all of them cut to the byte cap.

    The caller's text ends in a line of its own, so that a comment in it ends there. Whatever else
    it holds, the server reads all of it as one statement, and a second one is an error. `alias`
    must be a name nobody can guess: text that closes the parenthesis early would need it.
    """
    inner = text.strip().rstrip(";").rstrip()
    if not re.match(r"(?i)(?:select|values|with|table|\(|--|/\*)", inner):
        raise ValidationFailed(
            "Only a query can be run: SELECT, VALUES, TABLE or WITH.", reason="not-a-query"
        )
    around = sql.SQL(query("reading.around").decode())  # pyright: ignore[reportArgumentType]
    return around.format(
        row=sql.Identifier(alias),
        cut=sql.Literal(MAX_BYTES),
        query=sql.SQL(inner),  # pyright: ignore[reportArgumentType]
    )


def _as_answer(rows: list[TupleRow], limit: int) -> JsonValue:
    """Return the rows that are whole; of a first one that is not, the beginning as a text."""
    shown_rows: list[JsonValue] = [
        _decoded(text) for text, size in rows[:limit] if size <= MAX_BYTES
    ]
    left_out = len(rows) > len(shown_rows)
    answer: dict[str, JsonValue] = {"rows": shown_rows, "truncated": left_out}
    if not left_out:
        return answer
    what = f"the first {len(shown_rows)} rows"
    if not shown_rows:
        shown_rows.append(whole_words(rows[0][0]))
        what = "the beginning of the first row"
    answer["note"] = f"[truncated: {what}; ask for fewer columns or narrow the query]"
    return answer


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def server(config: Mapping[str, JsonValue], secrets: Mapping[str, str]) -> Server[Any]:
    """Return the server; ValidationFailed names settings it cannot work with."""
    settings = configured(PostgresConfig, config, secrets)
    reader = Reader(settings)
    return connector_server(
        NAME,
        VERSION,
        [
            reads("query", _QUERY, Query, reader.query),
            reads(
                "list_tables", "List tables and views that can be read.", Tables, reader.list_tables
            ),
            reads(
                "describe_table",
                "List the columns of a table.",
                Table,
                reader.describe_table,
                resource="tables/{table}",
            ),
        ],
        health=reader.health,
        instructions="Reads one PostgreSQL database. Look at the tables before you query them.",
        secrets=secrets_of(settings.dsn.get_secret_value()),
    )


_QUERY = (
    "Run one read-only SQL query and return its rows as JSON objects. Anything that writes, a "
    "second statement and a query that takes too long are refused."
)


if __name__ == "__main__":
    run(server, PostgresConfig, PREFIX)
