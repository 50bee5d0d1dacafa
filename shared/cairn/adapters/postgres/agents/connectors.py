"""Connectors and how they are, in PostgreSQL."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Json

from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, part, record
from cairn.adapters.postgres.store_transactions import PostgresStores
from cairn.connectors.connector import Connector, Listing, Registered, Transport
from cairn.connectors.lifecycle import Health
from cairn.connectors.port import ConnectorState
from cairn.safety.tools import Autonomy, Criticality

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from datetime import datetime
    from uuid import UUID

    from psycopg import Cursor

    from cairn.adapters.postgres.database import Database
    from cairn.kernel.access import Principal


class PostgresConnectors(Store):
    """The connectors of the transaction's workspace."""

    def add(self, connector: Connector, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when the name is taken."""
        if self._write("connector.add", connector, sealed_secrets).fetchone() is None:
            return False
        self.run("connector.add_state", id=connector.id)
        return True

    def change(self, connector: Connector, sealed_secrets: bytes | None) -> None:
        """Keep another shape of one, with its secrets when they are given."""
        self._write("connector.change", connector, sealed_secrets)

    def _write(self, name: str, connector: Connector, secrets: bytes | None) -> Cursor[Any]:
        config = Json(dict(connector.config))
        return self.write(name, connector, called=connector.name, config=config, secrets=secrets)

    def remove(self, name: str) -> bool:
        """Remove one with its state; False when there is none."""
        return self.run("connector.remove", called=name).rowcount == 1

    def find(self, name: str) -> Registered | None:
        """Return one."""
        return self.first_of(REGISTERED, "connector.all", called=name)

    def all(self) -> Sequence[Registered]:
        """Return every one, by name."""
        return self.all_of(REGISTERED, "connector.all", called=None)

    def secrets(self, name: str) -> bytes | None:
        """Return the sealed secrets of one."""
        return self.value("connector.secrets", called=name)

    def hold_health(self, connector_id: UUID) -> Health | None:
        """Return how one is, which nobody else changes until the transaction ends."""
        health = record(Health, state=ConnectorState)
        return self.first_of(health, "connector.hold_health", id=connector_id)

    def keep_health(self, connector_id: UUID, health: Health) -> None:
        """Keep how one is; nothing when it was removed meanwhile."""
        self.write("connector.keep_health", health, id=connector_id)

    def keep_listing(self, connector_id: UUID, listing: Listing | None) -> None:
        """Keep what one listed; None forgets it."""
        self.run(
            "connector.keep_listing",
            id=connector_id,
            version=listing.version if listing else None,
            hash=listing.hash if listing else None,
            tools=Json(list(listing.tools)) if listing else None,
        )


@dataclass(frozen=True)
class StateTransactions:
    """Transactions that write how connectors are and leave the workspace's ledger alone."""

    database: Database

    @contextmanager
    def reading(
        self, principal: Principal, *, timeout_ms: int | None = None
    ) -> Generator[PostgresStores]:
        """Open a read-only transaction bound to the principal."""
        with bound(self.database, principal, timeout_ms=timeout_ms) as connection:
            yield PostgresStores(connection, principal)

    @contextmanager
    def writing(
        self, principal: Principal, *, once: str | None = None
    ) -> Generator[PostgresStores]:
        """Open a writing transaction; entries must not be appended in it."""
        with bound(self.database, principal, read_only=False) as connection:
            yield PostgresStores(connection, principal)


@dataclass(frozen=True)
class ConnectorsToCheck:
    """Calls the definer function that finds connectors nobody looked at, in every workspace."""

    database: Database

    def __call__(self, before: datetime, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return (workspace, name) of at most `limit`, the longest unseen first."""
        parameters = {"before": before, "limit": limit}
        with self.database.connection() as connection:
            return connection.execute(query("connector.to_check"), parameters).fetchall()


def _registered(**row: Any) -> Registered:
    listing = None
    if row["manifest_hash"] is not None:
        listing = Listing(
            version=row["manifest_version"], hash=row["manifest_hash"], tools=row["manifest"]
        )
    return Registered(connector=part(Connector, row), health=part(Health, row), listing=listing)


REGISTERED = record(
    _registered,
    transport=Transport,
    autonomy=Autonomy,
    criticality=Criticality,
    state=ConnectorState,
)
