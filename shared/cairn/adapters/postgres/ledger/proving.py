"""Look for texts and ids in every column of every table of the catalogue. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg import sql
from psycopg.rows import class_row, scalar_row

from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.sql import query
from cairn.forgetting.prove import KEEPS_IDS, Looked, distinctive_words
from cairn.kernel.access.system import system_principal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from psycopg.rows import RowFactory

    from cairn.adapters.postgres.database import Connection, Database
    from cairn.forgetting.prove import Needles

R = TypeVar("R")

STORE = "postgresql"
TIMEOUT_MS = 300_000
_KINDS = {
    "proof.in_text": ("text", "json", "jsonb", "_text", "varchar", "_varchar", "tsvector"),
    "proof.in_bytes": ("bytea",),
    "proof.in_id": ("uuid",),
    "proof.in_ids": ("_uuid",),
}
_KIND_OF = {type_: name for name, types in _KINDS.items() for type_ in types}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    schema: str
    table: str
    name: str
    type: str
    readable: bool
    by_workspace: bool


@dataclass(frozen=True)
class PostgresSearcher:
    """Implements `Searcher` as the functions' role: it sees its workspace whole."""

    database: Database

    def __call__(self, workspace_id: UUID, needles: Needles, /) -> Iterable[Looked]:
        """Look at every table; one that cannot be read is told."""
        principal = system_principal(workspace_id)
        with bound(
            self.database, principal, sees_deleted=True, timeout_ms=TIMEOUT_MS
        ) as connection:
            columns = _all(connection, class_row(_Column), "proof.columns")
            for (schema, table), group in groupby(
                columns, key=lambda column: (column.schema, column.table)
            ):
                yield _look(connection, workspace_id, needles, f"{schema}.{table}", list(group))


@dataclass(frozen=True)
class PostgresPurgedNodes:
    """Implements `PurgedNodes`."""

    database: Database

    def __call__(self, workspace_id: UUID, forgetting_id: UUID, /) -> Collection[UUID]:
        """Return the nodes that the entries of a forgetting name."""
        parameters = {"workspace_id": workspace_id, "id": str(forgetting_id)}
        with bound(self.database, system_principal(workspace_id)) as connection:
            return _all(connection, scalar_row, "proof.purged", parameters)


@dataclass(frozen=True)
class PostgresDistinctive:
    """Implements `Distinctive`."""

    database: Database
    most: int = 10

    def __call__(self, workspace_id: UUID, node_ids: Collection[UUID], /) -> Sequence[str]:
        """Return up to `most` words that only these nodes' texts have, the longest first."""
        parameters: dict[str, Any] = {"workspace_id": workspace_id, "ids": list(node_ids)}
        with bound(self.database, system_principal(workspace_id), sees_deleted=True) as connection:
            texts = _all(connection, scalar_row, "proof.texts", parameters)
            parameters["words"] = list(distinctive_words(texts, most=10 * self.most))
            words = _all(connection, scalar_row, "proof.distinctive", parameters)
        words.sort(key=lambda item: (-len(item), item))
        return words[: self.most]


def _all(
    connection: Connection,
    factory: RowFactory[R],
    name: str,
    parameters: Mapping[str, Any] | None = None,
) -> list[R]:
    return connection.cursor(row_factory=factory).execute(query(name), parameters).fetchall()


def _look(
    connection: Connection,
    workspace_id: UUID,
    needles: Needles,
    place: str,
    columns: Sequence[_Column],
) -> Looked:
    searched = [column for column in columns if _is_wanted(column, place)]
    hidden = [column.name for column in columns if column.type in _KIND_OF and not column.readable]
    if not any(column.readable for column in columns):
        return Looked(store=STORE, place=place, searched=False, note="hashes only; not readable")
    note = f"not readable: {', '.join(hidden)}" if hidden else ""
    if not searched:
        return Looked(store=STORE, place=place, note=note)
    parameters = {
        "workspace_id": workspace_id,
        "texts": needles.folded(),
        "bytes": [form.encode() for text in needles.texts for form in (text, text.lower())],
        "ids": list(needles.ids),
    }
    items, *counts = connection.execute(
        _statement(columns[0], searched), parameters
    ).fetchone() or (0,)
    hits = {column.name: count for column, count in zip(searched, counts, strict=True) if count}
    notes = [note, f"found in {', '.join(hits)}" if hits else ""]
    return Looked(
        store=STORE,
        place=place,
        items=items,
        found=max(hits.values(), default=0),
        note="; ".join(filter(None, notes)),
    )


def _is_wanted(column: _Column, place: str) -> bool:
    kind = _KIND_OF.get(column.type)
    is_id = kind in ("proof.in_id", "proof.in_ids")
    return bool(kind) and column.readable and not (is_id and place in KEEPS_IDS)


def _statement(table: _Column, searched: Sequence[_Column]) -> sql.Composed:
    counts = [
        _query_template(_KIND_OF[column.type]).format(column=sql.Identifier(column.name))
        for column in searched
    ]
    place = sql.SQL("t.workspace_id = %(workspace_id)s") if table.by_workspace else sql.SQL("true")
    return _query_template("proof.rows").format(
        counts=sql.SQL(", ").join(counts),
        table=sql.Identifier(table.schema, table.table),
        workspace=place,
    )


def _query_template(name: str) -> sql.SQL:
    """Return a named query as a template: its names are put in by psycopg, quoted."""
    return sql.SQL(query(name).decode())  # pyright: ignore[reportArgumentType]
