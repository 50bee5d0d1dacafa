"""Which look comes next: the call of a tool, or the SQL, that shows what a use is after. Pure.

What was tried is read from the observations, so a planner needs no memory of its own. A tool or a
table that was refused or failed is not asked again: the next one that serves is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.investigations.planning.envelope import arguments_of
from cairn.investigations.planning.letters import APPLIED, mended
from cairn.investigations.planning.records import (
    filled,
    parts_of,
    records,
    required_of,
    serves,
    serving,
    takes,
)
from cairn.investigations.state import NextKind, Plan
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.planning.records import Record, Use
    from cairn.investigations.ports import Question
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
    for tool in sorted(tools, key=lambda tool: tool.key):
        arguments = arguments_of(tool)
        sql = _argument(arguments, _QUERY, "string")
        values = _argument(arguments, _PARAMETERS, "array")
        if tool.lane is Lane.READ and sql and required_of(tool) <= {sql, values}:
            return Querier(tool=tool, sql=sql, values=values)
    return None


def listing(by: Querier) -> Mapping[str, JsonValue]:
    """Return the arguments that ask for all tables one may read, with their columns."""
    return {by.sql: LISTING}


def lists(observation: Observation) -> bool:
    """Return whether a query was the listing."""
    return LISTING in observation.arguments.values()


def tables(observation: Observation) -> tuple[Table, ...]:
    """Return the tables of a listing."""
    results: list[Table] = []
    for record in records(observation):
        schema, name = record.text("table schema"), record.text("table name")
        columns = record.text("column").split(",")
        if _PLAIN.fullmatch(schema) and _PLAIN.fullmatch(name):
            plain = tuple(each for each in columns if _PLAIN.fullmatch(each))
            results.append(Table(schema=schema, name=name, columns=plain))
    return tuple(results)


def table_for(tables_read: Iterable[Table], use: Use, slots: Mapping[str, str]) -> Table | None:
    """Return the table that serves and can be asked whose, the best named one first."""
    fitting = [
        table
        for table in tables_read
        if use.columns
        and all(_column(table, column) for column in use.columns)
        and _who(table, use, slots) is not None
    ]
    return min(
        fitting,
        key=lambda item: (not parts_of(item.name) & use.nouns, len(item.columns), item.quoted),
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
    shown = ", ".join(f'"{column}"' for column in table.columns if not parts_of(column) & _HIDDEN)
    latest = _column(table, _TIMES)
    order = f' ORDER BY "{latest}" DESC' if latest else ""
    quotes = f"$c{mark.hex}$"
    placeholder = "%s" if by.values else f"{quotes}{value}{quotes}"
    sql = (  # names are plain ones of the database's listing, the value is a parameter or quoted
        f'SELECT {shown} FROM {table.quoted} WHERE lower("{column}"::text) = lower({placeholder})'  # noqa: S608
        f"{order} LIMIT {ROWS}"
    )
    return {by.sql: sql, by.values: [value]} if by.values else {by.sql: sql}


def queried(observation: Observation, table: Table) -> bool:
    """Return whether a query was of this table."""
    return any(
        isinstance(value, str) and f"FROM {table.quoted} " in value
        for value in observation.arguments.values()
    )


def _who(table: Table, use: Use, slots: Mapping[str, str]) -> tuple[str, str] | None:
    for slot in use.by:
        column = _column(table, _WHO.get(slot, ()))
        if column and slots.get(slot):
            return column, slots[slot]
    return None


def _column(table: Table, columns: Iterable[str]) -> str | None:
    for want in columns:
        parts = set(want.split())
        for column in table.columns:
            if parts <= parts_of(column):
                return column
    return None


def _argument(
    arguments: Mapping[str, Mapping[str, Any]], words: frozenset[str], kind: str
) -> str | None:
    return next(
        (
            name
            for name, schema in arguments.items()
            if parts_of(name) & words and takes(schema, kind)
        ),
        None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Looker:
    """The catalogue and what was observed so far, seen through one investigation's slots."""

    question: Question
    slots: Mapping[str, str]

    def next(self, use: Use) -> Plan | None:
        """Return the call to make for `use`; None when it was made, or none can be."""
        if any(try_.outcome == APPLIED for try_ in self.tries(use)):
            return None
        reason = f"Look at: {use.name}."
        for tool in serving(self.question.tools, use):
            arguments = filled(tool, use, self.slots, reason)
            if arguments is not None and not self._tried(tool):
                return act(tool, arguments, reason)
        return self._by_table(use, reason)

    def tries(self, use: Use) -> list[Observation]:
        """Return what was observed for `use`, refusals and failures too."""
        table = self._table(use)
        return [
            observation
            for observation in self.question.memory.observations
            if serves(observation.connector, observation.tool, use)
            or (table and queried(observation, table))
        ]

    def seen(self, use: Use) -> tuple[list[Record], str] | None:
        """Return the records of the last look that worked, and its citation; None without one."""
        worked = [try_ for try_ in self.tries(use) if mended(try_)]
        if not worked:
            return None
        return list(records(worked[-1])), f"[tool:{worked[-1].action_id}]"

    def _by_table(self, use: Use, reason: str) -> Plan | None:
        by = querier(self.question.tools)
        if by is None or not use.columns:
            return None
        if not self._listings():
            return act(by.tool, listing(by), f"Find the table of: {use.name}.")
        table = self._table(use)
        if table is None or self.tries(use):
            return None
        mark = self.question.investigation_id
        arguments = question(by, table, use, self.slots, mark)
        return act(by.tool, arguments, reason) if arguments is not None else None

    def _listings(self) -> list[Observation]:
        """Return the listings of tables that were asked for: a verdict is given no catalogue."""
        return [
            observation for observation in self.question.memory.observations if lists(observation)
        ]

    def _table(self, use: Use) -> Table | None:
        listed = [table for listing in self._listings() for table in tables(listing)]
        return table_for(listed, use, self.slots)

    def _tried(self, tool: ToolSpec) -> bool:
        return any(_same(observation, tool) for observation in self.question.memory.observations)


def act(
    tool: ToolSpec,
    arguments: Mapping[str, JsonValue],
    reason: str,
    evidence: Sequence[str] = (),
) -> Plan:
    """Return the plan to call a tool."""
    return Plan(
        kind=NextKind.ACT,
        reason=reason,
        connector=tool.connector,
        tool=tool.name,
        arguments=arguments,
        evidence=tuple(dict.fromkeys(evidence)),
    )


def _same(observation: Observation, tool: ToolSpec) -> bool:
    return (observation.connector, observation.tool) == (tool.connector, tool.name)
