"""Connectors behind the fake API: the real registry and host, over stores in memory."""

from dataclasses import dataclass
from uuid import UUID

from tests.support.hosting import Hosting, Scripted, registry_of, tool

WORKSPACE = UUID(int=1)


@dataclass
class ConnectorWorld:
    """A host in which a connector named `accounts` answers in this process."""

    workspace_id: UUID = WORKSPACE

    def __post_init__(self) -> None:
        self.hosting = Hosting(workspace_id=self.workspace_id)
        tools = [
            tool("find"),
            tool("reset", writes=True, dangerous=True, idempotent=True, supports_dry_run=True),
        ]
        self.script = self.hosting.scripted.setdefault("accounts", Scripted(tools=tools))
        self.registry = registry_of(self.hosting)
