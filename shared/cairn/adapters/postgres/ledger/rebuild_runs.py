"""Rebuilds that were asked for. Not the replay itself: that is `replay`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.store import Store
from cairn.rebuild.runs import RebuildView

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID


class PostgresRebuilds(Store):
    """Implements `lifecycle.rebuild_runs.RebuildTable`."""

    def add(self, rebuild_id: UUID, *, check: bool, now: datetime) -> None:
        """Keep a rebuild that begins."""
        self.run("rebuild.add", id=rebuild_id, only_check=check, now=now)

    def get(self, rebuild_id: UUID) -> RebuildView | None:
        """Return one, None when there is no such rebuild."""
        row = self.run("rebuild.get", id=rebuild_id).fetchone()
        if row is None:
            return None
        found, check, state, entries, head, result, error, created_at, updated_at = row
        return RebuildView(
            id=found,
            check=check,
            state=state,
            entries=entries,
            head=head,
            result=result,
            error=error,
            created_at=created_at,
            updated_at=updated_at,
        )

    def progress(self, rebuild_id: UUID, *, entries: int, head: int, now: datetime) -> None:
        """Keep how far it is."""
        self.run("rebuild.keep_progress", id=rebuild_id, entries=entries, head=head, now=now)

    def end(
        self,
        rebuild_id: UUID,
        *,
        result: Mapping[str, Any] | None,
        error: str | None,
        now: datetime,
    ) -> None:
        """Keep how it ended, unless it had ended."""
        told = Jsonb(dict(result)) if result is not None else None
        self.run("rebuild.end", id=rebuild_id, result=told, error=error, now=now)
