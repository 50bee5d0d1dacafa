"""Results of reads, kept for a minute in this process. Not for writes, errors or dry runs."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.connectors.port import ToolResult
    from cairn.kernel.clock import Stopwatch

SECONDS = 60.0
MOST = 200

Key = tuple["UUID", str, str, str, str]
"""Workspace, connector, tool, what runs at which manifest, the arguments' digest."""


@dataclass(slots=True)
class ResultCache:
    """At most `MOST` results, the least recently kept leaving first. Safe between threads."""

    stopwatch: Stopwatch
    _kept: OrderedDict[Key, tuple[float, ToolResult]] = field(
        default_factory=OrderedDict[Key, "tuple[float, ToolResult]"]
    )
    _lock: Lock = field(default_factory=Lock)

    def find(self, key: Key) -> ToolResult | None:
        """Return a result of the last 60 s, marked as kept."""
        with self._lock:
            at, result = self._kept.get(key, (None, None))
            if at is None or result is None:
                return None
            if self.stopwatch() - at >= SECONDS:
                del self._kept[key]
                return None
            return replace(result, cached=True, ms=0)

    def keep(self, key: Key, result: ToolResult) -> None:
        """Keep a result from now on."""
        with self._lock:
            self._kept[key] = (self.stopwatch(), result)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)

    def forget(self, workspace_id: UUID, connector: str) -> None:
        """Drop what a connector said: something was written through it, or it has changed."""
        with self._lock:
            for key in [one for one in self._kept if one[:2] == (workspace_id, connector)]:
                del self._kept[key]
