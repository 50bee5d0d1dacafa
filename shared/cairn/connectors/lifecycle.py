"""How a connector is, and what each event makes of it. Pure; the host reports, stores keep it.

Backoff doubles from half a second; the sixth failure within 5 minutes degrades. Wall clocks jump:
a restart that lies in the future counts as one of just now, and no wait is longer than its own
length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias

from cairn.connectors.port import ConnectorState
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.connectors.host import Host
    from cairn.kernel.clock import Clock, Stopwatch


EVERY = timedelta(minutes=4)
"""One that was called or looked at since is left alone; the schedule comes every five."""
MOST = 500


ToCheck: TypeAlias = "Callable[[datetime, int], Sequence[tuple[UUID, str]]]"
"""Finds connectors of every workspace nobody looked at, the longest unseen first.

Return (workspace, name) of at most `limit`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckConnectors:
    """Looks at those that are due. What there is no time for is the next run's first."""

    due: ToCheck
    host: Host
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
        fields: dict[str, object] = {"workspace_id": str(workspace_id), "connector": name}
        try:
            health = self.host.check(workspace_id, name)
        except CairnError as error:  # removed meanwhile, or its secrets cannot be opened
            self.report("connector.not_checked", {**fields, "error": error.code})
            return False
        if health.is_well:
            return True
        self.report("connector.not_well", {**fields, "state": health.state, "error": health.error})
        return False


MAX_RESTARTS = 5
WINDOW = timedelta(minutes=5)
FIRST_BACKOFF = timedelta(seconds=0.5)
LONGEST_BACKOFF = timedelta(seconds=30)
CHECK_EVERY = timedelta(seconds=30)
"""How old the word that one is well may be while it is called; it is written as seldom."""

UNAUTHORISED = "connector-unauthorised"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a connector is. `failures` are the times it failed within the last 5 minutes.

    `error` is a stable code; `detail` what its process said when it did not start, cleaned.
    """

    state: ConnectorState = ConnectorState.CONFIGURED
    failures: tuple[datetime, ...] = ()
    error: str | None = None
    detail: str | None = None
    checked_at: datetime | None = None

    @property
    def is_degraded(self) -> bool:
        """Return whether it is left alone until a restart or a good health check."""
        return self.state is ConnectorState.DEGRADED

    @property
    def is_well(self) -> bool:
        """Return whether it answers, and its sign-in is good."""
        return self.state is ConnectorState.READY and self.error is None


def ready(health: Health, now: datetime) -> Health:
    """It answered. A degraded one stays so: only `mended` ends that."""
    if health.is_degraded:
        return health
    failures = _recent(health.failures, now)
    return Health(state=ConnectorState.READY, failures=failures, checked_at=now)


def is_due(health: Health, now: datetime) -> bool:
    """Return whether one that is called is checked first: unseen for 30 s, or not well then."""
    seen = health.checked_at
    fresh = seen is not None and abs(now - seen) < CHECK_EVERY
    return health.state is not ConnectorState.READY or not fresh


def checked(health: Health, now: datetime) -> Health:
    """It passed the check before a call. Whether its sign-in is good again, the call says."""
    if health.error == UNAUTHORISED and not health.is_degraded:
        return replace(health, checked_at=now)
    return ready(health, now)


def mended(now: datetime) -> Health:
    """A person restarted it, or a scheduled check found it well: everything is forgiven."""
    return Health(state=ConnectorState.READY, checked_at=now)


def timed_out(health: Health, now: datetime) -> Health:
    """It did not answer a call in time; whether it lives is seen at the next one."""
    if health.is_degraded:
        return health
    return replace(
        health,
        state=ConnectorState.TIMEOUT,
        failures=_recent(health.failures, now),
        error="tool-timeout",
        detail=None,
        checked_at=now,
    )


def unauthorised(health: Health, now: datetime, *, runs: bool) -> Health:
    """Its sign-in is refused. It is not restarted for that; a person renews its secrets."""
    if health.is_degraded:
        return health
    return replace(
        health,
        state=ConnectorState.READY if runs else ConnectorState.CRASHED,
        error=UNAUTHORISED,
        detail=None,
        checked_at=now,
    )


def failed(health: Health, now: datetime, error: str, detail: str | None = None) -> Health:
    """It crashed or did not start: it will be restarted, unless that was tried often enough."""
    failures = (*_recent(health.failures, now), now)
    spent = len(failures) > MAX_RESTARTS or health.is_degraded
    return Health(
        state=ConnectorState.DEGRADED if spent else ConnectorState.RESTARTING,
        failures=failures[-MAX_RESTARTS - 1 :],
        error=error,
        detail=detail,
        checked_at=now,
    )


def held(health: Health, now: datetime, error: str, detail: str | None = None) -> Health:
    """It may not be used until a person looks: what it offers was refused or changed unsaid."""
    return Health(
        state=ConnectorState.DEGRADED,
        failures=_recent(health.failures, now),
        error=error,
        detail=detail,
        checked_at=now,
    )


def wait(health: Health, now: datetime) -> float:
    """Return for how many seconds it must not be started again yet; 0.0 when it may be."""
    failures = _recent(health.failures, now)
    if not failures or health.state is not ConnectorState.RESTARTING:
        return 0.0
    backoff = min(FIRST_BACKOFF * 2 ** (len(failures) - 1), LONGEST_BACKOFF)
    since = max(now - failures[-1], timedelta(0))
    return max((backoff - since).total_seconds(), 0.0)


def _recent(failures: tuple[datetime, ...], now: datetime) -> tuple[datetime, ...]:
    return tuple(min(failure, now) for failure in failures if now - failure < WINDOW)
