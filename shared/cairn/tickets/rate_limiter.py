"""How often a source's webhook may knock, a minute, at one process. Not a quota over processes.

Whoever knocks has no key of ours yet, and looking whether a delivery is signed costs a lookup and
the opening of a secret. What is turned away comes with the next poll.
"""

from __future__ import annotations

from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING

from cairn.kernel.errors import RateLimited

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

MOST = 300
WINDOW_SECONDS = 60


class RateLimiter:
    """Counts deliveries by source in windows of a minute."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._window, self._lock = most, 0, Lock()
        self._counts: Counter[UUID] = Counter()

    def __call__(self, source_id: UUID, now: datetime) -> None:
        """Count one; RateLimited when there were too many in this window."""
        window, into = divmod(int(now.timestamp()), WINDOW_SECONDS)
        with self._lock:
            if window != self._window:
                self._window = window
                self._counts.clear()
            self._counts[source_id] += 1
            count = self._counts[source_id]
        if count > self._most:
            raise RateLimited(
                f"A ticket source takes {self._most} deliveries in {WINDOW_SECONDS} s.",
                retry_after=WINDOW_SECONDS - into,
                reason="too-many-deliveries",
            )
