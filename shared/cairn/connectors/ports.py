"""What the host and the registry of connectors need of the stores. Contracts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.connectors.connector import Connector, Launch
    from cairn.connectors.lifecycle import Health
    from cairn.connectors.wires import Wire
    from cairn.writing.ports import LedgerStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a connector listed at its last handshake: the version it goes by, and its tools."""

    version: str
    hash: str
    tools: Sequence[Mapping[str, Any]]

    def accepted(self, name: str) -> frozenset[str]:
        """Return the arguments a tool declares, with those that are the host's to give."""
        for tool in self.tools:
            properties: object = tool["inputSchema"].get("properties")
            if tool["name"] == name and isinstance(properties, dict):
                return frozenset(cast("dict[str, Any]", properties))
        return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A connector with how it is and what it listed."""

    connector: Connector
    health: Health
    listing: Listing | None = None


class ConnectorStore(Protocol):
    """The connectors of the transaction's workspace."""

    def add(self, connector: Connector, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when the name is taken."""
        ...

    def change(self, connector: Connector, sealed_secrets: bytes | None) -> None:
        """Keep another shape of one, with its secrets when they are given."""
        ...

    def remove(self, name: str) -> bool:
        """Remove one with its state; False when there is none."""
        ...

    def find(self, name: str) -> Registered | None:
        """Return one."""
        ...

    def all(self) -> Sequence[Registered]:
        """Return every one, by name."""
        ...

    def secrets(self, name: str) -> bytes | None:
        """Return the sealed secrets of one."""
        ...

    def hold_health(self, connector_id: UUID) -> Health | None:
        """Return how one is, which nobody else changes until the transaction ends."""
        ...

    def keep_health(self, connector_id: UUID, health: Health) -> None:
        """Keep how one is; nothing when it was removed meanwhile."""
        ...

    def keep_listing(self, connector_id: UUID, listing: Listing | None) -> None:
        """Keep what one listed; None forgets it."""
        ...


class ConnectorStores(Protocol):
    """What registering connectors needs of a transaction."""

    @property
    def ledger(self) -> LedgerStore: ...
    @property
    def connectors(self) -> ConnectorStore: ...


class Directory(Protocol):
    """The connectors of workspaces as the host sees them; each method is a transaction."""

    def all(self, workspace_id: UUID) -> Sequence[Registered]:
        """Return every connector, by name."""
        ...

    def find(self, workspace_id: UUID, name: str) -> Registered | None:
        """Return one."""
        ...

    def launch(self, workspace_id: UUID, connector: Connector) -> Launch:
        """Return what starting one needs, its secrets opened.

        Raises ConnectorUnavailable (`connector-changed`) for one that is not as it was looked up.
        """
        ...

    def keep(
        self, workspace_id: UUID, connector: Connector, becomes: Callable[[Health], Health]
    ) -> None:
        """Keep what becomes of how one is by now: other processes call it, too."""
        ...

    def seen(self, workspace_id: UUID, connector: Connector, listing: Listing) -> None:
        """Keep what one listed, and write into the ledger that it was seen: version and hash."""
        ...


class Wires(Protocol):
    """Makes the wire to a connector; bootstrap knows what is bundled and where HTTP may lead."""

    def __call__(self, launch: Launch) -> Wire:
        """Return a wire that is not open yet; ValidationFailed when there can be none."""
        ...


class DatabaseCheck(Protocol):
    """Looks where the credentials of a database connector lead."""

    def __call__(self, dsn: str) -> None:
        """Raise ValidationFailed (`connector-database`) for a database or role of Cairn's.

        Unreachable ones raise it too (`connector-database-unreachable`): nobody could look.
        """
        ...
