"""Append what consolidation derives, after looking again, under the ledger's lock, at its sources.

Keys are asked for before the lock. Not what a summary says, nor when one is due.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.consolidation.summary_entries import dropping, entry_of
from cairn.consolidation.summary_ports import Scope, SummaryStores
from cairn.graph.node import State
from cairn.ingestion.appending import SYSTEM
from cairn.ingestion.entries import Entries
from cairn.ingestion.subjects import Resolution
from cairn.ingestion.writing import Write
from cairn.ledger.keys import key_subjects

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.access import Principal
    from cairn.clock import Clock
    from cairn.consolidation.summary_entries import Draft
    from cairn.consolidation.summary_ports import Group, StoredSummary, SummaryStore
    from cairn.ids import IdSource
    from cairn.ingestion.ports import Dispatcher, OutboxRow
    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.transaction import Transactions

WRITTEN = "summary.written"
_COUNTS = {Scope.EPISODE: "episodes", Scope.SESSION: "sessions", Scope.AGENT: "agents"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryWriting:
    """What every write of a derived node needs around it."""

    transactions: Transactions[SummaryStores]
    keys: KeyStore
    cipher: BodyCipher
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource

    def summaries(
        self,
        principal: Principal,
        group: Group,
        drafts: Sequence[Draft],
        dropped: Sequence[UUID],
        counts: Counter[str],
    ) -> None:
        """Write the drafts whose sources are as they were, and drop what is to be dropped.

        One entry; none when nothing is left to say. Raises SubjectForgotten when a key is gone.
        """

        def do(write: Write[SummaryStores]) -> list[OutboxRow]:
            store = write.stores.summaries
            found = store.stored([*(draft.id for draft in drafts), *dropped])
            good = _good(store, drafts, found, counts)
            gone = [one for one in dropped if one in found and found[one].state != State.DELETED]
            if not good and not gone:
                return []
            held = store.edges([*(draft.id for draft in good), *gone])
            meta, body = entry_of(good, gone, group=group, held=held, standing=found.keys())
            _add(write, WRITTEN, meta, body, group.data_subjects)
            for draft in good:
                counts[_COUNTS[draft.scope]] += 1
            counts["dropped"] += len(gone)
            return write.wake_embed(draft.id for draft in good) if good else []

        self.once(principal, group.data_subjects, do)

    def orphans(self, principal: Principal, ids: Sequence[UUID], counts: Counter[str]) -> None:
        """Drop summaries of whatever audience; that says nothing of anybody, so nobody's key."""

        def do(write: Write[SummaryStores]) -> list[OutboxRow]:
            store = write.stores.summaries
            found = store.stored(ids)
            gone = [one for one in ids if one in found and found[one].state != State.DELETED]
            if gone:
                _add(write, WRITTEN, *dropping(gone, store.edges(gone)), ())
                counts["dropped"] += len(gone)
            return []

        self.once(principal, (), do)

    def once(
        self,
        principal: Principal,
        subjects: tuple[UUID, ...],
        do: Callable[[Write[SummaryStores]], list[OutboxRow]],
    ) -> None:
        """Run `do` in one writing transaction, append what it planned, and send what it woke.

        A set of data subjects one of whom was forgotten is sealed by nobody: SubjectForgotten.
        """
        workspace_id = principal.workspace_id
        keys = self.keys.get_or_create(workspace_id, key_subjects(workspace_id, subjects))
        resolution = Resolution(workspace_id=workspace_id, ids={}, new=(), keys=keys)
        with self.transactions.writing(principal) as stores:
            write = self._begun(stores, resolution)
            rows = do(write)
            if write.entries.planned:
                write.append()
        self.dispatcher.send(rows)

    def _begun(self, stores: SummaryStores, resolution: Resolution) -> Write[SummaryStores]:
        def seal(entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
            keys = resolution.keys_of(subjects)
            return self.cipher.seal(entry_id, resolution.workspace_id, keys, body)

        entries = Entries(
            workspace_id=resolution.workspace_id,
            actor=SYSTEM,
            now=self.clock(),
            next_position=stores.ledger.head().position + 1,
            new_id=self.new_id,
            seal=seal,
        )
        return Write(stores=stores, resolution=resolution, entries=entries)


def _good(
    store: SummaryStore,
    drafts: Sequence[Draft],
    found: Mapping[UUID, StoredSummary],
    counts: Counter[str],
) -> list[Draft]:
    """Return the drafts that still stand for their sources and say something not said already."""
    contents = store.contents({one.id for draft in drafts for one in draft.sources})
    good: list[Draft] = []
    for draft in drafts:
        if any(contents.get(one.id) != one.content_hash for one in draft.sources):
            counts["changed"] += 1
        elif not _stands(draft, found.get(draft.id)):
            good.append(draft)
    return good


def _stands(draft: Draft, stored: StoredSummary | None) -> bool:
    """Return whether another run wrote the same meanwhile; a quarantined one is left alone."""
    if stored is None or stored.state == State.DELETED:
        return False
    return (stored.covers, stored.made_of) == (draft.covers, draft.made_of)


def _add(
    write: Write[SummaryStores],
    type_: str,
    meta: Mapping[str, Any],
    body: Mapping[str, Any],
    subjects: tuple[UUID, ...],
) -> None:
    write.entries.add(type_, meta, body, data_subjects=subjects, occurred_at=write.now)
