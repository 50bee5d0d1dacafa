"""Searches after they were answered: counted as accesses, and forgotten. Not their recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store
from cairn.ageing.count_accesses import UncountedSearch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


class PostgresAccessLog(Store):
    """Implements `lifecycle.count_accesses.AccessLog`."""

    def uncounted(self, limit: int) -> Sequence[UncountedSearch]:
        """Return the oldest searches that count and were not counted."""
        rows = self.run("search_run.uncounted", limit=limit)
        return [
            UncountedSearch(id=run_id, started_at=started_at, returned=tuple(returned))
            for run_id, started_at, returned in rows
        ]

    def counted(self, ids: Collection[UUID], position: int) -> None:
        """Mark searches as counted."""
        self.run("search_run.counted", ids=list(ids), position=position)

    def archived(self, used: Sequence[UUID]) -> Sequence[UUID]:
        """Return what of the used nodes is archived and may become active."""
        return [node_id for (node_id,) in self.run("ageing.archived", used=list(used))]


@dataclass(frozen=True)
class DropSearchRuns:
    """Calls the definer function that removes old searches, in every workspace."""

    database: Database

    def __call__(self, before: datetime, limit: int) -> int:
        """Remove at most `limit` counted searches older than `before`; return how many went."""
        asked = {"before": before, "limit": limit}
        with self.database.connection() as connection:
            row = connection.execute(query("search_run.drop_old"), asked).fetchone()
        return row[0] if row else 0
