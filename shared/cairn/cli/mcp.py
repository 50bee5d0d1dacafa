"""`cairn mcp`: the MCP server over standard input and output, for clients that start a command.

A bridge: tools, instructions and answers are those of the API's /mcp, under the same key. Nothing
is decided here, and nothing but the protocol is written to standard output.
"""

from typing import TYPE_CHECKING, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import NO_ENVIRONMENT
from cairn.cli.options import deps_of
from cairn.kernel.traces import SESSION

if TYPE_CHECKING:
    from mcp import Client
    from mcp.server.lowlevel import Server

TIMEOUT_SECONDS = 60.0


def mcp(ctx: typer.Context) -> None:
    """Serve MCP over standard input and output, until the input ends."""
    import anyio

    settings = deps_of(ctx).settings
    if not settings.url or not settings.api_key:
        raise Failure("There is no API to serve.", advice=NO_ENVIRONMENT)
    headers = {"authorization": f"Bearer {settings.api_key.get_secret_value()}"}
    if settings.session_id:
        headers[SESSION] = settings.session_id
    anyio.run(_serve, settings.url.rstrip("/"), headers)


async def _serve(url: str, headers: dict[str, str]) -> None:
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError

    async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http:
        try:
            async with Client(streamable_http_client(f"{url}/mcp", http_client=http)) as api:
                server = bridge(api)
                async with stdio_server() as (read, write):
                    await server.run(read, write, server.create_initialization_options())
        except* (MCPError, httpx2.HTTPError) as errors:
            raise Failure(
                f"{url}/mcp cannot be served: {type(errors.exceptions[0]).__name__}.",
                advice="see what is down: cairn status; whose key it is: cairn keys whoami",
            ) from errors


def bridge(api: "Client") -> "Server[Any]":
    """Return a server that answers with what `api` answers."""
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    async def list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return await api.list_tools()

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await api.call_tool(params.name, params.arguments or {})

    return Server(
        "cairn", instructions=api.instructions, on_list_tools=list_tools, on_call_tool=call_tool
    )
