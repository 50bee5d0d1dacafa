"""One session with one connector, as the event loop sees it. Loads the SDK; `host` keeps it away
until the first call.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp_types as types
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from cairn.connectors.manifest import MAX_TOOLS, META_KEY, UNAUTHORIZED
from cairn.connectors.port import described
from cairn.connectors.reports import (
    Fault,
    Lost,
    NotSent,
    NotStarted,
    Refused,
    TimedOut,
    Unauthorised,
)
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.connectors.wires import Wire

for _name in ("client", "mcp.client", "mcp.shared"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)
"""The SDK logs what it cannot read, with what it read: texts of people."""

CLIENT = types.Implementation(name="cairn", version="1")
FAULT_KEY = "cairn"
"""In the `data` of errors that our own transports make of an HTTP status."""
NOT_SENT, LOST = "not-sent", "lost"

MAX_PAGES = 20
GRACE = 10.0
"""Seconds that calls have to be answered in, once a session is to end."""
SPARE = 2.0
"""Seconds beyond a call's own within which its words must have left this process."""

_LISTED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


class Session:
    """A running session. Everything but `ended` and `in_flight` is for the event loop only."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._stop = anyio.Event()
        self._client: ClientSession | None = None
        self.version = ""
        self.tools: list[dict[str, Any]] = []
        self.in_flight = 0
        self.ended = False
        self.relisted = False
        """Whether it said since that it lists other tools now."""

    @property
    def is_alive(self) -> bool:
        """Return whether it may still answer, as far as can be seen without asking."""
        return not self.ended and self._wire.is_alive

    async def serve(self, seconds: float, begun: Callable[[Fault | None], None]) -> None:
        """Open the wire, shake hands, tell `begun`, and stay until `stop` or the wire's end."""
        fault: Fault | None = NotStarted()
        try:
            async with (
                self._wire.open() as (read, write),
                ClientSession(
                    read, write, client_info=CLIENT, message_handler=self._heard
                ) as client,
            ):
                self._client = client
                fault = await self._handshake(seconds)
                begun(fault)  # whoever waits need not see the process off
                if fault is None:
                    await self._stop.wait()
                    await self._finish()
        except OSError as exc:
            fault = NotStarted(exc.strerror)
        except CairnError as exc:  # a server in this process that does not like its settings
            fault = NotStarted(described(exc.detail))
        finally:
            self.ended = True
            begun(fault)

    async def call(
        self, name: str, arguments: dict[str, Any], meta: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Call a tool; return the result in its JSON form.

        Raises NotSent, Lost, TimedOut, Unauthorised and Refused.
        """
        params = types.CallToolRequestParams.model_validate(
            {"name": name, "arguments": arguments, "_meta": meta}
        )
        request = types.CallToolRequest(params=params)
        result = await self._send_request(request, types.CallToolResult, seconds)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def ping(self, seconds: float) -> None:
        """Ask whether it is there; raises what `call` raises."""
        await self._send_request(types.PingRequest(), types.EmptyResult, seconds)

    async def listing(self, seconds: float) -> list[dict[str, Any]]:
        """Return what it lists now; raises what `call` raises."""
        try:
            with anyio.fail_after(seconds):
                return await self._list()
        except TimeoutError:
            raise TimedOut from None
        except MCPError as exc:
            raise self._fault(exc) from None
        except (ValidationError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise Lost from None

    async def stop(self) -> None:
        """Let `serve` end: it waits for what is in flight, then ends the wire."""
        self._stop.set()

    async def _heard(self, message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.relisted = True

    async def _finish(self) -> None:
        self.ended = True
        with anyio.move_on_after(GRACE):
            while self.in_flight:
                await anyio.sleep(0.02)
        await self._wire.stop()

    async def _handshake(self, seconds: float) -> Fault | None:
        try:
            with anyio.fail_after(seconds):
                await self._introduce()
                self.tools = await self._list()
        except TimeoutError:
            return NotStarted(self._wire.said() or f"no answer within {seconds:g} s")
        except (MCPError, ValidationError, RuntimeError) as exc:
            return self._not_started(exc)
        self._wire.settled()
        return None

    def _not_started(self, exc: Exception) -> Fault:
        if isinstance(exc, MCPError) and _declared(exc) == UNAUTHORIZED:
            return Unauthorised()
        why = exc.error.message if isinstance(exc, MCPError) else "its answers are not MCP"
        return NotStarted(self._wire.said() or described(why, 300))

    async def _introduce(self) -> None:
        client = self._client
        assert client is not None
        try:
            await client.initialize()
        except MCPError as exc:
            if exc.error.code not in {types.METHOD_NOT_FOUND, types.UNSUPPORTED_PROTOCOL_VERSION}:
                raise
            await client.discover()  # a server of the revision without a handshake
        self.version = client.server_info.version if client.server_info else ""

    async def _list(self) -> list[dict[str, Any]]:
        client = self._client
        assert client is not None
        results: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor) if cursor else None
            page = await client.list_tools(params=params)
            results += [_listed(tool) for tool in page.tools]
            cursor = page.next_cursor
            if not cursor or len(results) > MAX_TOOLS:
                break
        return results

    async def _send_request(self, request: Any, kind: Any, seconds: float) -> Any:
        if self._client is None or not self.is_alive:
            raise NotSent
        self.in_flight += 1
        try:
            with anyio.fail_after(seconds + SPARE):
                return await self._client.send_request(
                    request, kind, request_read_timeout_seconds=seconds
                )
        except TimeoutError:
            raise TimedOut from None
        except MCPError as exc:
            raise self._fault(exc) from None
        except (ValidationError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise Lost from None
        finally:
            self.in_flight -= 1

    def _fault(self, exc: MCPError) -> Fault:
        declared = _declared(exc)
        if declared == UNAUTHORIZED:
            return Unauthorised()
        if declared == NOT_SENT:
            return NotSent()
        if exc.error.code == types.REQUEST_TIMEOUT and exc.error.message.startswith("Request '"):
            return TimedOut()
        if declared == LOST or _is_gone(exc):
            return Lost()
        return Refused(described(exc.error.message))


def _listed(tool: types.Tool) -> dict[str, Any]:
    """Return what counts of a tool: what agents see, and what it declares to Cairn."""
    document = tool.model_dump(by_alias=True, mode="json", exclude_none=True)
    fields = {key: document[key] for key in _LISTED if key in document}
    declared = cast("dict[str, Any]", document.get("_meta") or {}).get(META_KEY)
    return fields if declared is None else {**fields, "_meta": {META_KEY: declared}}


def _is_gone(exc: MCPError) -> bool:
    """Return whether the SDK says so: a server may use the same code for errors of its own."""
    code, message = exc.error.code, exc.error.message
    closed = message == "Connection closed" or "stream" in message.lower()
    return code == types.PARSE_ERROR or (code == types.CONNECTION_CLOSED and closed)


def _declared(exc: MCPError) -> str | None:
    """Return the code in an error's data: ours, or the one of the convention for connectors."""
    data: object = exc.error.data
    if not isinstance(data, dict):
        return None
    fields = cast("dict[str, Any]", data)
    code = fields.get(FAULT_KEY, fields.get("code"))
    return code if isinstance(code, str) else None
