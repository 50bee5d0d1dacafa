"""Sources of knowledge and their items in PostgreSQL; of every workspace, which are due."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import TypeAdapter

from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.kernel.errors import NotFound
from cairn.sources.source import (
    KnowledgeKind,
    KnowledgeState,
    SourceRow,
    StoredItem,
    SyncReport,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.adapters.postgres.database import Database


@cache
def _reports() -> TypeAdapter[SyncReport]:
    return TypeAdapter(SyncReport)  # built on first use: cold starts need no schema


def _report(value: Any) -> SyncReport:
    return _reports().validate_python(value)


def _stored(report: SyncReport) -> Jsonb:
    return Jsonb(_reports().dump_python(report, mode="json"))


def _row(*, run_report: SyncReport | None, **columns: Any) -> SourceRow:
    return SourceRow(run=run_report, **columns)


_SOURCE = record(
    _row,
    kind=KnowledgeKind,
    state=KnowledgeState,
    run_report=_report,
    last_sync=_report,
    last_preview=_report,
)
_ITEM = record(StoredItem)
UNSEEN = UUID(int=0)


class PostgresSources(Store):
    """The sources of the transaction's workspace."""

    def add(self, source: SourceRow, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when its name is taken."""
        added = self.run(
            "source.add",
            **_settings(source),
            called=source.name,
            kind=source.kind.value,
            client_id=source.client_id,
            scope=source.scope,
            data_subjects=list(source.data_subjects),
            created_at=source.created_at,
            secrets=sealed_secrets,
        )
        return added.rowcount == 1

    def find(self, source_id: UUID) -> SourceRow | None:
        """Return one."""
        return self.first_of(_SOURCE, "source.find", id=source_id)

    def all(self) -> Sequence[SourceRow]:
        """Return every one, by name."""
        return self.all_of(_SOURCE, "source.all")

    def secrets(self, source_id: UUID) -> bytes:
        """Return the sealed secrets; NotFound when there is no such source."""
        sealed: bytes | None = self.value("source.secrets", id=source_id)
        if sealed is None:
            raise NotFound("There is no such source.", source_id=str(source_id))
        return sealed

    def change(self, source: SourceRow, sealed_secrets: bytes | None) -> bool:
        """Replace settings and state, and the secrets unless None; False when it is removed."""
        return self.run("source.change", **_settings(source), secrets=sealed_secrets).rowcount == 1

    def begin(
        self,
        source_id: UUID,
        run_id: UUID,
        report: SyncReport,
        *,
        now: datetime,
        accept_deletions: bool,
    ) -> bool:
        """Begin a run; False when one is under way."""
        begun = self.run(
            "source.begin",
            id=source_id,
            run_id=run_id,
            mode=report.mode.value,
            report=_stored(report),
            now=now,
            accept_deletions=accept_deletions,
        )
        return begun.rowcount == 1

    def remove_all(
        self, source_id: UUID, run_id: UUID, report: SyncReport, *, now: datetime
    ) -> bool:
        """Begin to remove one with what it brought; False when that has begun."""
        ids = {"id": source_id, "run_id": run_id}
        return self.run("source.remove_all", **ids, report=_stored(report), now=now).rowcount == 1

    def lease(self, source_id: UUID, lease: UUID, *, until: datetime, now: datetime) -> bool:
        """Take its run for a time; False when there is none, or somebody has it."""
        return (
            self.run("source.lease", id=source_id, lease=lease, until=until, now=now).rowcount == 1
        )

    def cursor(self, source_id: UUID) -> str | None:
        """Return how far its run is."""
        return self.value("source.cursor", id=source_id)

    def progress(
        self,
        source_id: UUID,
        lease: UUID,
        *,
        cursor: str | None,
        report: SyncReport,
        until: datetime,
    ) -> bool:
        """Keep how far a run is; False when somebody else has it."""
        updated = self.run(
            "source.progress",
            id=source_id,
            lease=lease,
            cursor=cursor,
            report=_stored(report),
            until=until,
        )
        return updated.rowcount == 1

    def is_leased(self, source_id: UUID, lease: UUID) -> bool:
        """Say whether a run is still this worker's."""
        return bool(self.value("source.is_leased", id=source_id, lease=lease))

    def release(self, source_id: UUID, lease: UUID) -> None:
        """Let another worker go on."""
        self.run("source.release", id=source_id, lease=lease)

    def synced(
        self,
        source_id: UUID,
        lease: UUID,
        report: SyncReport,
        *,
        version: str | None,
        now: datetime,
    ) -> bool:
        """Keep that a run has ended well; False when somebody else has it."""
        updated = self.run(
            "source.synced",
            id=source_id,
            lease=lease,
            report=_stored(report),
            version=version,
            now=now,
        )
        return updated.rowcount == 1

    def previewed(self, source_id: UUID, lease: UUID, report: SyncReport) -> None:
        """Keep what a sync would change."""
        self.run("source.previewed", id=source_id, lease=lease, report=_stored(report))

    def failed(
        self,
        source_id: UUID,
        lease: UUID,
        report: SyncReport,
        *,
        error: str,
        error_detail: str,
        now: datetime,
    ) -> None:
        """Keep that a run has failed, and why."""
        self.run(
            "source.failed",
            id=source_id,
            lease=lease,
            report=_stored(report),
            error=error,
            error_detail=error_detail,
            now=now,
        )

    def remove(self, source_id: UUID) -> bool:
        """Remove one; its documents stay. False when there is none."""
        return self.run("source.remove", id=source_id).rowcount == 1

    def items(self, source_id: UUID, keys: Sequence[str]) -> Mapping[str, StoredItem]:
        """Return what is known of these items, by key."""
        rows = self.all_of(_ITEM, "source.items", id=source_id, keys=list(keys))
        return {row.key: row for row in rows}

    def marks(self, source_id: UUID) -> dict[str, str]:
        """Return the marks of all that were read, by key."""
        return dict(self.run("source.marks", id=source_id).fetchall())

    def seen(self, source_id: UUID, run_id: UUID, keys: Sequence[str]) -> None:
        """Keep that these are still there."""
        self.run("source.seen", id=source_id, run_id=run_id, keys=list(keys))

    def seen_all(self, source_id: UUID, run_id: UUID) -> None:
        """Keep that all of it is still there."""
        self.run("source.seen_all", id=source_id, run_id=run_id)

    def keep_item(self, source_id: UUID, run_id: UUID, item: StoredItem) -> None:
        """Keep what an item was when it was read; without a document the one it had stays.

        Without a mark, which it gets once its document is accepted, it counts as unseen.
        """
        seen = run_id if item.mark else UNSEEN
        self.write("source.keep_item", item, id=source_id, run_id=seen)

    def unsee(self, source_id: UUID, key: str) -> None:
        """Keep that an item is known to be gone."""
        self.run("source.unsee", id=source_id, key=key, unseen=UNSEEN)

    def unseen(
        self, source_id: UUID, run_id: UUID, *, after: str, limit: int
    ) -> Sequence[StoredItem]:
        """Return items that a run did not see, by key after `after`."""
        parameters = {"id": source_id, "run_id": run_id, "after": after, "limit": limit}
        return self.all_of(_ITEM, "source.unseen", **parameters)

    def held(self, source_id: UUID, run_id: UUID) -> tuple[int, int, int]:
        """Return how many items are known, how many of them a run saw, and their bytes."""
        row = self.run("source.held", id=source_id, run_id=run_id).fetchone()
        return row or (0, 0, 0)

    def drop_item(self, source_id: UUID, key: str) -> None:
        """Forget that there was an item."""
        self.run("source.drop_item", id=source_id, key=key)

    def reading(self) -> int:
        """Return how many documents of the workspace are being read."""
        return int(self.value("source.reading"))


def _settings(source: SourceRow) -> dict[str, Any]:
    return {
        "id": source.id,
        "config": Jsonb(dict(source.config)),
        "state": source.state.value,
        "sync_seconds": source.sync_seconds,
        "max_items": source.max_items,
        "max_bytes": source.max_bytes,
        "next_sync_at": source.next_sync_at,
    }


@dataclass(frozen=True)
class KnowledgeSourcesDue:
    """Calls the definer function that names the sources that are to be read."""

    database: Database

    def __call__(self, at: datetime, limit: int) -> Sequence[tuple[UUID, UUID]]:
        """Return (workspace, source) pairs; those that a worker left behind come first."""
        with self.database.connection() as connection:
            return connection.execute(query("source.due"), {"at": at, "limit": limit}).fetchall()
