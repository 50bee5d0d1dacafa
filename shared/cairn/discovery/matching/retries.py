"""Runs what is due, each under a claim that is kept in its row; it decides nothing about what is.

A claim is written before the work and goes with what the work itself writes. So whoever is killed
or fails in whatever way leaves it counted as one more failure; it waits longer each time, and what
never failed comes first. Nothing that fails always can hold up the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.writing.platform import Platform


class Retried(StrEnum):
    """What has a claim of its own."""

    INTENT = "intent"
    OPPORTUNITY = "opportunity"
    NEGOTIATION = "negotiation"


GOLDEN = (5**0.5 - 1) / 2
TURN_SECONDS = 300
"""How often another workspace comes first."""


def in_turn(workspaces: Sequence[UUID], now: datetime) -> list[UUID]:
    """Return workspaces in their order, from another one on each time.

    A turn begins the golden section further along: however many there are, a few turns are spread
    evenly over them, and nobody has to remember who was last (Knuth, TAOCP 3, 6.4).
    """
    turn = int(now.timestamp()) // TURN_SECONDS
    start = int(turn * GOLDEN % 1.0 * len(workspaces))
    return [*workspaces[start:], *workspaces[:start]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDue:
    """Does something about what is due in a workspace. `report` tells of what failed."""

    platform: Platform
    report: Callable[[str, dict[str, Any]], None]

    def __call__(
        self,
        workspace_id: UUID,
        what: Retried,
        ids: Sequence[UUID],
        do: Callable[[UUID], object],
        *,
        until: float,
        problem: str,
    ) -> int:
        """Return how often it was done; `until` is a moment of the platform's stopwatch."""
        done = 0
        for each in ids:
            if self.platform.stopwatch() >= until:
                break
            if not self._claim(workspace_id, what, each):
                continue
            try:
                do(each)
                done += 1
            except CairnError as error:
                self._fail(workspace_id, what, each, error.reason)
                self.report(problem, {"id": str(each), "reason": error.reason})
        return done

    def _claim(self, workspace_id: UUID, what: Retried, id_: UUID) -> bool:
        with self.platform.transactions.preparing(system_principal(workspace_id)) as (stores, _):
            return stores.retries.claim(what, id_, self.platform.clock())

    def _fail(self, workspace_id: UUID, what: Retried, id_: UUID, problem: str) -> None:
        with self.platform.transactions.preparing(system_principal(workspace_id)) as (stores, _):
            stores.retries.fail(what, id_, problem)
