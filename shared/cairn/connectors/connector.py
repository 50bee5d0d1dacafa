"""A connector as a workspace has registered it: how it is reached, and what agents may do with it.

Not how it is at the moment (`lifecycle`), not what it offers (`manifest`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from cairn.safety.tools import Autonomy, Criticality

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.connectors.lifecycle import Health
    from cairn.connectors.wires import Wire
    from cairn.kernel.text.json_value import JsonValue
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


class Transport(StrEnum):
    """How a connector is talked to."""

    STDIO = "stdio"  # a process of its own: a bundled connector, or a command
    HTTP = "http"  # MCP's streamable HTTP, at an address
    IN_PROCESS = "in_process"  # a bundled connector inside this process


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """A registered connector. Secrets are not part of it: only the names of them.

    One of `builtin`, `command` and `url` says what runs, by `transport`. `config` are settings in
    clear: those of a bundled connector, `env` of a command, `headers` of an address. `scopes` is
    the text of the scope rules. `revision` counts changes of what runs.
    """

    id: UUID
    name: str
    transport: Transport
    created_at: datetime
    changed_at: datetime
    builtin: str | None = None
    command: tuple[str, ...] = ()
    url: str | None = None
    config: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    secret_names: tuple[str, ...] = ()
    scopes: str = ""
    autonomy: Autonomy = Autonomy.INVESTIGATE
    criticality: Criticality = Criticality.SKIP
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a transport needs to reach a connector. Holds secrets: never logged, never shown."""

    name: str
    transport: Transport
    builtin: str | None = None
    command: tuple[str, ...] = ()
    url: str | None = None
    config: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    secrets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)


def arguments_digest(arguments: Mapping[str, JsonValue]) -> str:
    """Return SHA-256 (hex) of arguments, alike for arguments that mean the same."""
    said = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
