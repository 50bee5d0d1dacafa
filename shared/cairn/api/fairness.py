"""Each workspace's share of what a server does at once.

Reads and writes have a lane each. A request weighs by its body; who is above its share waits in a
line of its own, lines take turns, and who waited too long is refused. Not a function's business:
it serves one request at a time. What may be asked in a minute is counted by the database.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from cairn.kernel.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Hashable

    from cairn.kernel.clock import Stopwatch

WEIGHED_BYTES = 2048
"""Of a body, that count as one request: about one memory with its text."""

MOST_TENANTS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server does at once, and for how long it lets a request wait."""

    reads_at_once: int = 16
    writes_at_once: int = 32
    longest_wait: float = 10.0


class Lane:
    """Lets so much in at once, and of one tenant no more than half of it.

    A heavy request leaves room for light ones of others, so that heavy ones go one by one.
    """

    def __init__(self, capacity: int, longest_wait: float) -> None:
        self._capacity = capacity
        self._share = max(1, capacity // 2)
        self._longest_wait = longest_wait
        self._held: dict[Hashable, int] = {}
        self._lines: OrderedDict[Hashable, deque[tuple[int, anyio.Event]]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, tenant: Hashable, weight: int) -> AsyncGenerator[None]:
        """Wait for a place; RateLimited when that takes too long."""
        weight = min(weight, self._share)
        await self._enter(tenant, weight)
        try:
            yield
        finally:
            self._leave(tenant, weight)

    async def _enter(self, tenant: Hashable, weight: int) -> None:
        if tenant not in self._lines and self._fits(tenant, weight):
            self._take(tenant, weight)
            return
        turn = anyio.Event()
        self._lines.setdefault(tenant, deque()).append((weight, turn))
        try:
            with anyio.move_on_after(self._longest_wait):
                await turn.wait()
        except BaseException:
            self._give_up(tenant, weight, turn)
            raise
        if not turn.is_set():
            self._give_up(tenant, weight, turn)
            raise RateLimited(
                "This workspace asks for more at once than its share; send less at a time.",
                retry_after=self._longest_wait,
                reason="workspace-busy",
            )

    def _fits(self, tenant: Hashable, weight: int) -> bool:
        mine, all_ = self._held.get(tenant, 0), sum(self._held.values())
        room = self._capacity - (self._share // 2 if weight > self._share // 2 else 0)
        return (not mine or mine + weight <= self._share) and (not all_ or all_ + weight <= room)

    def _take(self, tenant: Hashable, weight: int) -> None:
        self._held[tenant] = self._held.get(tenant, 0) + weight

    def _leave(self, tenant: Hashable, weight: int) -> None:
        self._held[tenant] -= weight
        if not self._held[tenant]:
            del self._held[tenant]
        self._let_in()

    def _let_in(self) -> None:
        """Let in whoever fits, a request of each tenant in turn."""
        going = True
        while going:
            going = False
            for tenant in list(self._lines):
                weight, turn = self._lines[tenant][0]
                if self._fits(tenant, weight):
                    self._take(tenant, weight)
                    turn.set()
                    self._drop(tenant, (weight, turn))
                    if tenant in self._lines:
                        self._lines.move_to_end(tenant)
                    going = True

    def _give_up(self, tenant: Hashable, weight: int, turn: anyio.Event) -> None:
        if turn.is_set():
            self._leave(tenant, weight)
        else:
            self._drop(tenant, (weight, turn))
            self._let_in()

    def _drop(self, tenant: Hashable, waiting: tuple[int, anyio.Event]) -> None:
        line = self._lines[tenant]
        line.remove(waiting)
        if not line:
            del self._lines[tenant]


class Fairness:
    """The lanes of one server process, and whom it need not let in at all for a while."""

    def __init__(self, limits: Limits, stopwatch: Stopwatch) -> None:
        self.reads = Lane(limits.reads_at_once, limits.longest_wait)
        self.writes = Lane(limits.writes_at_once, limits.longest_wait)
        self._stopwatch = stopwatch
        self._refused: OrderedDict[tuple[Hashable, bool], tuple[float, RateLimited]] = OrderedDict()

    def require(self, tenant: Hashable, *, reads: bool) -> None:
        """Raise what a tenant was refused with, while it would be refused again."""
        until, error = self._refused.get((tenant, reads), (0.0, None))
        left = until - self._stopwatch()
        if error is not None and left > 0:
            raise RateLimited(error.detail, retry_after=left, reason=error.reason)

    def refuse(self, tenant: Hashable, error: RateLimited, *, reads: bool) -> None:
        """Remember a refusal of the database for as long as it says."""
        self._refused[tenant, reads] = (self._stopwatch() + (error.retry_after or 0.0), error)
        self._refused.move_to_end((tenant, reads))
        if len(self._refused) > 2 * MOST_TENANTS:
            self._refused.popitem(last=False)
