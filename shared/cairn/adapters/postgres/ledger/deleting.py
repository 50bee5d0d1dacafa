"""A workspace's rows, found and removed by the database's owner. Not its keys and objects."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from psycopg import sql
from psycopg.rows import kwargs_row, scalar_row

from cairn.accounts.keys import record
from cairn.adapters.postgres.accounts import as_owner
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store_transactions import PostgresStores
from cairn.forgetting.prove import Looked
from cairn.forgetting.workspaces import DELETED, WorkspaceFound
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id
from cairn.writing.append import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Connection

STORE = "postgresql"
KEPT: Mapping[str, str] = {
    "public.ledger": "the chain stays: random ids, types and times; its bodies have no keys",
    "public.ledger_head": "where the chain ends",
}


@dataclass(frozen=True)
class PostgresWorkspaceRows:
    """Implements `WorkspaceRows` as the owner of the database."""

    owner_url: str

    def find(self, workspace_id: UUID, /) -> WorkspaceFound | None:
        """Return a workspace, deleted or not."""
        with as_owner(self.owner_url, snapshot=True) as connection:
            cursor = connection.cursor(row_factory=kwargs_row(WorkspaceFound))
            return cursor.execute(query("deletion.find"), {"workspace_id": workspace_id}).fetchone()

    def close(self, workspace_id: UUID, /) -> None:
        """Remove its API keys."""
        with as_owner(self.owner_url) as connection:
            connection.execute(query("deletion.close"), {"workspace_id": workspace_id})

    def subjects(self, workspace_id: UUID, /) -> Sequence[UUID]:
        """Return whose keys seal anything of it."""
        with as_owner(self.owner_url, snapshot=True) as connection:
            cursor = connection.cursor(row_factory=scalar_row)
            return cursor.execute(
                query("deletion.subjects"), {"workspace_id": workspace_id}
            ).fetchall()

    def erase(self, workspace_id: UUID, /) -> Mapping[str, int]:
        """Remove its rows and return how many by table."""
        with as_owner(self.owner_url) as connection:
            return _erase(connection, workspace_id)

    def finish(self, workspace_id: UUID, counts: Mapping[str, int], now: datetime, /) -> None:
        """Remove what was written meanwhile, append that it is deleted, and mark it."""
        parameters = {"workspace_id": workspace_id}
        with as_owner(self.owner_url) as connection:
            connection.execute(query("ledger.lock_head"), parameters)
            _erase(connection, workspace_id)
            record(
                PostgresStores(connection, system_principal(workspace_id)),
                workspace_id=workspace_id,
                type_=DELETED,
                meta={"counts": dict(counts)},
                actor=SYSTEM,
                now=now,
                new_id=new_id,
            )
            connection.execute(query("deletion.mark"), {**parameters, "now": now})

    def look(self, workspace_id: UUID, /) -> Sequence[Looked]:
        """Count its rows in every table; those of its chain stay, and are named."""
        with as_owner(self.owner_url, snapshot=True) as connection:
            return [
                _looked(place, _count(connection, workspace_id, name))
                for place, name in _tables(connection).items()
            ]


def _looked(place: str, rows: int) -> Looked:
    if place in KEPT:
        return Looked(store=STORE, place=place, items=rows, note=KEPT[place])
    return Looked(store=STORE, place=place, items=rows, found=rows)


def _erase(connection: Connection, workspace_id: UUID) -> Mapping[str, int]:
    """Remove rows, those that refer to others first, until a round finds none."""
    tables = {place: name for place, name in _tables(connection).items() if place not in KEPT}
    order = _in_order(connection, tables)
    gone: Counter[str] = Counter()
    while True:
        before = gone.total()
        for place in order:
            removed = connection.execute(
                _about("deletion.erase", tables[place]), {"workspace_id": workspace_id}
            )
            gone[place] += removed.rowcount
        if gone.total() == before:
            return {place.partition(".")[2]: rows for place, rows in gone.items() if rows}


def _in_order(connection: Connection, tables: Mapping[str, sql.Identifier]) -> Sequence[str]:
    order: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(tables, ()))
    for child, parent in connection.execute(query("deletion.references")):
        if child in tables and parent in tables:
            order.add(parent, child)
    return tuple(order.static_order())


def _tables(connection: Connection) -> Mapping[str, sql.Identifier]:
    rows = connection.execute(query("deletion.tables")).fetchall()
    return {place: sql.Identifier(*name) for place, name in rows}


def _count(connection: Connection, workspace_id: UUID, table: sql.Identifier) -> int:
    cursor = connection.cursor(row_factory=scalar_row)
    parameters = {"workspace_id": workspace_id}
    return cursor.execute(_about("deletion.count", table), parameters).fetchone() or 0


def _about(name: str, table: sql.Identifier) -> sql.Composed:
    """Return a named query with a table's name put in by psycopg, quoted."""
    return sql.SQL(query(name).decode()).format(table=table)  # pyright: ignore[reportArgumentType]
