"""How long each stage of a discovery took. It knows nothing of what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.kernel.spans import passed

if TYPE_CHECKING:
    from cairn.kernel.clock import Stopwatch


class Stages:
    """Milliseconds by stage, in order."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch, self._last = stopwatch, stopwatch()
        self.ms: dict[str, float] = {}

    def end(self, stage: str) -> None:
        """Say that a stage ended now, and the next begins."""
        now = self._stopwatch()
        self.ms[stage] = (now - self._last) * 1000
        passed(f"discovery {stage}", now - self._last)
        self._last = now
