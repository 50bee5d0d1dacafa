"""Where the present time comes from. The only module that may ask; the rest take a `Clock`."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present moment, time-zone aware, in UTC."""

Stopwatch = Callable[[], float]
"""Returns seconds on a monotonic clock, for durations only."""


def utc_now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Return seconds on the monotonic clock."""
    return time.perf_counter()
