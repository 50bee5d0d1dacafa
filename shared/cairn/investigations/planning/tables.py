"""Questions to a database nobody described beforehand: which of its tables serves, and the SQL.

For tools that take PostgreSQL's SQL. Names of tables and columns come from the database's own
listing, and only plain ones are used. A value is a parameter where the tool takes parameters; else
it stands between dollar quotes that nobody knew when it was written, since they are made of the
investigation's id: what replaces a placeholder such as `<EMAIL_1>` later cannot end them either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.investigations.planning.arguments import required_of, takes
from cairn.investigations.planning.envelope import arguments_of
from cairn.investigations.planning.records import parts_of, records
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.planning.uses import Use
    from cairn.investigations.state import Observation
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec

ROWS = 20
LISTING = (
    "SELECT table_schema, table_name, string_agg(column_name, ',' ORDER BY ordinal_position)"
    " AS columns FROM information_schema.columns"
    " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
    " GROUP BY table_schema, table_name ORDER BY table_schema, table_name"
)
_TIMES = ("at", "time", "timestamp", "created", "occurred", "date", "issued")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_HIDDEN = frozenset(["password", "passwd", "hash", "secret", "token", "salt", "key", "totp"])
_QUERY = frozenset(["sql", "query", "statement"])
_PARAMETERS = frozenset(["param", "parameter", "argument", "value", "binding"])
_WHO: Mapping[str, tuple[str, ...]] = {
    "email": ("email", "mail", "upn"),
    "username": ("username", "login"),
    "id": ("user id", "account id"),
    "customer": ("customer", "client"),
    "url": ("url", "endpoint", "target"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as its database lists it."""

    schema: str
    name: str
    columns: tuple[str, ...]

    @property
    def quoted(self) -> str:
        """Return the name as SQL has it."""
        return f'"{self.schema}"."{self.name}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Querier:
    """A tool that takes SQL: the names of its arguments for it, and for parameters if there are."""

    tool: ToolSpec
    sql: str
    values: str | None


def querier(tools: Sequence[ToolSpec]) -> Querier | None:
    """Return the first tool, by name, that reads by SQL and needs nothing else."""
    for tool in sorted(tools, key=lambda one: one.key):
        named = arguments_of(tool)
        sql = _argument(named, _QUERY, "string")
        values = _argument(named, _PARAMETERS, "array")
        if tool.lane is Lane.READ and sql and required_of(tool) <= {sql, values}:
            return Querier(tool=tool, sql=sql, values=values)
    return None


def listing(by: Querier) -> Mapping[str, JsonValue]:
    """Return the arguments that ask for all tables one may read, with their columns."""
    return {by.sql: LISTING}


def lists(one: Observation) -> bool:
    """Return whether a query was the listing."""
    return LISTING in one.arguments.values()


def tables(one: Observation) -> tuple[Table, ...]:
    """Return the tables of a listing."""
    found: list[Table] = []
    for record in records(one):
        schema, name = record.text("table schema"), record.text("table name")
        columns = record.text("column").split(",")
        if _PLAIN.fullmatch(schema) and _PLAIN.fullmatch(name):
            plain = tuple(each for each in columns if _PLAIN.fullmatch(each))
            found.append(Table(schema=schema, name=name, columns=plain))
    return tuple(found)


def table_for(known: Iterable[Table], use: Use, slots: Mapping[str, str]) -> Table | None:
    """Return the table that serves and can be asked whose, the best named one first."""
    fitting = [
        one
        for one in known
        if use.columns
        and all(_column(one, wanted) for wanted in use.columns)
        and _who(one, use, slots) is not None
    ]
    return min(
        fitting,
        key=lambda one: (not parts_of(one.name) & use.nouns, len(one.columns), one.quoted),
        default=None,
    )


def question(
    by: Querier, table: Table, use: Use, slots: Mapping[str, str], mark: UUID
) -> Mapping[str, JsonValue] | None:
    """Return the arguments that ask for a person's rows, the latest first; None when nobody is.

    `mark` is an id that nobody outside could know: it makes the quotes of a value in the SQL.
    """
    who = _who(table, use, slots)
    if who is None:
        return None
    column, value = who
    shown = ", ".join(f'"{one}"' for one in table.columns if not parts_of(one) & _HIDDEN)
    latest = _column(table, _TIMES)
    order = f' ORDER BY "{latest}" DESC' if latest else ""
    quotes = f"$c{mark.hex}$"
    given = "%s" if by.values else f"{quotes}{value}{quotes}"
    sql = (  # names are plain ones of the database's listing, the value is a parameter or quoted
        f'SELECT {shown} FROM {table.quoted} WHERE lower("{column}"::text) = lower({given})'  # noqa: S608
        f"{order} LIMIT {ROWS}"
    )
    return {by.sql: sql, by.values: [value]} if by.values else {by.sql: sql}


def asked(one: Observation, table: Table) -> bool:
    """Return whether a query was of this table."""
    return any(
        isinstance(value, str) and f"FROM {table.quoted} " in value
        for value in one.arguments.values()
    )


def _who(table: Table, use: Use, slots: Mapping[str, str]) -> tuple[str, str] | None:
    for slot in use.by:
        column = _column(table, _WHO.get(slot, ()))
        if column and slots.get(slot):
            return column, slots[slot]
    return None


def _column(table: Table, wanted: Iterable[str]) -> str | None:
    for want in wanted:
        parts = set(want.split())
        for column in table.columns:
            if parts <= parts_of(column):
                return column
    return None


def _argument(
    named: Mapping[str, Mapping[str, Any]], words: frozenset[str], kind: str
) -> str | None:
    return next(
        (name for name, schema in named.items() if parts_of(name) & words and takes(schema, kind)),
        None,
    )
