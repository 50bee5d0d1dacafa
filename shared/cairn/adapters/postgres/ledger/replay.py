"""Ledgers replayed beside the rows in use, and what became of it, in PostgreSQL."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.ledger.forgetting import ERASED
from cairn.adapters.postgres.projections import BESIDE, PROJECTIONS
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.adapters.postgres.store_transactions import PostgresStores
from cairn.kernel.errors import NotFound
from cairn.ledger.entry import Head
from cairn.rebuild.replay import Progress, Replaced, TableSum
from cairn.rebuild.runs import RebuildView

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cairn.adapters.postgres.database import Connection, Database
    from cairn.kernel.access import Principal


PAGE_TIMEOUT_MS = 120_000
WHOLE_TIMEOUT_MS = 800_000
"""Comparing and replacing read whole tables; a Lambda function ends after 900 s."""

ANALYSE_FROM = 250
"""Entries after which the planner is told of the replayed tables; then whenever they doubled."""

_HALF = 2**64


class PostgresReplica(Store):
    """The second set of one workspace's projections, and how far it is."""

    def progress(self) -> Progress | None:
        """Return how far it is, held until the transaction ends; None when none was begun."""
        return self.first_of(record(_progress), "rebuild.progress")

    def begin(self, progress: Progress) -> None:
        """Begin from nothing; a replay another process has just begun stays."""
        self.run(
            "rebuild.begin",
            version=progress.version,
            since=progress.since,
            hash=progress.head.hash,
            recorded_at=progress.head.recorded_at,
        )

    def advance(self, head: Head, *, entries: int, unreadable: int) -> None:
        """Keep that all up to `head` is replayed."""
        now = self.value(
            "rebuild.advance",
            position=head.position,
            hash=head.hash,
            recorded_at=head.recorded_at,
            entries=entries,
            unreadable=unreadable,
        )
        if now is not None and _doubled(now - entries, now):
            self.run("rebuild.analyse")

    def keyless(self, subject_ids: Collection[UUID]) -> None:
        """Keep whose keys entries could not be read without."""
        if subject_ids:
            self.run("rebuild.keyless", ids=list(subject_ids))

    def unforgotten(self) -> Sequence[UUID]:
        """Return those of them whom no entry and no tombstone says to be forgotten."""
        return self.values("rebuild.unforgotten")

    def discard(self) -> None:
        """Forget it, rows and all."""
        self.run("rebuild.discard")

    def texts(self, node_ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return nodes' texts as they are at this point of the replay."""
        rows = self.run("rebuild.texts", ids=list(node_ids))
        return dict(rows.fetchall())

    def streaming(self) -> AbstractContextManager[object]:
        """Let statements that return nothing be sent while earlier ones are still being done.

        Their errors come at the latest when the block is left.
        """
        return self.connection.pipeline()

    def lack(self, node_ids: Collection[UUID]) -> None:
        """Keep which nodes' vectors the cache cannot make."""
        self.run("rebuild.lack", ids=list(node_ids))

    def supplied(self, node_ids: Collection[UUID]) -> None:
        """Keep that it could after all."""
        self.run("rebuild.supplied", ids=list(node_ids))

    def lacking(self) -> Sequence[UUID]:
        """Return those of them that are to be found by vector."""
        return self.values("rebuild.lacking")

    def checksums(self) -> dict[str, TableSum]:
        """Return the content of each replayed projection."""
        self.run("rebuild.for_whole_tables")
        return {name: self._sum(name) for name in PROJECTIONS}

    def live_checksums(self) -> dict[str, TableSum]:
        """Return the content of each projection in use."""
        self.run("rebuild.among_live")
        sums = self.checksums()
        self.run("rebuild.among_replayed")
        return sums

    def put_in_place(self) -> Replaced:
        """Make the projections in use equal to the replayed ones; only rows that differ change."""
        self.run("rebuild.for_whole_tables")
        removed: dict[str, int] = {}
        added: dict[str, int] = {}
        for name in PROJECTIONS:
            row = self.run("rebuild.put_in_place", projection=name).fetchone()
            removed[name], added[name] = row or (0, 0)
        replaced = Replaced(removed=removed, added=added)
        if removed["node"] or added["node"]:
            self.run("rebuild.index_again")
        return replaced

    # Rows beside the ledger

    def beside(self) -> dict[str, TableSum]:
        """Return what entries say of rows beside the ledger, table by table."""
        return {name: self._sum(name) for name in BESIDE}

    def live_beside(self) -> dict[str, TableSum]:
        """Return the same of the rows in use."""
        self.run("rebuild.among_live")
        sums = self.beside()
        self.run("rebuild.among_replayed")
        return sums

    def complete(self) -> None:
        """Add those rows beside the ledger that are not there; those that are stay."""
        self.run("rebuild.settle")
        for name in BESIDE:
            self.run("rebuild.complete", beside=name)

    def use_invite(self, token_hash: bytes, member_id: UUID, now: datetime) -> None:
        """Say who took an invite; the ghost that it was for is gone."""
        self.run("rebuild.use_invite", token_hash=token_hash, member_id=member_id, now=now)

    def erase_beside(self, subject_id: UUID) -> None:
        """Erase what a forgetting erases of rows beside the ledger."""
        for name, statement in ERASED.items():
            if name in BESIDE:
                self.run(statement, subject_id=subject_id)
        self.run("rebuild.erase_changes")

    def _sum(self, name: str) -> TableSum:
        (total,) = self.all_of(record(_table_sum), f"checksum.{name}")
        return total


def _table_sum(*, rows: int, high: Decimal, low: Decimal) -> TableSum:
    return TableSum(rows=rows, checksum=f"{int(high) % _HALF:016x}{int(low) % _HALF:016x}")


def _progress(*, version: str, since: int, entries: int, unreadable: int, **head: Any) -> Progress:
    return Progress(
        version=version, since=since, head=Head(**head), entries=entries, unreadable=unreadable
    )


def _doubled(before: int, after: int) -> bool:
    """Return whether so many entries more make the tables another size to the planner."""
    return (before // ANALYSE_FROM).bit_length() < (after // ANALYSE_FROM).bit_length()


class PostgresReplays:
    """Implements `rebuild.replay.Replays`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def replaying(self, principal: Principal) -> Generator[PostgresStores]:
        """Open one that fills the replica."""
        with self._among_replayed(principal, PAGE_TIMEOUT_MS) as connection:
            yield PostgresStores(connection, principal)

    @contextmanager
    def comparing(self, principal: Principal) -> Generator[PostgresStores]:
        """Open one that sees one moment of the database."""
        with self._among_replayed(principal, WHOLE_TIMEOUT_MS, one_moment=True) as connection:
            yield PostgresStores(connection, principal)

    @contextmanager
    def finishing(self, principal: Principal) -> Generator[PostgresStores]:
        """Open one that holds the workspace's ledger head."""
        with self._among_replayed(principal, WHOLE_TIMEOUT_MS) as connection:
            held: Any = connection.execute(
                query("ledger.lock_head"), {"workspace_id": principal.workspace_id}
            ).fetchone()
            if held is None:
                raise NotFound("There is no such workspace.", reason="workspace")
            yield PostgresStores(connection, principal)

    @contextmanager
    def _among_replayed(
        self, principal: Principal, timeout_ms: int, *, one_moment: bool = False
    ) -> Generator[Connection]:
        with bound(
            self._database,
            principal,
            timeout_ms=timeout_ms,
            read_only=False,
            sees_deleted=True,
            one_moment=one_moment,
        ) as connection:
            connection.execute(query("rebuild.among_replayed"))
            yield connection


class PostgresRebuilds(Store):
    """The rebuilds of one workspace."""

    def add(self, rebuild_id: UUID, *, check: bool, now: datetime) -> None:
        """Keep a rebuild that begins."""
        self.run("rebuild.add", id=rebuild_id, only_check=check, now=now)

    def get(self, rebuild_id: UUID) -> RebuildView | None:
        """Return one, None when there is no such rebuild."""
        return self.first_of(record(RebuildView), "rebuild.get", id=rebuild_id)

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
        document = Jsonb(dict(result)) if result is not None else None
        self.run("rebuild.end", id=rebuild_id, result=document, error=error, now=now)
