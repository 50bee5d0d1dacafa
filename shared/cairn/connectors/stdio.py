"""Connectors as processes of their own: what they are given, what is read of them, how they end.

The SDK's own transport gives a child HOME and USER, reads lines of any length into memory and
waits 2 s; this one gives it what is listed, holds no long line, and waits 10 s.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from cairn.connectors.lines import MAX_MESSAGE, Lines, TooLong, mended
from cairn.connectors.port import plain

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from anyio.abc import Process
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

GRACE = 10.0
"""Seconds between SIGTERM and SIGKILL."""
CHUNK = 65_536
MAX_NOISE = 1_000
"""Lines in a row that are no messages, before a process counts as broken."""
KEPT_OUTPUT = 2_000
_POLL = 0.02


class StdioWire:
    """A process that speaks on its standard input and output, in a group of its own."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        grace: float = GRACE,
    ) -> None:
        self._command, self._environment = list(command), dict(environment)
        self._grace = grace
        self._process: Process | None = None
        self._output = b""
        self._settled = False
        self._broken = False
        self._ending = anyio.Lock()
        self._ended = False

    @property
    def pid(self) -> int | None:
        """Return the process's id, which is its group's too."""
        return self._process.pid if self._process else None

    @property
    def is_alive(self) -> bool:
        """Return whether the process runs and its output can be read."""
        process = self._process
        return process is not None and process.returncode is None and not self._broken

    def said(self) -> str | None:
        """Return the last lines of its standard error before the handshake."""
        output = self._output
        if len(output) == KEPT_OUTPUT:  # its first line is the end of one, perhaps of a secret
            output = output.partition(b"\n")[2]
        return plain(output.decode("utf-8", "replace")).strip() or None

    def settled(self) -> None:
        """Forget its standard error, and keep none from now on."""
        self._settled, self._output = True, b""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[TransportStreams]:
        """Start the process; OSError when it cannot be started."""
        process = self._process = await anyio.open_process(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            cwd=tempfile.gettempdir(),
            start_new_session=True,
        )
        heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        saying, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, process, heard)
            group.start_soon(self._write, process, outgoing, heard)
            group.start_soon(self._listen, process)
            group.start_soon(self._see_off, process)
            try:
                yield hearing, saying
            finally:
                with anyio.CancelScope(shield=True):
                    await self.stop()
                    for stream in (hearing, saying, heard, outgoing):
                        stream.close()
                    await _closed(process)
                group.cancel_scope.cancel()

    async def stop(self) -> None:
        """SIGTERM to the whole group, SIGKILL to what is left of it after the grace; once."""
        process = self._process
        async with self._ending:
            if process is None or self._ended:
                return
            await self._end(process)
            self._ended = True

    async def _end(self, process: Process) -> None:
        if process.returncode is None:
            _signal(process, signal.SIGTERM)
            with anyio.move_on_after(self._grace):
                while process.returncode is None:
                    await anyio.sleep(_POLL)
        _signal(process, signal.SIGKILL)
        with anyio.move_on_after(self._grace):
            while process.returncode is None:
                await anyio.sleep(_POLL)

    async def _read(
        self, process: Process, heard: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        lines, noise = Lines(), 0
        assert process.stdout is not None
        with suppress(
            anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, TooLong
        ):
            while noise < MAX_NOISE and lines.size <= MAX_MESSAGE:
                for line in lines.feed(await process.stdout.receive(CHUNK)):
                    message = _message(line)
                    noise = 0 if message else noise + bool(line.strip())
                    if message is not None:
                        await heard.send(message)
        self._broken = True
        heard.close()
        await self.stop()  # nobody listens to it any more

    async def _see_off(self, process: Process) -> None:
        """End what a process leaves behind when it exits: it may hold the output open."""
        await process.wait()
        await self.stop()

    async def _write(
        self,
        process: Process,
        outgoing: MemoryObjectReceiveStream[SessionMessage],
        heard: MemoryObjectSendStream[SessionMessage | Exception],
    ) -> None:
        assert process.stdin is not None
        try:
            async for item in outgoing:
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(line.encode() + b"\n")
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            self._broken = True
            heard.close()

    async def _listen(self, process: Process) -> None:
        assert process.stderr is not None
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            while True:
                chunk = await process.stderr.receive(CHUNK)
                if not self._settled:
                    self._output = (self._output + chunk)[-KEPT_OUTPUT:]


def _message(line: bytes) -> SessionMessage | None:
    try:
        read = types.jsonrpc_message_adapter.validate_json(mended(line), by_name=False)
    except ValueError:
        return None
    return SessionMessage(read)


def _signal(process: Process, number: signal.Signals) -> None:
    """Signal the group; nothing when there is none any more."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _closed(process: Process) -> None:
    """Give the pipes back; a grandchild that holds one open must not keep us."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                await stream.aclose()
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        transport.close()
