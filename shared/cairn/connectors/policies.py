"""What a workspace lets its agents do, read from the table of connectors. Not deciding by it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from cairn.connectors.manifest import read_manifest
from cairn.kernel.access.system import system_principal
from cairn.safety.profiles import DEFAULT_PROFILE
from cairn.safety.rules import ConnectorPolicy, Policy
from cairn.safety.scope import parse_scopes

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.connectors.connector import Registered
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.safety.tools import Criticality, Manifest


MAX_MANIFESTS = 500
"""Kept as read, in this process."""


class Manifests:
    """Reads what connectors listed; a listing of another hash is another one."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, str, Criticality], Manifest] = {}

    def __call__(self, found: Registered) -> Manifest | None:
        """Return the manifest a connector listed last; None for one that never listed any."""
        listing, connector = found.listing, found.connector
        if listing is None:
            return None
        key = (connector.name, listing.hash, connector.criticality)
        known = self._read.get(key)
        if known is None:
            known = read_manifest(
                connector.name, listing.version, listing.tools, criticality=connector.criticality
            )
            if len(self._read) >= MAX_MANIFESTS:
                self._read.clear()
            self._read[key] = known
        return known


Profiles: TypeAlias = "Callable[[UUID], str]"
"""Which redaction profile a workspace has. Return its name."""


def default_profile(workspace_id: UUID) -> str:
    """Return the profile of workspaces that chose none."""
    return DEFAULT_PROFILE


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorPolicies:
    """Implements `safety.policy.Policies`: the rows are read anew at each call."""

    transactions: Transactions[Stores]
    profiles: Profiles = default_profile
    manifests: Manifests = field(default_factory=Manifests)

    def __call__(self, workspace_id: UUID) -> Policy:
        """Return the workspace's policy."""
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            every = stores.connectors.all()
        found = {one.connector.name: _policy(one, self.manifests(one)) for one in every}
        return Policy(connectors=found, redaction=self.profiles(workspace_id))


def _policy(found: Registered, manifest: Manifest | None) -> ConnectorPolicy:
    connector = found.connector
    return ConnectorPolicy(
        connector=connector.name,
        autonomy=connector.autonomy,
        scopes=parse_scopes(connector.scopes, connector=connector.name),
        manifest=manifest,
        criticality=connector.criticality,
    )
