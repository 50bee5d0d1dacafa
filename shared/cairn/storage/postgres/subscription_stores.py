"""The stores of a transaction that writes subscriptions."""

from __future__ import annotations

from cairn.storage.postgres.stores import PostgresStores
from cairn.storage.postgres.subscriptions import PostgresSubscriptions


class PostgresSubscriptionStores(PostgresStores):
    """Implements `ingestion.subscriptions.SubscriptionStores`."""

    @property
    def subscriptions(self) -> PostgresSubscriptions:
        """Return what agents subscribe to."""
        return PostgresSubscriptions(self.connection, self.principal)
