"""A made-up customer's own database, beside Cairn's on the same server: for demos and benchmarks.

Not Cairn's schema, and not scratch space of it: connectors reach it as any customer's, with roles
of its own that may do what connectors may.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, LiteralString, cast
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from benchmarks.sql import query

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCustomer:
    """The database: its owner's URL, and a DSN for each login that was asked for."""

    owner_url: str = field(repr=False)
    logins: Mapping[str, str] = field(repr=False)

    def run(self, script: str) -> None:
        """Run statements of a shipped file as the owner."""
        with psycopg.connect(self.owner_url, autocommit=True) as owner:
            owner.execute(cast("LiteralString", script))


def sample_customer(
    owner_url: str, name: str, scripts: Sequence[str], logins: Mapping[str, str]
) -> SampleCustomer:
    """Make the database anew from `scripts`, and a login, with a new password, for each role.

    `logins` are login -> the role it is a member of, which a script has made. Who is connected to
    a database of this name is disconnected.
    """
    drop_sample_customer(owner_url, name)
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute(_filled("sample_customer.create", database=sql.Identifier(name)))
    customer = SampleCustomer(owner_url=_at(owner_url, name), logins={})
    for script in scripts:
        customer.run(script)
    with psycopg.connect(owner_url, autocommit=True) as owner:
        dsns = {login: _login(owner, login, role) for login, role in logins.items()}
    return SampleCustomer(
        owner_url=customer.owner_url,
        logins={
            login: _at(owner_url, name, user=login, password=password)
            for login, password in dsns.items()
        },
    )


def drop_sample_customer(owner_url: str, name: str) -> None:
    """Drop the database, when there is one; its roles stay and can sign in to nothing."""
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute(_filled("sample_customer.drop", database=sql.Identifier(name)))


@contextmanager
def passing_customer(
    owner_url: str, name: str, scripts: Sequence[str], logins: Mapping[str, str]
) -> Generator[SampleCustomer]:
    """Yield a sample customer that is gone afterwards."""
    try:
        yield sample_customer(owner_url, name, scripts, logins)
    finally:
        drop_sample_customer(owner_url, name)


def _login(owner: psycopg.Connection, login: str, role: str) -> str:
    """Make or renew a login and return its password."""
    password = secrets.token_urlsafe(24)
    found = owner.execute(query("sample_customer.find_login"), {"login": login}).fetchone()
    verb = "sample_customer.renew_login" if found else "sample_customer.make_login"
    name = sql.Identifier(login)
    owner.execute(_filled(verb, login=name, password=sql.Literal(password)))
    owner.execute(_filled("sample_customer.grant_role", role=sql.Identifier(role), login=name))
    return password


def _filled(name: str, **names: sql.Composable) -> sql.Composed:
    """Return a named query with names and literals in their places: DDL takes no parameters."""
    return sql.SQL(cast("LiteralString", query(name).decode())).format(**names)


def _at(url: str, database: str, *, user: str = "", password: str = "") -> str:
    """Return a URL of the same server with another database, and another user when one is given."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    who = f"{quote(user)}:{quote(password)}@" if user else parts.netloc[: -len(place) or None]
    return urlunsplit(parts._replace(netloc=f"{who}{place}", path=f"/{database}"))
