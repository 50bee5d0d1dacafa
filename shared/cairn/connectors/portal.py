"""One thread with an event loop, for everything of MCP that is asynchronous. The rest is not."""

from __future__ import annotations

from concurrent.futures import TimeoutError as NotDone
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.connectors.faults import TimedOut

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future

    from anyio.from_thread import BlockingPortal

T = TypeVar("T")


@dataclass(slots=True)
class Portal:
    """Starts its thread when it is first asked for something. Safe between threads."""

    _lock: Lock = field(default_factory=Lock)
    _portal: BlockingPortal | None = None
    _thread: Thread | None = None

    def run(self, seconds: float, ask: Callable[..., Awaitable[T]], *arguments: object) -> T:
        """Await `ask(*arguments)` over there and return what it returns.

        `ask` keeps its own time; after `seconds` nobody over there does anything any more, and
        TimedOut is raised.
        """
        future: Future[T] = self._entered().start_task_soon(ask, *arguments)
        try:
            return future.result(seconds)
        except NotDone:
            if future.done():
                raise
            future.cancel()
            raise TimedOut from None

    def start(self, task: Callable[..., Awaitable[Any]], *arguments: object) -> Future[Any]:
        """Let `task(*arguments)` run over there."""
        return self._entered().start_task_soon(task, *arguments)

    def close(self) -> None:
        """Stop the thread, once what runs there has ended."""
        with self._lock:
            portal, thread = self._portal, self._thread
            self._portal = self._thread = None
        if portal is not None and thread is not None:
            portal.start_task_soon(portal.stop, False)
            thread.join()

    def _entered(self) -> BlockingPortal:
        with self._lock:
            if self._portal is None:
                ready = Event()
                self._thread = Thread(target=self._serve, args=(ready,), name="mcp", daemon=True)
                self._thread.start()
                ready.wait()
            assert self._portal is not None
            return self._portal

    def _serve(self, ready: Event) -> None:
        import anyio
        from anyio.from_thread import BlockingPortal

        async def serve() -> None:
            async with BlockingPortal() as portal:
                self._portal = portal
                ready.set()
                await portal.sleep_until_stopped()

        anyio.run(serve)
