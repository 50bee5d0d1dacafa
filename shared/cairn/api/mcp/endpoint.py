"""`POST /mcp`: MCP over streamable HTTP, stateless, behind the same keys and limits as the rest.

There is nothing to subscribe to and no session to end, so GET and DELETE are not allowed.
"""

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from cairn.api.dependencies import KeyHolder, Services
from cairn.api.mcp.serving import McpEndpoint
from cairn.api.routing import router

routes = router("mcp")


class _Served(Response):
    """Hands the connection to the MCP server when the framework sends the answer."""

    def __init__(self, endpoint: McpEndpoint) -> None:
        super().__init__()
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint.serve(scope, receive, send)


@routes.post("/mcp", include_in_schema=False)
def mcp(caller: KeyHolder, services: Services, request: Request) -> Response:
    """Answer one MCP message; the tools it lists and calls are those of the key."""
    from cairn.api.mcp.drift import held_to_its_list

    endpoint = request.app.state.mcp
    request.state.principal = held_to_its_list(services, caller, endpoint.log)
    return _Served(endpoint)
