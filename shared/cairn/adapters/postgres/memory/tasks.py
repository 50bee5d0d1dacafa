"""Tasks in PostgreSQL: what their steps, and writes that came of them, have to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.memory.reports import PostgresReports
from cairn.adapters.postgres.store import Store
from cairn.writing.task_ports import StoredTask

if TYPE_CHECKING:
    from collections.abc import Collection, Set
    from uuid import UUID


class PostgresTasks(Store):
    """Implements `ingestion.task_ports.TaskStore`."""

    def find(self, task_id: UUID) -> StoredTask | None:
        """Return a task."""
        row = self.run("task.find", id=task_id).fetchone()
        if row is None:
            return None
        found, kind, title, position, subjects, metadata = row
        return StoredTask(
            id=found,
            kind=kind,
            title=title,
            position=position,
            data_subjects=tuple(subjects),
            metadata=metadata,
        )

    def known(self, task_ids: Collection[UUID]) -> Set[UUID]:
        """Return which of these are tasks."""
        if not task_ids:
            return set()
        return {row[0] for row in self.run("task.known", ids=list(task_ids))}

    def conversation(
        self, conversation_id: UUID | None, session_id: str | None
    ) -> tuple[UUID, tuple[UUID, ...]] | None:
        """Return the conversation of this id, else the session's newest."""
        return PostgresReports(self.connection, self.principal).conversation(
            conversation_id, session_id
        )
