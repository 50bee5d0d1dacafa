"""Each workspace's share of a server: of what runs at once, and of what it may ask in a minute.

Reads and writes have a lane each. A request weighs by its body; who is above its share waits in a
line of its own, lines take turns, and who waited too long is refused. Not a function's business:
it serves one request at a time.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from cairn.errors import RateLimited

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Hashable

    from cairn.clock import Stopwatch

WEIGHED_BYTES = 2048
"""Of a body, that count as one request: about one memory with its text."""

MOST_TENANTS = 10_000
MINUTE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a server does at once, and what a workspace may ask of it in a minute."""

    reads_at_once: int = 16
    writes_at_once: int = 32
    longest_wait: float = 10.0
    queries_a_minute: int = 6_000
    items_a_minute: int = 60_000
    bytes_a_minute: int = 268_435_456


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


@dataclass(slots=True)
class Bucket:
    """What is left of a minute's allowance; it fills evenly and may be overdrawn once."""

    size: int
    left: float
    filled_at: float

    def lacking_seconds(self, now: float) -> float:
        """Return for how long it is still empty; 0 when it is not."""
        self.left = min(self.size, self.left + (now - self.filled_at) * self.size / MINUTE)
        self.filled_at = now
        return 0.0 if self.left > 0 else (1.0 - self.left) * MINUTE / self.size


@dataclass
class Fairness:
    """The lanes and allowances of one server process."""

    limits: Limits
    stopwatch: Stopwatch
    _buckets: OrderedDict[tuple[Hashable, str], Bucket] = field(
        default_factory=OrderedDict["tuple[Hashable, str]", Bucket]
    )

    def __post_init__(self) -> None:
        wait = self.limits.longest_wait
        self.reads = Lane(self.limits.reads_at_once, wait)
        self.writes = Lane(self.limits.writes_at_once, wait)

    def require(self, tenant: Hashable, *whats: str) -> None:
        """Raise RateLimited while one of a tenant's allowances is used up."""
        now = self.stopwatch()
        for what in whats:
            seconds = self._bucket(tenant, what, now).lacking_seconds(now)
            if seconds:
                allowed = getattr(self.limits, f"{what}_a_minute")
                raise RateLimited(
                    f"This workspace may send {allowed} {what} in 60 s.",
                    retry_after=seconds,
                    reason=f"workspace-{what}",
                )

    def charge(self, tenant: Hashable, what: str, amount: int) -> None:
        """Take from an allowance, also more than is left: the next request waits for it."""
        self._bucket(tenant, what, self.stopwatch()).left -= amount

    def _bucket(self, tenant: Hashable, what: str, now: float) -> Bucket:
        name = (tenant, what)
        found = self._buckets.get(name)
        if found is None:
            size: int = getattr(self.limits, f"{what}_a_minute")
            found = self._buckets[name] = Bucket(size, float(size), now)
        self._buckets.move_to_end(name)
        if len(self._buckets) > 3 * MOST_TENANTS:
            self._buckets.popitem(last=False)
        return found
