"""The hourly sweep: what the outbox still owes is sent, what is old goes; how long work waits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cairn.kernel.clock import Clock, Stopwatch


PROMPT = (Topic.EMBED, Topic.TICKET)
"""Topics whose worker ends a row as soon as it has it. A row is as old as its message, or older."""

BEHIND_AFTER = timedelta(minutes=15)
"""How long anything may wait before somebody should look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What has waited longest; `topic` is None, and `seconds` 0, when nothing waits."""

    topic: str | None = None
    seconds: int = 0

    @property
    def behind(self) -> bool:
        """Whether it has waited too long."""
        return self.seconds > BEHIND_AFTER.total_seconds()

    @property
    def minutes(self) -> str:
        """How long it has waited, for people."""
        return f"{self.seconds // 60} min" if self.seconds >= 60 else f"{self.seconds} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureBacklog:
    """Looks at the oldest row of the outbox that nobody took: `oldest` returns topic and time."""

    oldest: Callable[[], tuple[str, datetime] | None]
    clock: Clock

    def __call__(self) -> Backlog:
        """Return what has waited longest."""
        row = self.oldest()
        if row is None:
            return Backlog()
        topic, since = row
        return Backlog(topic=topic, seconds=max(0, int((self.clock() - since).total_seconds())))


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
    what webhooks were told and `model_calls` what was asked of models; `remove_expired`
    removes memories that lasted for a time; `finish_forgettings` takes
    up what was interrupted of forgetting somebody; `end_intents` ends those of members whose time
    is over. All but `oldest` return how many there were.
    """

    oldest: Callable[[], int]
    send: Callable[[], int]
    expire: Callable[[], int]
    forget: Callable[[], int]
    deliveries: Callable[[], int]
    model_calls: Callable[[], int]
    remove_expired: Callable[[], int]
    finish_forgettings: Callable[[], int]
    end_intents: Callable[[], int]

    def __call__(self) -> dict[str, int]:
        """Do all of it and return the counts; what others wait for comes first."""
        return {
            "oldest_waiting_seconds": self.oldest(),
            "sent": self.send(),
            "expired_messages": self.expire(),
            "forgotten_searches": self.forget(),
            "forgotten_deliveries": self.deliveries(),
            "forgotten_model_calls": self.model_calls(),
            "expired_memories": self.remove_expired(),
            "finished_forgettings": self.finish_forgettings(),
            "expired_intents": self.end_intents(),
        }
