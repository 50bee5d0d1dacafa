"""The stores of a transaction that writes subscriptions."""

from __future__ import annotations

from cairn.adapters.postgres.memory.subscriptions import PostgresSubscriptions
from cairn.adapters.postgres.stores import PostgresStores


class PostgresSubscriptionStores(PostgresStores):
    """Implements `ingestion.subscriptions.SubscriptionStores`."""

    @property
    def subscriptions(self) -> PostgresSubscriptions:
        """Return what agents subscribe to."""
        return PostgresSubscriptions(self.connection, self.principal)
