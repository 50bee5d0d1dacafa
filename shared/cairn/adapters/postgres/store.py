"""What every store of a transaction is made of, and how rows become records. No use case."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar, cast

from psycopg.rows import dict_row, scalar_row

from cairn.adapters.postgres.sql import query

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import psycopg
    from psycopg.rows import RowFactory, RowMaker

    from cairn.kernel.access import Principal

R = TypeVar("R")


def record(make: Callable[..., R], **convert: Callable[[Any], Any]) -> RowFactory[R]:
    """Return what calls `make` with each row's columns by their names.

    Arrays come as tuples; `convert` says what else becomes of a column that is not null.
    """

    def factory(cursor: psycopg.Cursor[Any]) -> RowMaker[R]:
        columns = cursor.description or ()
        names = [column.name for column in columns]
        changed = {
            name: convert.get(name, tuple)
            for name, column in zip(names, columns, strict=True)
            if name in convert or _is_array(cursor, column.type_code)
        }

        def make_record(values: Sequence[Any]) -> R:
            row = dict(zip(names, values, strict=True))
            for name, change in changed.items():
                if row[name] is not None:
                    row[name] = change(row[name])
            return make(**row)

        return make_record

    return factory


def keyed(make: Callable[..., R], key: str = "id") -> RowFactory[tuple[Any, R]]:
    """Return what makes a pair of each row: the column `key`, and `make` of the others."""

    def pair(**row: Any) -> tuple[Any, R]:
        return row.pop(key), make(**row)

    return record(pair)


def part(kind: type[R], row: Mapping[str, Any]) -> R:
    """Return a dataclass of those columns of a row that are named as its fields."""
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in row.items() if name in names})


def scalar(connection: psycopg.Connection[Any], name: str, parameters: Mapping[str, Any]) -> Any:
    """Run a named query; return the first column of its first row, None without one."""
    return connection.cursor(row_factory=scalar_row).execute(query(name), parameters).fetchone()


def _is_array(cursor: psycopg.Cursor[Any], oid: int) -> bool:
    info = cursor.adapters.types.get(oid)
    return info is not None and info.array_oid == oid


def _columns(row: object) -> dict[str, Any]:
    """Return a record's values by name as columns take them: lists, and the values of enums."""
    values = {field.name: getattr(row, field.name) for field in fields(row)}  # type: ignore[arg-type]
    for name, value in values.items():
        if isinstance(value, tuple):
            values[name] = list(cast("tuple[Any, ...]", value))
        elif isinstance(value, Enum):
            values[name] = value.value
    return values


@dataclass(frozen=True)
class Store:
    """What every store has: the transaction's connection and who it is for."""

    connection: psycopg.Connection[Any]
    principal: Principal

    @property
    def _workspace(self) -> dict[str, Any]:
        return {"workspace_id": self.principal.workspace_id}

    def run(self, name: str, **parameters: Any) -> psycopg.Cursor[Any]:
        """Run a named query of this workspace."""
        return self.connection.execute(query(name), self._workspace | parameters)

    def write(self, name: str, row: object, **others: Any) -> psycopg.Cursor[Any]:
        """Run a named query of this workspace with a record's fields, and `others`, by name."""
        return self.connection.execute(query(name), _columns(row) | others | self._workspace)

    def run_binary(self, name: str, **parameters: Any) -> psycopg.Cursor[Any]:
        """Run a named query whose rows come in binary, as vectors should."""
        return self.connection.execute(query(name), self._workspace | parameters, binary=True)

    def all_of(self, factory: RowFactory[R], name: str, **parameters: Any) -> list[R]:
        """Run a named query and return its rows as `factory` makes them."""
        with self.connection.cursor(row_factory=factory) as cursor:
            return cursor.execute(query(name), self._workspace | parameters).fetchall()

    def first_of(self, factory: RowFactory[R], name: str, **parameters: Any) -> R | None:
        """Run a named query and return its first row as `factory` makes it."""
        with self.connection.cursor(row_factory=factory) as cursor:
            return cursor.execute(query(name), self._workspace | parameters).fetchone()

    def rows(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Run a named query and return its rows by the names of their columns."""
        return self.all_of(dict_row, name, **parameters)

    def values(self, name: str, **parameters: Any) -> list[Any]:
        """Run a named query and return the first column."""
        return self.all_of(scalar_row, name, **parameters)

    def value(self, name: str, **parameters: Any) -> Any:
        """Run a named query and return the first column of its first row, None without one."""
        return self.first_of(scalar_row, name, **parameters)
