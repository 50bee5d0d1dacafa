"""Consolidates as the function would, and kills itself (SIGKILL) at a point; run as a module.

`python -m tests.support.consolidate_and_die URL WORKSPACE FOLDER POINT`
"""

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.support.consolidating import Consolidating
from tests.support.remembering import Remembering, admin_of

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.memory.consolidation import PostgresRuns
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.plan import Batch, Pair, Plan
from cairn.consolidation.runs import Progress
from cairn.llm.budget import Budget

POINTS = (
    "before the plan",
    "between plan and apply",
    "inside the transaction",
    "after the first batch",
    "between apply and finish",
)


def die() -> None:
    """What a power cut does to a process."""
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, kw_only=True)
class DyingPlanner:
    """Plans by rules; the second batch kills, before or after its plan."""

    point: str
    planned: list[int]

    def plan(self, batch: Batch, neighbours: Sequence[Pair], budget: Budget | None = None) -> Plan:
        self.planned.append(len(batch.memories))
        second = len(self.planned) == 2
        if second and self.point in ("before the plan", "after the first batch"):
            die()
        plan = HeuristicPlanner().plan(batch, neighbours)
        if second and self.point == "between plan and apply":
            die()
        return plan


def die_inside() -> None:
    """Let the last thing of a batch's transaction kill this process."""
    keep = PostgresRuns.progress

    def progress(self: PostgresRuns, run_id: UUID, progress: Progress, now: Any) -> None:
        keep(self, run_id, progress, now)
        if progress.provider:
            die()

    PostgresRuns.progress = progress


class DyingEnd:
    """Ends no run: the process goes first."""

    def finish(self, workspace_id: UUID, run_id: UUID) -> dict[str, Any]:
        die()
        return {}


def stand_in(folder: Path, pool: Pool, workspace_id: UUID, **given: Any) -> Consolidating:
    """Consolidation over a database and keys that other processes share."""
    system = Remembering(
        transactions=StoreTransactions(pool),
        principal=admin_of(workspace_id),
        keys=FileKeyStore(folder / "keys.sqlite"),
    )
    return Consolidating(system, **given)


def main() -> None:
    """Consolidate everything, as far as the point lets it."""
    url, workspace, folder, point = sys.argv[1:]
    if point == "inside the transaction":
        die_inside()
    world = stand_in(
        Path(folder),
        Pool(url, size=2),
        UUID(workspace),
        planner=DyingPlanner(point=point, planned=[]),
    )
    if point == "between apply and finish":
        world.end = DyingEnd()  # type: ignore[assignment]
    world.run()


if __name__ == "__main__":
    main()
