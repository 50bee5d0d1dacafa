"""Checkpoints and what tasks wrote beside them, in PostgreSQL."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.checkpoints.rows import CheckpointRow, Sized, Usage, WriteRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.checkpoints.rows import Among


class PostgresCheckpoints(Store):
    """The checkpoints that the transaction's principal may see."""

    def put(self, row: CheckpointRow) -> None:
        """Keep a checkpoint in the place of the one of its id."""
        self.write("checkpoint.put", row)

    def put_write(self, row: WriteRow) -> None:
        """Keep what a task wrote, unless it is there."""
        self.write("checkpoint.put_write", row)

    def written(self, thread: bytes, namespace: str, checkpoint_id: str) -> int:
        """Return how many bytes were written beside a checkpoint."""
        return self.value(
            "checkpoint.written", thread=thread, namespace=namespace, checkpoint_id=checkpoint_id
        )

    def use(
        self, thread: bytes, *, now: datetime, ttl_seconds: int | None, default_seconds: int | None
    ) -> Usage | None:
        """Let a thread last from `now` on; return what it has, None when nobody has anything."""
        return self.first_of(
            record(Usage),
            "checkpoint.use",
            thread=thread,
            now=now,
            ttl_seconds=ttl_seconds,
            default_seconds=default_seconds,
        )

    def has_expired(self, now: datetime) -> bool:
        """Return whether a thread has expired."""
        return self.value("checkpoint.has_expired", now=now)

    def hold(self) -> None:
        """Wait for whoever writes checkpoints of this workspace, and let others wait."""
        self.run("checkpoint.hold")

    def remove_expired(self, now: datetime, *, first: bytes | None, limit: int) -> int:
        """Take away threads that have expired, `first` before others; return how many."""
        return self.value("checkpoint.remove_expired", now=now, first=first, limit=limit)

    def sizes(
        self, among: Among, *, after: tuple[str, UUID] | None, now: datetime, limit: int
    ) -> Sequence[Sized]:
        """Return the ids and sizes of checkpoints after one, the newest first."""
        last, last_id = after or (None, None)
        others = {"after": last, "after_id": last_id, "now": now, "limit": limit}
        return self.all_of(record(Sized), "checkpoint.sizes", **asdict(among), **others)

    def of_ids(self, ids: Sequence[UUID]) -> Sequence[CheckpointRow]:
        """Return checkpoints, the newest first."""
        return self.all_of(record(CheckpointRow), "checkpoint.of_ids", ids=list(ids))

    def writes_of(self, ids: Sequence[UUID]) -> Sequence[WriteRow]:
        """Return what was written beside checkpoints."""
        return self.all_of(record(WriteRow), "checkpoint.writes_of", ids=list(ids))

    def remove(self, among: Among, *, whole: bool) -> int:
        """Take checkpoints away and return how many; `whole`: all that their thread has."""
        return self.value("checkpoint.remove", **asdict(among), whole=whole)
