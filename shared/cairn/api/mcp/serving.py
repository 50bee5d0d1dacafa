"""One MCP server object an app, served a request at a time. Not the route, and not the tools.

Each request gets a session manager of its own around the one server object, so that a function
which is frozen between requests serves it as well as a process that lives.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cairn.kernel.traces import SESSION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.types import Receive, Scope, Send

    from cairn.api.mcp.tool import Tool
    from cairn.api.middleware import Log
    from cairn.api.options import ApiOptions
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

VERSION = "1"


class McpEndpoint:
    """The server object of an app. It is built with the first request, so others do not pay."""

    def __init__(
        self, services: ApiServices, options: ApiOptions, log: Log, tools: Sequence[Tool] = ()
    ) -> None:
        self._services = services
        self._options = options
        self.log = log
        self._tools = tools

    @cached_property
    def server(self) -> Server[Any]:
        """Return the official SDK's server over the tools."""
        from cairn.api.mcp.catalogue import TOOLS
        from cairn.api.mcp.server import mcp_server
        from cairn.api.mcp.surface import coverage, require_shipped

        require_shipped()
        self.log.info("mcp.tool_surface", extra=asdict(coverage()))
        return mcp_server(
            self._services,
            self._tools or TOOLS,
            caller=_caller,
            session=_session,
            log=self.log,
            version=VERSION,
        )

    def require_tools(self) -> None:
        """Build the server object now; RuntimeError where a list that ships names no tool."""
        _ = self.server

    @cached_property
    def security(self) -> TransportSecuritySettings:
        """Return which Host and Origin headers are answered; any, where none are named."""
        from mcp.server.transport_security import TransportSecuritySettings

        hosts = list(self._options.mcp_hosts)
        origins = [f"http://{host}" for host in hosts] + list(self._options.cors_origins)
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=bool(hosts),
            allowed_hosts=hosts,
            allowed_origins=origins,
        )

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        manager = StreamableHTTPSessionManager(
            self.server,
            json_response=True,
            stateless=True,
            security_settings=self.security,
            max_request_body_size=self._options.max_body_bytes,
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)


def _session(context: ServerRequestContext[Any]) -> str | None:
    """Return the conversation that a delegated run works for, as its request says."""
    assert context.request is not None
    return context.request.headers.get(SESSION)


def _caller(context: ServerRequestContext[Any]) -> Principal:
    """Return who the HTTP request's key belongs to; the route has put it there."""
    assert context.request is not None
    return context.request.state.principal
