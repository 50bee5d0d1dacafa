"""What a workspace's connectors offer, as they listed it last. Nothing is started; not the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.access.system import system_principal
from cairn.mcp_host.manifest import read_manifest
from cairn.mcp_host.port import ConnectorView

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.mcp_host.ports import ConnectorStores, Registered
    from cairn.safety.tools import Manifest
    from cairn.transaction import Transactions


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConnectors:
    """Implements `agent.ports.Connectors`; one whose tools were never listed offers none."""

    transactions: Transactions[ConnectorStores]

    def connectors(self, workspace_id: UUID) -> Sequence[ConnectorView]:
        """Return the workspace's connectors with the manifests last seen."""
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            every = stores.connectors.all()
        return [
            ConnectorView(name=one.connector.name, state=one.health.state, manifest=_manifest(one))
            for one in every
        ]


def _manifest(found: Registered) -> Manifest | None:
    listing, connector = found.listing, found.connector
    if listing is None:
        return None
    return read_manifest(
        connector.name, listing.version, listing.tools, criticality=connector.criticality
    )
