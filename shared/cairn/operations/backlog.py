"""How long work waits for a worker, of all workspaces. Not how much: see `stats`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cairn.kernel.clock import Clock

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
