"""The search index's view of the database: what it should hold, and which of its ids may be shown.

Not the index. The guard is what makes an index harmless: ids leave it only through here.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg.rows import class_row, scalar_row, tuple_row

from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import keyed, scalar
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Unavailable
from cairn.search_index.sync import Bucket, IndexDocument, IndexState

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from psycopg.rows import RowFactory

    from cairn.adapters.postgres.database import Connection, Database
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.recall.records import Filters

BEHIND_AFTER = timedelta(seconds=60)
"""How long a node may wait for the index before searches stop relying on it."""


R = TypeVar("R")


@dataclass(frozen=True)
class PostgresGuard:
    """Implements `Guard`."""

    database: Database
    clock: Clock

    def __call__(
        self,
        principal: Principal,
        node_ids: Collection[UUID],
        filters: Filters,
        index_name: str,
        timeout_ms: int,
    ) -> frozenset[UUID]:
        """Return those of the ids the principal may find; Unavailable when the index is behind."""
        parameters = {
            "workspace_id": principal.workspace_id,
            "ids": list(node_ids),
            "index_name": index_name,
            "labels": list(filters.labels) or None,
            "kinds": list(filters.kinds) or None,
            "client_id": filters.client_id,
            "scopes": list(filters.scopes) or None,
            "occurred_from": filters.occurred_from,
            "occurred_to": filters.occurred_to,
            "valid_at": filters.valid_at,
            "include_superseded": filters.include_superseded,
        }
        with bound(self.database, principal, timeout_ms=timeout_ms) as connection:
            waiting_since = _waiting_since(connection, principal.workspace_id, index_name)
            if waiting_since and waiting_since < self.clock() - BEHIND_AFTER:
                raise Unavailable("The search index is behind.", reason="behind")
            if not node_ids:
                return frozenset()
            cursor = connection.cursor(binary=True, row_factory=scalar_row)
            return frozenset(cursor.execute(query("search_index.admissible"), parameters))


@dataclass(frozen=True)
class PostgresIndexSource:
    """Implements `IndexSource`."""

    database: Database

    def state(self, workspace_id: UUID, name: str) -> IndexState:
        """Return how far the index has followed the workspace."""
        with self._open(workspace_id) as connection:
            cursor = connection.cursor(row_factory=class_row(IndexState))
            parameters = {"workspace_id": workspace_id, "index_name": name}
            return (
                cursor.execute(query("search_index.state"), parameters).fetchone() or IndexState()
            )

    def changed(
        self, workspace_id: UUID, after: tuple[int, UUID], limit: int
    ) -> Sequence[IndexDocument]:
        """Return nodes changed after a place in the order of changes."""
        parameters = {"position": after[0], "after": after[1], "limit": limit}
        return self._documents("search_index.changed", workspace_id, parameters)

    def documents(self, workspace_id: UUID, node_ids: Collection[UUID]) -> Sequence[IndexDocument]:
        """Return these nodes as they are now."""
        return self._documents("search_index.documents", workspace_id, {"ids": list(node_ids)})

    def advance(
        self, workspace_id: UUID, name: str, position: int, *, refused: int, now: datetime
    ) -> None:
        """Keep that everything up to `position` is in the index."""
        parameters = {"index_name": name, "position": position, "refused": refused, "now": now}
        self._write("search_index.advance", workspace_id, parameters)

    def fail(self, workspace_id: UUID, name: str, failure: str, now: datetime) -> None:
        """Keep why an update failed."""
        parameters = {"index_name": name, "failure": failure, "now": now}
        self._write("search_index.fail", workspace_id, parameters)

    def rewind(self, workspace_id: UUID, name: str) -> None:
        """Let the index follow the workspace from its beginning again."""
        self._write("search_index.rewind", workspace_id, {"index_name": name})

    def forget_others(self, workspace_id: UUID, name: str) -> None:
        """Drop what is known of all other indexes."""
        self._write("search_index.forget", workspace_id, {"index_name": name})

    def pending(self, workspace_id: UUID, position: int) -> int:
        """Return how many nodes changed after `position`."""
        parameters = {"workspace_id": workspace_id, "position": position}
        with self._open(workspace_id) as connection:
            return scalar(connection, "search_index.pending", parameters)

    def buckets(self, workspace_id: UUID) -> Mapping[str, Bucket]:
        """Return what the index should hold by bucket."""
        return dict(self._rows(keyed(Bucket, "bucket"), "search_index.buckets", workspace_id))

    def positions(self, workspace_id: UUID, bucket: str) -> Mapping[UUID, int]:
        """Return the nodes of one bucket and their positions."""
        return dict(self._rows(tuple_row, "search_index.positions", workspace_id, bucket=bucket))

    def _documents(
        self, name: str, workspace_id: UUID, parameters: dict[str, Any]
    ) -> Sequence[IndexDocument]:
        return self._rows(class_row(IndexDocument), name, workspace_id, **parameters)

    def _rows(
        self, factory: RowFactory[R], name: str, workspace_id: UUID, **parameters: Any
    ) -> list[R]:
        with self._open(workspace_id) as connection:
            cursor = connection.cursor(row_factory=factory)
            return cursor.execute(
                query(name), {"workspace_id": workspace_id} | parameters
            ).fetchall()

    def _write(self, name: str, workspace_id: UUID, parameters: dict[str, Any]) -> None:
        with self._open(workspace_id, read_only=False) as connection:
            connection.execute(query(name), {"workspace_id": workspace_id} | parameters)

    @contextmanager
    def _open(self, workspace_id: UUID, *, read_only: bool = True) -> Generator[Connection]:
        """Open a transaction of the system, which sees what is deleted and has to leave the index.

        It holds no ledger head: an index is no part of the chain.
        """
        principal = system_principal(workspace_id)
        with bound(self.database, principal, read_only=read_only, sees_deleted=True) as connection:
            yield connection


def _waiting_since(connection: Connection, workspace_id: UUID, index_name: str) -> datetime | None:
    """Return since when a node the reader may see waits for the index, None when none does."""
    parameters: dict[str, Any] = {"workspace_id": workspace_id, "index_name": index_name}
    parameters["position"] = scalar(connection, "search_index.reached", parameters) or 0
    missing = scalar(connection, "search_index.oldest_missing", parameters)
    if missing is None:
        return None
    return scalar(connection, "search_index.recorded_at", parameters | {"position": missing})
