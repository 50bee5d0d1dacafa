"""Reports and tasks in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.kernel.access import Scope
from cairn.reports.read import Report, ReportEntry
from cairn.reports.write import StoredReport
from cairn.sessions.opening import OpenTask
from cairn.writing.task_ports import StoredTask

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence, Set
    from uuid import UUID

    from cairn.reports.read import ReportFilter


class PostgresReports(Store):
    """Reports as their writers read them."""

    def find(self, identity: str) -> StoredReport | None:
        """Return the report of this identity."""
        return self.first_of(record(StoredReport), "report.find", identity=identity)

    def conversation(
        self, conversation_id: UUID | None, session_id: str | None
    ) -> tuple[UUID, tuple[UUID, ...]] | None:
        """Return the conversation a report came of."""
        if conversation_id is not None:
            return self.first_of(OWNED, "report.conversation", conversation_id=conversation_id)
        return self.first_of(OWNED, "report.conversation_of_session", session_id=session_id)


def _owned(*, id: UUID, data_subjects: tuple[UUID, ...]) -> tuple[UUID, tuple[UUID, ...]]:
    return id, data_subjects


OWNED = record(_owned)


class PostgresReportViews(Store):
    """Reports as they are shown."""

    def latest(self, keyword: str | None, *, limit: int) -> Sequence[Report]:
        """Return the newest, with their bodies."""
        rows = self.rows("report.latest", keyword=keyword, limit=limit)
        return [Report(body=row.pop("body"), report=_entry(row)) for row in rows]

    def page(
        self, where: ReportFilter, *, limit: int, after: int | None
    ) -> tuple[Sequence[ReportEntry], int]:
        """Return one page and the total under its filter."""
        parameters = {"keyword": where.keyword, "source_workflow": where.source_workflow}
        rows = self.rows("report.page", limit=limit, after=after, **parameters)
        total = self.run("report.total", **parameters).fetchone()
        return [_entry(row) for row in rows], total[0] if total else 0


def _entry(row: dict[str, Any]) -> ReportEntry:
    row["scope"] = Scope(row["scope"])
    row["agents"], row["keywords"] = tuple(row["agents"]), tuple(row["keywords"])
    return ReportEntry(**row)


class PostgresTasks(Store):
    """Tasks as their writers read them."""

    def find(self, task_id: UUID) -> StoredTask | None:
        """Return a task."""
        return self.first_of(record(StoredTask), "task.find", id=task_id)

    def known(self, task_ids: Collection[UUID]) -> Set[UUID]:
        """Return which of these are tasks."""
        if not task_ids:
            return set()
        return set(self.values("task.known", ids=list(task_ids)))

    def open(self, *, limit: int) -> Sequence[OpenTask]:
        """Return tasks that have not ended, the most important first."""
        return self.all_of(record(OpenTask), "task.open", limit=limit)

    def conversation(
        self, conversation_id: UUID | None, session_id: str | None
    ) -> tuple[UUID, tuple[UUID, ...]] | None:
        """Return the conversation of this id, else the session's newest."""
        return PostgresReports(self.connection, self.principal).conversation(
            conversation_id, session_id
        )
