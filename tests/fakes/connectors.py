"""Connectors in memory. For tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.connectors.connector import Registered
from cairn.connectors.lifecycle import Health

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.connectors.connector import Connector, Listing


@dataclass(frozen=True)
class InMemoryConnectors:
    """Does what `PostgresConnectors` does."""

    tables: Tables

    def add(self, connector: Connector, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when the name is taken."""
        if connector.name in self.tables.connectors:
            return False
        found = Registered(connector=connector, health=Health())
        self.tables.connectors[connector.name] = (found, sealed_secrets)
        return True

    def change(self, connector: Connector, sealed_secrets: bytes | None) -> None:
        """Keep another shape of one, with its secrets when they are given."""
        found, secrets = self.tables.connectors[connector.name]
        secrets = secrets if sealed_secrets is None else sealed_secrets
        self.tables.connectors[connector.name] = (replace(found, connector=connector), secrets)

    def remove(self, name: str) -> bool:
        """Remove one with its state; False when there is none."""
        return self.tables.connectors.pop(name, None) is not None

    def find(self, name: str) -> Registered | None:
        """Return one."""
        found, _ = self.tables.connectors.get(name, (None, b""))
        return found

    def all(self) -> Sequence[Registered]:
        """Return every one, by name."""
        return [found for _, (found, _) in sorted(self.tables.connectors.items())]

    def secrets(self, name: str) -> bytes | None:
        """Return the sealed secrets of one."""
        _, secrets = self.tables.connectors.get(name, (None, None))
        return secrets

    def hold_health(self, connector_id: UUID) -> Health | None:
        """Return how one is, which nobody else changes until the transaction ends."""
        every = (found for found, _ in self.tables.connectors.values())
        return next((item.health for item in every if item.connector.id == connector_id), None)

    def keep_health(self, connector_id: UUID, health: Health) -> None:
        """Keep how one is; nothing when it was removed meanwhile."""
        self._keep(connector_id, health=health)

    def keep_listing(self, connector_id: UUID, listing: Listing | None) -> None:
        """Keep what one listed; None forgets it."""
        self._keep(connector_id, listing=listing)

    def _keep(self, connector_id: UUID, **changes: Health | Listing | None) -> None:
        for name, (found, secrets) in self.tables.connectors.items():
            if found.connector.id == connector_id:
                changed = replace(found, **changes)  # pyright: ignore[reportArgumentType]
                self.tables.connectors[name] = (changed, secrets)
                return
