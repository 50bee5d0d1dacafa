"""Append what consolidation derives, after looking again, under the ledger's lock, at its sources.

Keys are asked for before the lock. Not what a summary says, nor when one is due.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.graph.node import State
from cairn.kernel.text.hashes import content_hash
from cairn.ledger.keys import SubjectForgotten, key_subjects
from cairn.summaries.entries import dropping, entry_of
from cairn.summaries.ports import Scope
from cairn.writing.append import SYSTEM
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.summaries.entries import Draft
    from cairn.summaries.ports import Group, HeldEdge, StoredSummary
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

WRITTEN = "summary.written"
_COUNTS = {Scope.EPISODE: "episodes", Scope.SESSION: "sessions", Scope.AGENT: "agents"}


SUMMARIES_A_WRITE = 50
SECONDS_A_WRITE = 1.0
"""A transaction has so many summaries, or what was made in so much time, and a whole group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Summaries of one group that are written together, the lower ones first, and what goes."""

    group: Group
    drafts: Sequence[Draft] = ()
    dropped: Sequence[UUID] = ()


@dataclass(frozen=True, slots=True)
class SummaryWriting:
    """What every write of a derived node needs around it."""

    platform: Platform

    def summaries(
        self, principal: Principal, bundles: Sequence[Bundle], counts: Counter[str]
    ) -> None:
        """Write the drafts whose sources are as they were, and drop what is to be dropped.

        One transaction, and an entry a bundle; none of what has nothing left to say. Bundles with
        a key that is gone are counted and the others written.
        """
        try:
            self._summaries(principal, bundles, counts)
        except SubjectForgotten:  # its rows are about to go
            if len(bundles) > 1:
                for bundle in bundles:
                    self.summaries(principal, [bundle], counts)
            else:
                counts["forgotten"] += 1

    def _summaries(
        self, principal: Principal, bundles: Sequence[Bundle], counts: Counter[str]
    ) -> None:
        def do(write: Write) -> None:
            now = _Now.of(write.stores, bundles)
            written = [
                draft.id for bundle in bundles for draft in _add_bundle(write, bundle, now, counts)
            ]
            write.wake_embed(written)

        subjects = {subject for bundle in bundles for subject in bundle.group.data_subjects}
        unowned = any(not bundle.group.data_subjects for bundle in bundles)
        self.once(principal, tuple(sorted(subjects)), do, unowned=unowned)

    def orphans(self, principal: Principal, ids: Sequence[UUID], counts: Counter[str]) -> None:
        """Drop summaries of whatever audience; that says nothing of anybody, so nobody's key."""

        def do(write: Write) -> None:
            store = write.stores.summaries
            results = store.stored(ids)
            gone = [id_ for id_ in ids if id_ in results and results[id_].state != State.DELETED]
            if gone:
                _add(write, WRITTEN, *dropping(gone, store.edges(gone)), ())
                counts["dropped"] += len(gone)

        self.once(principal, (), do)

    def once(
        self,
        principal: Principal,
        subjects: tuple[UUID, ...],
        do: Callable[[Write], None],
        *,
        unowned: bool = False,
    ) -> None:
        """Run `do` in one writing transaction, append what it planned, and send what it woke.

        `unowned`: some of what it writes has no data subject. A set of data subjects one of whom
        was forgotten is sealed by nobody: SubjectForgotten.
        """
        workspace_id = principal.workspace_id
        owners = {*key_subjects(workspace_id, subjects), *([workspace_id] if unowned else ())}
        keys = self.platform.keys.get_or_create(workspace_id, sorted(owners))
        with open_write(self.platform, principal, actor=SYSTEM, keys=keys) as write:
            do(write)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Now:
    """What the stores say under the lock of all that bundles are about.

    `contents` also has what is written meanwhile, so that a summary can be made of it.
    """

    stored: Mapping[UUID, StoredSummary]
    contents: dict[UUID, str]
    edges: Sequence[HeldEdge]

    @classmethod
    def of(cls, stores: Stores, bundles: Sequence[Bundle]) -> _Now:
        drafts = [draft for bundle in bundles for draft in bundle.drafts]
        ids = [
            *(draft.id for draft in drafts),
            *(id_ for bundle in bundles for id_ in bundle.dropped),
        ]
        sources = {source.id for draft in drafts for source in draft.sources}
        summaries = stores.summaries
        return cls(
            stored=summaries.stored(ids),
            contents=dict(summaries.contents(sources)),
            edges=summaries.edges(ids),
        )


def _add_bundle(write: Write, bundle: Bundle, now: _Now, counts: Counter[str]) -> Sequence[Draft]:
    """Add a bundle's entry, and return the drafts that are written."""
    good = _good(bundle.drafts, now, counts)
    stored = now.stored
    gone = [
        item for item in bundle.dropped if item in stored and stored[item].state != State.DELETED
    ]
    if not good and not gone:
        return []
    about = {*(draft.id for draft in good), *gone}
    held = [edge for edge in now.edges if edge.source_id in about]
    meta, body = entry_of(good, gone, group=bundle.group, held=held, standing=stored.keys())
    _add(write, WRITTEN, meta, body, bundle.group.data_subjects)
    for draft in good:
        counts[_COUNTS[draft.scope]] += 1
    counts["dropped"] += len(gone)
    return good


def _good(drafts: Sequence[Draft], now: _Now, counts: Counter[str]) -> list[Draft]:
    """Return the drafts that still stand for their sources and say something not said already."""
    good: list[Draft] = []
    for draft in drafts:
        if any(now.contents.get(source.id) != source.content_hash for source in draft.sources):
            counts["changed"] += 1
        elif not _stands(draft, now.stored.get(draft.id)):
            good.append(draft)
            now.contents[draft.id] = content_hash(draft.condensed.text)
    return good


def _stands(draft: Draft, stored: StoredSummary | None) -> bool:
    """Return whether another run wrote the same meanwhile; a quarantined one is left alone."""
    if stored is None or stored.state == State.DELETED:
        return False
    return (stored.covers, stored.made_of) == (draft.covers, draft.made_of)


def _add(
    write: Write,
    type_: str,
    meta: Mapping[str, Any],
    body: Mapping[str, Any],
    subjects: tuple[UUID, ...],
) -> None:
    write.entries.add(type_, meta, body, data_subjects=subjects, occurred_at=write.now)


@dataclass(slots=True, kw_only=True)
class Pile:
    """Bundles that wait for a transaction they share."""

    writing: SummaryWriting
    principal: Principal
    counts: Counter[str]
    stopwatch: Stopwatch
    size: int = SUMMARIES_A_WRITE
    bundles: list[Bundle] = field(default_factory=list[Bundle])
    began: float = 0.0

    def add(self, bundle: Bundle) -> None:
        """Lay a bundle on the pile, and write all of it when it is high or old."""
        if not self.bundles:
            self.began = self.stopwatch()
        self.bundles.append(bundle)
        high = sum(len(bundle.drafts) + len(bundle.dropped) for bundle in self.bundles) >= self.size
        if high or self.stopwatch() - self.began >= SECONDS_A_WRITE:
            self.flush()

    def flush(self) -> None:
        """Write what is on the pile."""
        if self.bundles:
            self.writing.summaries(self.principal, self.bundles, self.counts)
        self.bundles = []
