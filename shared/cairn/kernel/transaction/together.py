"""Work of several threads done by one of them: what arrives while it is busy is done together.

Nobody waits for company: who comes alone is served at once.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

ItemT = TypeVar("ItemT")

MOST = 32
"""Items that are done together at the most."""


@dataclass(slots=True)
class _Waiting(Generic[ItemT]):
    """An item in line; `turn` comes when it is done, or when its thread is to lead."""

    item: ItemT
    turn: Event = field(default_factory=Event)
    done: bool = False


class Together(Generic[ItemT]):
    """Hands the items of one key to `work`, one group at a time, each group to one thread.

    `work` has to leave with each item what became of it: it must not raise.
    """

    def __init__(self, work: Callable[[Sequence[ItemT]], None], *, most: int = MOST) -> None:
        self._work = work
        self._most = most
        self._lock = Lock()
        self._lines: dict[Hashable, deque[_Waiting[ItemT]]] = {}

    def __call__(self, key: Hashable, item: ItemT) -> None:
        """Return when `item` is done."""
        waiting = _Waiting(item)
        with self._lock:
            leads = key not in self._lines
            line = self._lines.setdefault(key, deque())
            line.append(waiting)
        if not leads:
            waiting.turn.wait()
        if not waiting.done:
            self._lead(key, line)

    def _lead(self, key: Hashable, line: deque[_Waiting[ItemT]]) -> None:
        """Do the first items in line and let the next one lead."""
        with self._lock:
            group = [line.popleft() for _ in range(min(len(line), self._most))]
        try:
            self._work([item.item for item in group])
        finally:
            with self._lock:
                following = line[0] if line else None
                if following is None:
                    del self._lines[key]
            for item in group:
                item.done = True
                item.turn.set()
            if following is not None:
                following.turn.set()
