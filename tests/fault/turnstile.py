"""Lets the writing transactions of a workspace through one at a time.

Every writing transaction locks its workspace's ledger head first. Whoever holds that lock decides
when the next one goes on: between two of them, the world stands still.
"""

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread
from typing import Any, TypeVar, cast
from uuid import UUID

import psycopg
from tests.e2e.tenant import superuser
from tests.plugins.laptop import Laptop
from tests.plugins.waiting import eventually

Answer = TypeVar("Answer")

HOLD = "SELECT position FROM ledger_head WHERE workspace_id = %s FOR UPDATE"
WAITING = """
SELECT pid FROM pg_stat_activity
 WHERE wait_event_type = 'Lock' AND usename = 'cairn_app' AND query LIKE '%ledger_head%FOR UPDATE%'
"""
STANDS_IN_LINE = "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"


class Turnstile:
    """Holds the head of one workspace. Use it within `turnstile`."""

    def __init__(self, laptop: Laptop, workspace_id: UUID, look: psycopg.Connection[Any]) -> None:
        self._laptop, self._workspace_id, self._look = laptop, workspace_id, look
        self._ghosts: set[int] = set()
        self._holder = self._connect()
        self._hold(self._holder)

    def waiting(self) -> set[int]:
        """Who waits to write, those left out whose process was killed."""
        rows = self._look.execute(cast("Any", WAITING)).fetchall()
        return {pid for (pid,) in rows} - self._ghosts

    def forget_waiting(self) -> None:
        """Those who wait now are dead: their backends only learn of it when they get the lock."""
        self._ghosts |= self.waiting()

    def let_through(self) -> None:
        """Let those who wait now write, one after the other, and hold everybody who comes later."""
        following = self._connect()
        thread = Thread(target=self._hold, args=(following,), daemon=True)
        thread.start()
        pid = following.info.backend_pid
        eventually(
            lambda: self._look.execute(STANDS_IN_LINE, [pid]).fetchone(), what="the next in line"
        )
        self._release(self._holder)
        thread.join(timeout=30)
        self._holder = following

    def meanwhile(self, call: Callable[[], Answer]) -> Answer:
        """Let through whoever waits until a call that writes has its answer."""
        with ThreadPoolExecutor(1) as thread:
            called = thread.submit(call)
            while not called.done():
                if self.waiting():
                    self.let_through()
            return called.result()

    def open(self) -> None:
        """Let everybody through from now on."""
        self._release(self._holder)

    def _connect(self) -> psycopg.Connection[Any]:
        connection = self._laptop.stack.cluster(self._laptop.stack.saved()).connect("cairn")
        connection.autocommit = False
        return connection

    def _hold(self, connection: psycopg.Connection[Any]) -> None:
        connection.execute(HOLD, [self._workspace_id])

    def _release(self, connection: psycopg.Connection[Any]) -> None:
        connection.rollback()
        connection.close()


@contextmanager
def turnstile(laptop: Laptop, workspace_id: UUID) -> Generator[Turnstile]:
    """Hold a workspace's head until the block ends."""
    with superuser(laptop) as look:
        held = Turnstile(laptop, workspace_id, look)
        try:
            yield held
        finally:
            held.open()
