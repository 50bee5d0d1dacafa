"""The transaction port over any group of stores: the caller names what it needs, this binds it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from cairn.storage.postgres.database import Connection, Database, PostgresTransactions, bound

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from cairn.access import Principal

S = TypeVar("S")


class StoreTransactions(Generic[S]):
    """Implements `cairn.transaction.Transactions` for the stores that `stores` makes.

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
        """Open a writing transaction that holds the workspace's ledger head."""
        with PostgresTransactions(self._database).writing(principal, once=once) as stores:
            yield self._stores(stores.connection, principal)
