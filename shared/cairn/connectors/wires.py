"""What a session runs over: a process, an address, or a server in this process. Loads the SDK.

A wire is entered once. Leaving it ends what it started; `stop` asks it to end first.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import anyio
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.memory import create_client_server_memory_streams

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from contextlib import AbstractAsyncContextManager

    from mcp.client._transport import TransportStreams

SERVER_GRACE = 2.0
"""Seconds a server in this process has to end when its streams do."""


@runtime_checkable
class Wire(Protocol):
    """One connection to one connector."""

    def open(self) -> AbstractAsyncContextManager[TransportStreams]:
        """Start what there is to start and return the streams; OSError when it cannot be."""
        ...

    async def stop(self) -> None:
        """Ask it to end and wait for that, for a while; then end it."""
        ...

    @property
    def is_alive(self) -> bool:
        """Return whether it may still answer, as far as can be seen without asking."""
        ...

    def said(self) -> str | None:
        """Return the last it said that was no message; for one that did not start."""
        ...

    def settled(self) -> None:
        """Stop keeping what it says: from now on it is about people."""
        ...


class _Quiet:
    """A wire that has no process of its own."""

    def __init__(self) -> None:
        self._open = False

    async def stop(self) -> None:
        self._open = False

    @property
    def is_alive(self) -> bool:
        return self._open

    def said(self) -> str | None:
        return None

    def settled(self) -> None:
        pass


class InProcessWire(_Quiet):
    """Runs a server of the SDK beside its client, over memory streams.

    The server shares the event loop with every other connector: it must not block.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        super().__init__()
        self._make = make

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        server = self._make()
        async with create_client_server_memory_streams() as (client, (read, write)):
            ended = anyio.Event()

            async def serve() -> None:
                try:
                    await server.run(read, write, server.create_initialization_options())
                finally:
                    self._open = False
                    await write.aclose()
                    ended.set()

            async with anyio.create_task_group() as group:
                group.start_soon(serve)
                self._open = True
                try:
                    yield client
                finally:
                    await client[1].aclose()
                    with anyio.move_on_after(SERVER_GRACE, shield=True):
                        await ended.wait()
                    group.cancel_scope.cancel()


class HttpWire(_Quiet):
    """Talks streamable HTTP. `client` makes the HTTP client: where it may lead is its business."""

    def __init__(self, url: str, client: Callable[[], Any]) -> None:
        super().__init__()
        self._url, self._client = url, client

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        async with (
            self._client() as client,
            streamable_http_client(self._url, http_client=client) as streams,
        ):
            self._open = True
            try:
                yield streams
            finally:
                self._open = False
