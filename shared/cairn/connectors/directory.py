"""The connectors of workspaces as the host sees them, over the stores. Not their registration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from cairn.connectors.connector import Launch, holder_of
from cairn.connectors.manifest import read_manifest
from cairn.connectors.reports import unavailable
from cairn.kernel.access.system import system_principal
from cairn.kernel.records import convert
from cairn.safety.profiles import DEFAULT_PROFILE
from cairn.safety.rules import ConnectorPolicy, Policy
from cairn.safety.scope import parse_scopes
from cairn.writing.append import append_unprojected, principal_actor
from cairn.writing.entries import plan_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.connectors.connector import Connector, Listing, Registered
    from cairn.connectors.lifecycle import Health
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.kernel.transaction import Transactions
    from cairn.oauth_client.tokens import Tokens
    from cairn.safety.tools import Criticality, Manifest
    from cairn.writing.platform import Platform
    from cairn.writing.secrets import Secrets


MAX_MANIFESTS = 500
"""Kept as read, in this process."""


class Manifests:
    """Reads what connectors listed; a listing of another hash is another one."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str, Criticality], Manifest] = {}

    def __call__(self, registered: Registered) -> Manifest | None:
        """Return the manifest a connector listed last; None for one that never listed any."""
        listing, connector = registered.listing, registered.connector
        if listing is None:
            return None
        key = (connector.name, listing.hash, connector.criticality)
        manifest = self._read.get(key)
        if manifest is None:
            manifest = read_manifest(
                connector.name, listing.version, listing.tools, criticality=connector.criticality
            )
            if len(self._read) >= MAX_MANIFESTS:
                self._read.clear()
            self._read[key] = manifest
        return manifest


Profiles: TypeAlias = "Callable[[UUID], str]"
"""Which redaction profile a workspace has. Return its name."""


def default_profile(workspace_id: UUID) -> str:
    """Return the profile of workspaces that chose none."""
    return DEFAULT_PROFILE


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorPolicies:
    """Implements `safety.rules.Policies`: the rows are read anew at each call."""

    transactions: Transactions[Stores]
    profiles: Profiles = default_profile
    manifests: Manifests = field(default_factory=Manifests)

    def __call__(self, workspace_id: UUID) -> Policy:
        """Return the workspace's policy."""
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            every = stores.connectors.all()
        policies = {item.connector.name: _policy(item, self.manifests(item)) for item in every}
        return Policy(connectors=policies, redaction=self.profiles(workspace_id))


def _policy(registered: Registered, manifest: Manifest | None) -> ConnectorPolicy:
    connector = registered.connector
    return ConnectorPolicy(
        connector=connector.name,
        autonomy=connector.autonomy,
        scopes=parse_scopes(connector.scopes, connector=connector.name),
        manifest=manifest,
        criticality=connector.criticality,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDirectory:
    """Connectors as rows. `states` writes without holding the workspace's ledger.

    `tokens` gives the tokens of sign-ins; without it no connector has one.
    """

    platform: Platform
    states: Transactions[Stores]
    secrets: Secrets
    tokens: Tokens | None = None

    def all(self, workspace_id: UUID) -> Sequence[Registered]:
        """Return every connector, by name."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            return stores.connectors.all()

    def find(self, workspace_id: UUID, name: str) -> Registered | None:
        """Return one."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            return stores.connectors.find(name)

    def launch(self, workspace_id: UUID, connector: Connector) -> Launch:
        """Return what starting one needs, its secrets opened.

        Raises ConnectorUnavailable (`connector-changed`) for one that is not as it was looked up:
        new secrets go to no old address.
        """
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            registered = stores.connectors.find(connector.name)
            sealed = stores.connectors.secrets(connector.name)
        if registered is None or _runs(registered.connector) != _runs(connector):
            raise unavailable("connector-changed", connector.name)
        opened = self.secrets.opened(workspace_id, connector.id, sealed) if sealed else {}
        holder = holder_of(connector, opened)
        bearer = self.tokens.of(workspace_id, holder) if self.tokens and holder else None
        return convert(connector, Launch, secrets=opened, bearer=bearer)

    def keep(
        self, workspace_id: UUID, connector: Connector, becomes: Callable[[Health], Health]
    ) -> None:
        """Keep what becomes of how one is by now; nothing when it was removed meanwhile."""
        with self.states.writing(system_principal(workspace_id)) as stores:
            health = stores.connectors.hold_health(connector.id)
            if health is not None:
                stores.connectors.keep_health(connector.id, becomes(health))

    def seen(self, workspace_id: UUID, connector: Connector, listing: Listing) -> None:
        """Keep what one listed, and write into the ledger that it was seen: version and hash."""
        principal = system_principal(workspace_id)
        with self.platform.transactions.writing(principal) as stores:
            stores.connectors.keep_listing(connector.id, listing)
            recorded(
                stores,
                principal,
                "connector.manifest_seen",
                connector.id,
                {"version": listing.version, "hash": listing.hash, "tools": len(listing.tools)},
                clock=self.platform.clock,
                new_id=self.platform.new_id,
            )


def recorded(
    stores: Stores,
    principal: Principal,
    type_: str,
    connector_id: UUID,
    meta: dict[str, JsonValue],
    *,
    clock: Clock,
    new_id: IdSource,
) -> None:
    """Append an entry about a connector: ids, enums, counts and hashes, no names."""
    now = clock()
    entry = plan_entry(
        id=new_id(),
        workspace_id=principal.workspace_id,
        type=type_,
        actor=principal_actor(principal),
        occurred_at=now,
        meta={"connector_id": str(connector_id), **meta},
    )
    append_unprojected(stores, [entry], now)


def _runs(connector: Connector) -> tuple[UUID, int]:
    return connector.id, connector.revision
