"""What a workspace's connectors offer, as they listed it last. Nothing is started; not the host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.connectors.manifests import Manifests
from cairn.connectors.port import ConnectorView
from cairn.kernel.access.system import system_principal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.connectors.ports import ConnectorStores
    from cairn.kernel.transaction import Transactions


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConnectors:
    """Implements `agent.ports.Connectors`; one whose tools were never listed offers none."""

    transactions: Transactions[ConnectorStores]
    manifests: Manifests = field(default_factory=Manifests)

    def connectors(self, workspace_id: UUID) -> Sequence[ConnectorView]:
        """Return the workspace's connectors with the manifests last seen."""
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            every = stores.connectors.all()
        return [
            ConnectorView(
                name=one.connector.name, state=one.health.state, manifest=self.manifests(one)
            )
            for one in every
        ]
