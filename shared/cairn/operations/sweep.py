"""The hourly sweep: what the outbox still owes is sent, what waited in vain is let go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cairn.kernel.clock import Clock, Stopwatch

ROWS_A_BATCH = 500
"""Some 20 MB of searches: each batch is one short transaction."""

MODEL_CALLS_FOR = timedelta(days=400)
"""How long each call of a model is kept: a year's bill and a month to ask about it."""


DropOld: TypeAlias = "Callable[[datetime, int], int]"
"""Removes at most so many rows older than a time that are done with; returns how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepForDays:
    """Drops what is older than `age`, in batches; what `seconds` do not reach waits."""

    drop: DropOld
    age: timedelta
    clock: Clock
    stopwatch: Stopwatch
    seconds: float = 120.0

    def __call__(self) -> int:
        """Return how many were dropped."""
        before, until = self.clock() - self.age, self.stopwatch() + self.seconds
        dropped = last = self.drop(before, ROWS_A_BATCH)
        while last == ROWS_A_BATCH and self.stopwatch() < until:
            last = self.drop(before, ROWS_A_BATCH)
            dropped += last
        return dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What every hour does.

    `oldest` measures how many seconds work has waited, before `send` sends unfinished outbox rows;
    `expire` drops messages whose time to wait is over. `forget` drops old searches, `deliveries`
    what webhooks were told and `model_calls` what was asked of models; `finish_forgettings` takes
    up what was interrupted of forgetting somebody. All but `oldest` return how many there were.
    """

    oldest: Callable[[], int]
    send: Callable[[], int]
    expire: Callable[[], int]
    forget: Callable[[], int]
    deliveries: Callable[[], int]
    model_calls: Callable[[], int]
    finish_forgettings: Callable[[], int]

    def __call__(self) -> dict[str, int]:
        """Do all of it and return the counts; what others wait for comes first."""
        return {
            "oldest_waiting_seconds": self.oldest(),
            "sent": self.send(),
            "expired_messages": self.expire(),
            "forgotten_searches": self.forget(),
            "forgotten_deliveries": self.deliveries(),
            "forgotten_model_calls": self.model_calls(),
            "finished_forgettings": self.finish_forgettings(),
        }
