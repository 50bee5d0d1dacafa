"""Checkpoints and what tasks wrote beside them, in PostgreSQL."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.checkpoints.rows import CheckpointRow, Sized, WriteRow

if TYPE_CHECKING:
    from collections.abc import Sequence
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

    def sizes(self, among: Among, *, after: tuple[str, UUID] | None, limit: int) -> Sequence[Sized]:
        """Return the ids and sizes of checkpoints after one, the newest first."""
        last, last_id = after or (None, None)
        others = {"after": last, "after_id": last_id, "limit": limit}
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
