"""What the routes of connectors call. The use cases stand in `mcp_host.registry`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.connectors.port import ToolCall, ToolResult
    from cairn.connectors.registry import ConnectorShown
    from cairn.connectors.requests import ConnectorChange, NewConnector
    from cairn.kernel.access import Principal


class ConnectorServices(Protocol):
    """Register, change, show, look at, restart and remove connectors; `mcp_host.registry`."""

    def register(self, principal: Principal, new: NewConnector) -> ConnectorShown: ...
    def change(
        self, principal: Principal, name: str, change: ConnectorChange
    ) -> ConnectorShown: ...
    def remove(self, principal: Principal, name: str) -> None: ...
    def restart(self, principal: Principal, name: str) -> ConnectorShown: ...
    def all(self, principal: Principal) -> Sequence[ConnectorShown]: ...
    def one(self, principal: Principal, name: str) -> ConnectorShown: ...
    def check(self, principal: Principal, name: str) -> ConnectorShown: ...
    def call(self, principal: Principal, call: ToolCall) -> ToolResult: ...
