"""The hourly sweep: what the outbox still owes is sent, what waited in vain is let go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from cairn.clock import Clock, Stopwatch

SEARCHES_A_BATCH = 500
"""Some 20 MB: each batch is one short transaction."""


class DropSearches(Protocol):
    """Removes kept searches, of every workspace."""

    def __call__(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` counted searches older than `before`; return how many went."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetSearches:
    """Drops the searches older than `age`, in batches; what `seconds` do not reach waits."""

    drop: DropSearches
    age: timedelta
    clock: Clock
    stopwatch: Stopwatch
    seconds: float = 120.0

    def __call__(self) -> int:
        """Return how many searches were dropped."""
        before, until = self.clock() - self.age, self.stopwatch() + self.seconds
        dropped = last = self.drop(before, SEARCHES_A_BATCH)
        while last == SEARCHES_A_BATCH and self.stopwatch() < until:
            last = self.drop(before, SEARCHES_A_BATCH)
            dropped += last
        return dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """`send` sends unfinished outbox rows; `expire` drops messages whose time to wait is over.

    `forget` drops old searches, `finish_forgettings` takes up what was interrupted of forgetting
    somebody. Each returns how many there were.
    """

    send: Callable[[], int]
    expire: Callable[[], int]
    forget: Callable[[], int]
    finish_forgettings: Callable[[], int]

    def __call__(self) -> dict[str, int]:
        """Do all of it and return the counts; what others wait for comes first."""
        return {
            "sent": self.send(),
            "expired_messages": self.expire(),
            "forgotten_searches": self.forget(),
            "finished_forgettings": self.finish_forgettings(),
        }
