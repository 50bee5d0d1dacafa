"""The scheduled look at connectors: which are due, one after the other, within its time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.connectors.lifecycle import Health
    from cairn.kernel.clock import Clock, Stopwatch

EVERY = timedelta(minutes=4)
"""One that was called or looked at since is left alone; the schedule comes every five."""
MOST = 500


class ToCheck(Protocol):
    """Finds connectors of every workspace nobody looked at, the longest unseen first."""

    def __call__(self, before: datetime, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return (workspace, name) of at most `limit`."""
        ...


class Checks(Protocol):
    """The host, as far as this asks it."""

    def check(self, workspace_id: UUID, name: str) -> Health:
        """Look whether one is well, and keep how it is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckConnectors:
    """Looks at those that are due. What there is no time for is the next run's first."""

    due: ToCheck
    host: Checks
    clock: Clock
    stopwatch: Stopwatch
    report: Callable[[str, dict[str, object]], None] = lambda event, fields: None

    def __call__(self, *, seconds: float) -> dict[str, int]:
        """Return how many were looked at, how many of them are well, and how many are left."""
        begun, due = self.stopwatch(), self.due(self.clock() - EVERY, MOST)
        looked = well = 0
        for workspace_id, name in due:
            if self.stopwatch() - begun > seconds:
                break
            looked += 1
            well += self._is_well(workspace_id, name)
        return {"looked_at": looked, "well": well, "left": len(due) - looked}

    def _is_well(self, workspace_id: UUID, name: str) -> bool:
        told: dict[str, object] = {"workspace_id": str(workspace_id), "connector": name}
        try:
            health = self.host.check(workspace_id, name)
        except CairnError as error:  # removed meanwhile, or its secrets cannot be opened
            self.report("connector.not_checked", {**told, "error": error.code})
            return False
        if health.is_well:
            return True
        self.report("connector.not_well", {**told, "state": health.state, "error": health.error})
        return False
