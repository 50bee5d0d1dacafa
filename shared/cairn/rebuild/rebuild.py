"""Make a workspace's projections anew from its ledger, or only say whether they are as it says.

The ledger is replayed into a second set of tables while the first is read and written as ever.
Then, with the ledger's head held, what was written meanwhile is replayed too, and rows in use that
differ are replaced, all in one transaction: readers see the old state or the new one. A rebuild
that is killed is gone on with by the next one. Not the rows' meaning: that is the projectors'.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict
from cairn.ledger.chain import empty_head
from cairn.rebuild.replay import Prefetcher, Progress, Replaced, code_version, replay
from cairn.writing.append import SYSTEM, append_unprojected
from cairn.writing.entries import plan_entry
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.writer import EMBED_BATCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Entry, Head
    from cairn.rebuild.replay import Beside, Replays, TableSum
    from cairn.writing.platform import Platform

PAGE = 500
"""Entries replayed in one transaction."""

LAST_ENTRIES = 500
"""So few entries may be left for the transaction in which writers wait."""

COMPLETED = "rebuild.completed"


class KeysMissing(Conflict):
    """Entries cannot be read for want of keys of people whom nobody has forgotten."""

    def __init__(self, subject_ids: Sequence[UUID]) -> None:
        super().__init__(
            f"The keys of {len(subject_ids)} data subjects are missing and no forgetting says why; "
            "restore the key store.",
            reason="key-missing",
            subject_ids=[str(id_) for id_ in subject_ids],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """What a rebuild found. `equal`: all was as the ledger says, table by table, before it.

    `before` and `after` are checksums of the projections in use; a check changes nothing, and its
    `after` are those of the replay. `queued` nodes wait for the embedder, as the cache lacked them.
    """

    workspace_id: UUID
    only_check: bool
    position: int
    entries: int
    unreadable: int
    before: Mapping[str, TableSum]
    after: Mapping[str, TableSum]
    replaced: Replaced = field(default_factory=Replaced)
    queued: int = 0

    @property
    def equal(self) -> bool:
        """Return whether every table's checksum is the same before and after."""
        return self.before == self.after

    def as_json(self) -> dict[str, Any]:
        """Return it as people and machines are told it: counts and checksums, no content."""
        return {
            "workspace_id": str(self.workspace_id),
            "check": self.only_check,
            "equal": self.equal,
            "position": self.position,
            "entries": self.entries,
            "unreadable": self.unreadable,
            "changed_rows": self.replaced.rows,
            "queued": self.queued,
            "tables": {name: self._table(name) for name in sorted(self.before)},
        }

    def _table(self, name: str) -> dict[str, Any]:
        before, after = self.before[name], self.after[name]
        return {
            "equal": before == after,
            "rows": after.rows,
            "rows_before": before.rows,
            "before": before.checksum,
            "after": after.checksum,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """Replays a workspace's ledger in steps, each of which may be repeated or run by another."""

    replays: Replays
    platform: Platform
    beside: Beside | None = None

    def __call__(
        self, workspace_id: UUID, *, only_check: bool = False, restoring: bool = False
    ) -> Rebuilt:
        """Do all of it. Raises what `advance` and `finish` raise."""
        while True:
            while self.advance(workspace_id, seconds=3600.0)["more"]:
                pass
            done = self.finish(workspace_id, only_check=only_check, restoring=restoring)
            if done is not None:
                return done

    def advance(self, workspace_id: UUID, *, seconds: float) -> dict[str, Any]:
        """Replay pages beside the rows in use for some time; nobody waits for it.

        Returns {"position", "head", "entries", "more"}. Raises Conflict (`ledger-broken`) where the
        chain does not hold and BodyUnreadable for a body that was altered: nothing has changed.
        """
        until = self.platform.stopwatch() + seconds
        principal = system_principal(workspace_id)
        with Prefetcher(self.platform.keys, self.platform.cipher) as ahead:
            while True:
                with self.replays.replaying(principal) as stores:
                    progress, head = self._page(principal, stores, ahead)
                more = head.position - progress.head.position > LAST_ENTRIES
                if not more or self.platform.stopwatch() >= until:
                    return {
                        "position": progress.head.position,
                        "head": head.position,
                        "entries": progress.entries,
                        "more": more,
                    }

    def finish(
        self, workspace_id: UUID, *, only_check: bool = False, restoring: bool = False
    ) -> Rebuilt | None:
        """Replay what is left and put the rows in place, or only compare; the replica is dropped.

        Rows beside the ledger are compared, and left as they are; `restoring` adds what is missing.
        None when more was written meanwhile than may be replayed while writers wait, or a replay
        has to begin again: go on with `advance`. Raises KeysMissing: nothing has changed then.
        """
        principal = system_principal(workspace_id)
        try:
            if only_check:
                with self.replays.comparing(principal) as stores:
                    return self._compared(principal, stores)
            with self.replays.finishing(principal) as stores:
                done, rows = self._put_in_place(principal, stores, restoring=restoring)
        except KeysMissing:
            self.discard(workspace_id)  # what it could not read it has to read once the key is back
            raise
        self.platform.dispatcher.send(rows)
        return done

    def discard(self, workspace_id: UUID) -> None:
        """Forget a replay under way; what it made is personal data like the rows in use."""
        with self.replays.replaying(system_principal(workspace_id)) as stores:
            stores.replica.discard()

    def _page(
        self, principal: Principal, stores: Stores, ahead: Prefetcher
    ) -> tuple[Progress, Head]:
        """Replay the next page and return how far it is, and the chain's end."""
        head = stores.ledger.head()
        progress = self._begun(principal, stores, head)
        page = ahead.page(progress.head, lambda after: stores.ledger.page(after=after, limit=PAGE))
        if page is None:
            return progress, head
        entries = page.entries
        if any(_forgets(item.entry) and item.entry.position > progress.since for item in entries):
            stores.replica.discard()  # what it has may be of keys that were there when it began
            return self._begun(principal, stores, head), head
        replay(entries, stores)
        if self.beside is not None:
            for item in entries:
                self.beside.apply(item, stores, self.platform.cipher)
        unreadable = sum(item.body is None for item in entries)
        stores.replica.keyless({subject for item in entries for subject in item.keyless})
        stores.replica.advance(page.reached, entries=len(entries), unreadable=unreadable)
        return (
            Progress(
                version=progress.version,
                since=progress.since,
                head=page.reached,
                entries=progress.entries + len(entries),
                unreadable=progress.unreadable + unreadable,
            ),
            head,
        )

    def _begun(self, principal: Principal, stores: Stores, head: Head) -> Progress:
        progress = stores.replica.progress()
        version = code_version() + (self.beside.version if self.beside else "")
        if progress is not None and progress.version != version:
            stores.replica.discard()
            progress = None
        if progress is None:
            start = empty_head(principal.workspace_id)
            fresh = Progress(version=version, since=head.position, head=start)
            stores.replica.begin(fresh)
            progress = stores.replica.progress()
        if progress is None:
            raise Conflict("Another process ended this rebuild.", reason="rebuild-ended")
        return progress

    def _caught_up(self, principal: Principal, stores: Stores) -> Progress | None:
        """Replay what is left; None when that is too much for this transaction."""
        with Prefetcher(self.platform.keys, self.platform.cipher) as ahead:
            progress, head = self._page(principal, stores, ahead)
            while progress.head.position < head.position:
                if head.position - progress.head.position > LAST_ENTRIES:
                    return None
                progress, head = self._page(principal, stores, ahead)
        if progress.head != head:
            raise Conflict("The ledger does not end at its head.", reason="ledger-broken")
        if missing := stores.replica.unforgotten():
            raise KeysMissing(missing)
        return progress

    def _compared(self, principal: Principal, stores: Stores) -> Rebuilt | None:
        progress = self._caught_up(principal, stores)
        if progress is None:
            return None
        result = self._result(
            progress,
            stores.replica.live_checksums() | self._live_beside(stores),
            stores.replica.checksums() | self._beside(stores),
            only_check=True,
        )
        stores.replica.discard()
        return result

    def _put_in_place(
        self, principal: Principal, stores: Stores, *, restoring: bool
    ) -> tuple[Rebuilt | None, Sequence[OutboxRow]]:
        progress = self._caught_up(principal, stores)
        if progress is None:
            return None, ()
        before = stores.replica.live_checksums()
        replaced = stores.replica.put_in_place()
        after = stores.replica.live_checksums() if replaced.rows else before
        before, after = before | self._live_beside(stores), after | self._beside(stores)
        if restoring and self.beside is not None:
            stores.replica.complete()
        rows = self._queued(principal, stores, progress.head.position)
        done = self._result(
            progress,
            before,
            after,
            replaced=replaced,
            queued=sum(len(row.node_ids) for row in rows),
        )
        stores.replica.discard()
        self._append(principal, stores, done)
        return done, rows

    def _beside(self, stores: Stores) -> dict[str, TableSum]:
        return stores.replica.beside() if self.beside else {}

    def _live_beside(self, stores: Stores) -> dict[str, TableSum]:
        return stores.replica.live_beside() if self.beside else {}

    def _result(
        self,
        progress: Progress,
        before: Mapping[str, TableSum],
        after: Mapping[str, TableSum],
        *,
        only_check: bool = False,
        replaced: Replaced | None = None,
        queued: int = 0,
    ) -> Rebuilt:
        return Rebuilt(
            workspace_id=progress.head.workspace_id,
            only_check=only_check,
            position=progress.head.position,
            entries=progress.entries,
            unreadable=progress.unreadable,
            before=before,
            after=after,
            replaced=replaced or Replaced(),
            queued=queued,
        )

    def _queued(self, principal: Principal, stores: Stores, position: int) -> Sequence[OutboxRow]:
        """Queue the nodes whose vectors the cache no longer has."""
        lacking, now = stores.replica.lacking(), self.platform.clock()
        rows = [
            OutboxRow(
                workspace_id=principal.workspace_id,
                id=self.platform.new_id(),
                topic=Topic.EMBED,
                position=position,
                node_ids=tuple(lacking[start : start + EMBED_BATCH]),
            )
            for start in range(0, len(lacking), EMBED_BATCH)
        ]
        for row in rows:
            stores.outbox.add(row, now)
        return rows

    def _append(self, principal: Principal, stores: Stores, done: Rebuilt) -> None:
        """Let the ledger say that it was rebuilt, and whether that changed anything."""
        entry = plan_entry(
            id=self.platform.new_id(),
            workspace_id=principal.workspace_id,
            type=COMPLETED,
            actor=SYSTEM,
            occurred_at=self.platform.clock(),
            meta={
                "position": done.position,
                "entries": done.entries,
                "unreadable": done.unreadable,
                "changed_rows": done.replaced.rows,
                "equal": done.equal,
            },
        )
        append_unprojected(stores, [entry], self.platform.clock())


def _forgets(entry: Entry) -> bool:
    return entry.type.endswith(".forgotten")
