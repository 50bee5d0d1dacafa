"""A customer's PostgreSQL with the sample accounts, and calls of connectors as an MCP client."""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import mcp_types as types
    import psycopg
    from mcp.server.lowlevel import Server as McpServer
    from tests.plugins.postgres import Server

SAMPLES = Path(__file__).parents[2] / "samples" / "accounts"
ROLE = "accounts_connector"


@dataclass(frozen=True, kw_only=True)
class Customer:
    """A customer's database: the connector's own DSN, and a superuser's way in for the test."""

    name: str
    dsn: str = field(repr=False)
    server: Server

    def connect(self) -> psycopg.Connection:
        """A superuser's connection in autocommit."""
        return self.server.cluster.connect(self.name)

    def one(self, statement: str, *values: object) -> Any:
        """Return the first column of the first row."""
        with self.connect() as connection:
            row = connection.execute(statement.encode(), values).fetchone()
        return None if row is None else row[0]

    def dsn_of(self, role: str) -> str:
        """Return the DSN of a role made with `make_role`."""
        return self.server.cluster.url(role, self.server.app_password, self.name)

    def make_role(self, role: str, *statements: str) -> str:
        """Make a role that may sign in, run statements, return its DSN."""
        with self.connect() as connection:
            found = connection.execute(
                "SELECT FROM pg_roles WHERE rolname = %s", (role,)
            ).fetchone()
            if found is None:
                connection.execute(f"CREATE ROLE {role}".encode())
            set_password(connection, role, self.server.app_password)
            for statement in statements:
                connection.execute(statement.encode())
        return self.dsn_of(role)


def set_password(connection: psycopg.Connection, role: str, password: str) -> None:
    """Let a role sign in."""
    from psycopg import sql

    connection.execute(
        sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}").format(
            sql.Identifier(role), sql.Literal(password)
        )
    )


@contextmanager
def customer_database(server: Server) -> Iterator[Customer]:
    """Make a database of a customer's with the sample accounts; it is dropped at the end."""
    from infra.local.postgres import OWNER, drop_database

    name = f"customer_{secrets.token_hex(6)}"
    with server.cluster.connect() as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    with server.cluster.connect(name) as connection:
        for script in ("schema.sql", "demo.sql"):
            connection.execute((SAMPLES / script).read_bytes())
        set_password(connection, ROLE, server.app_password)
        # roles are the server's: whoever makes a sample customer as the owner later gives it away
        connection.execute(f"GRANT {ROLE} TO {OWNER} WITH ADMIN OPTION".encode())
    dsn = server.cluster.url(ROLE, server.app_password, name)
    yield Customer(name=name, dsn=dsn, server=server)
    with server.cluster.connect() as connection:
        drop_database(connection, name)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A tool's answer: its text, whether it is an error, and the error's code."""

    text: str
    is_error: bool
    code: str | None

    @property
    def value(self) -> Any:
        """The answer as JSON."""
        assert not self.is_error, self.text
        return json.loads(self.text)


def call(server: McpServer[Any], tool: str, **arguments: Any) -> Said:
    """Call a tool of a server in this process."""
    return said(anyio.run(_called, server, tool, arguments))


def listed(server: McpServer[Any]) -> list[types.Tool]:
    """List a server's tools."""

    async def ask() -> list[types.Tool]:
        from mcp import Client

        async with Client(server) as client:
            return (await client.list_tools()).tools

    return anyio.run(ask)


async def _called(
    server: McpServer[Any], tool: str, arguments: Mapping[str, Any]
) -> types.CallToolResult:
    from mcp import Client

    async with Client(server) as client:
        return await client.call_tool(tool, dict(arguments))


def said(result: types.CallToolResult) -> Said:
    """Return a result in the form tests look at."""
    text = "".join(getattr(part, "text", "") for part in result.content)
    code = (result.meta or {}).get("cairn/error")
    return Said(text=text, is_error=bool(result.is_error), code=code)
