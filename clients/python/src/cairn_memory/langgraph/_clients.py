"""What a store and a saver ask the API: generators of calls, so that with `await` is the same."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

from cairn_memory import AsyncMemory, Memory
from cairn_memory._call import Call

T = TypeVar("T")
Steps: TypeAlias = Generator[Call[Any], Any, T]


class Clients:
    """A client, and one with `await` for the loop that runs."""

    def __init__(
        self, url: str | None, key: str | None, client_id: str | None, timeout: float
    ) -> None:
        self.memory = Memory(url, key, client_id=client_id, timeout=timeout)
        self._options: dict[str, Any] = {"url": url, "key": key, "timeout": timeout}
        self._async: AsyncMemory | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, steps: Steps[T]) -> T:
        """Send each call and return what the steps come to."""
        sent: Any = None
        while True:
            try:
                call = steps.send(sent)
            except StopIteration as done:
                return done.value
            sent = self.memory.call(call)

    async def arun(self, steps: Steps[T]) -> T:
        """Do the same with `await`."""
        client, sent = self.awaiting(), None
        while True:
            try:
                call = steps.send(sent)
            except StopIteration as done:
                return done.value
            sent = await client.call(call)

    def awaiting(self) -> AsyncMemory:
        """Return the client of the running loop; connections belong to the one they began in."""
        loop = asyncio.get_running_loop()
        if self._async is None or self._loop is not loop:
            self._async, self._loop = AsyncMemory(**self._options), loop
        return self._async

    def close(self) -> None:
        """Close the connections of the client without `await`."""
        self.memory.close()

    async def aclose(self) -> None:
        """Close those with `await`, and the others."""
        self.close()
        if self._async is not None:
            await self._async.close()
