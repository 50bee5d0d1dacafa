"""The transaction port over any group of stores: the caller names what it needs, this binds it."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from cairn.adapters.postgres.database import Connection, Database, bound
from cairn.adapters.postgres.sql import query
from cairn.kernel.errors import Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from cairn.kernel.access import Principal

S = TypeVar("S")

PREPARED_LOCK_TIMEOUT_MS = 800
"""Less than PostgreSQL's deadlock_timeout: should the head's holder wait for a prepared row after
all, the one that prepared gives way."""


class StoreTransactions(Generic[S]):
    """Implements `PreparingTransactions` for the stores that `stores` makes.

    `stores` is called with the transaction's connection and the principal it is bound to.
    """

    def __init__(self, database: Database, stores: Callable[[Connection, Principal], S]) -> None:
        self._database = database
        self._stores = stores

    @contextmanager
    def reading(self, principal: Principal, *, timeout_ms: int | None = None) -> Generator[S]:
        """Open a read-only transaction bound to the principal."""
        with bound(self._database, principal, timeout_ms=timeout_ms) as connection:
            yield self._stores(connection, principal)

    @contextmanager
    def writing(self, principal: Principal, *, once: str | None = None) -> Generator[S]:
        """Open a writing transaction that holds the workspace's ledger head.

        Conflict while another with the same `once` is open; NotFound without the workspace.
        """
        with bound(self._database, principal, read_only=False, sees_deleted=True) as connection:
            if once is not None:
                take(connection, principal, once)
            lock_head(connection, principal)
            yield self._stores(connection, principal)

    @contextmanager
    def preparing(self, principal: Principal) -> Generator[tuple[S, Callable[[], None]]]:
        """Open a writing transaction with what takes the head; NotFound without the workspace."""
        with bound(
            self._database,
            principal,
            read_only=False,
            sees_deleted=True,
            lock_timeout_ms=PREPARED_LOCK_TIMEOUT_MS,
        ) as connection:
            yield self._stores(connection, principal), partial(lock_head, connection, principal)


def lock_head(connection: Connection, principal: Principal) -> None:
    """Hold the end of the principal's chain until the transaction ends; NotFound without one."""
    head = connection.execute(
        query("ledger.lock_head"), {"workspace_id": principal.workspace_id}
    ).fetchone()
    if head is None:
        raise NotFound("There is no such workspace.", reason="workspace")


def take(connection: Connection, principal: Principal, once: str) -> None:
    """Hold an idempotency key until the transaction ends; Conflict while another one does."""
    name = f"{principal.workspace_id}/{principal.principal_id}/{once}"
    row = connection.execute(query("idempotency.try_lock"), {"name": name}).fetchone()
    if row is None or not row[0]:
        raise Conflict(
            "A request with this Idempotency-Key is still running.", reason="idempotency-in-flight"
        )
