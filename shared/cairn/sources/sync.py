"""Reading a source: a run from where it stands, or all that are due. Not how a kind is read.

Each item is written down before its document is accepted and after, so that a run which dies goes
on at its page, and neither doubles nor loses a document.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from cairn.documents import media
from cairn.documents.accept import MAX_DOCUMENT_BYTES, source_owner
from cairn.documents.ports import NewDocument
from cairn.kernel.access import Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import (
    CairnError,
    Conflict,
    NotFound,
    RateLimited,
    TooLarge,
    ValidationFailed,
)
from cairn.kernel.text.scrub import scrub
from cairn.kernel.transaction import LedgerBusy
from cairn.ledger.keys import SubjectForgotten, subject_mark
from cairn.sources.keep import begin_run, find_source
from cairn.sources.reader import MAX_KEY_CHARS, Limits
from cairn.sources.source import (
    KnowledgeState,
    StoredItem,
    SyncMode,
    SyncOutcome,
)
from cairn.writing.items import IdempotencyKey
from cairn.writing.ports import Topic
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.accept import AcceptDocument
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.memories.delete import DeleteDocument
    from cairn.sources.keep import Sources
    from cairn.sources.reader import Item, OpenReader, Page, Reader
    from cairn.sources.source import Content, SourceRow, SyncReport
    from cairn.writing.platform import Platform

FIRST_LEASE, LEASE = timedelta(minutes=15), timedelta(minutes=5)
"""The first page of a repository takes long; after it each item renews."""

LONGEST_WAIT = timedelta(hours=1)
"""What a service may ask for before a run of it goes on."""

LONGEST_RUN = timedelta(hours=24)
"""After this a run that is kept waiting has failed."""

READ_AT_ONCE = 20
"""Documents of a workspace that wait to be parsed before a source brings more."""

PAUSE_SECONDS = 0.5
GONE_FROM, GONE_SHARE = 10, 0.5
"""From so many items on, no more than this share goes without somebody's word."""

GONE_AT_ONCE = 100
DUE = 100


class LeaseLost(Conflict):
    """Somebody else works at this run, or it was ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncSource:
    """Works at the run of one source. `pause` waits for seconds."""

    platform: Platform
    sources: Sources
    open: OpenReader
    accept: AcceptDocument
    delete: DeleteDocument
    pause: Callable[[float], None]

    def __call__(self, workspace_id: UUID, source_id: UUID, *, seconds: float) -> str:
        """Go on with the run for some seconds.

        Returns `done`, `more` when time was up, `failed`, or `nothing` when there is no run or
        somebody works at it.
        """
        principal = system_principal(workspace_id)
        lease, now = self.platform.new_id(), self.platform.clock()
        with self.platform.transactions.writing(principal) as stores:
            if not stores.sources.lease(source_id, lease, until=now + FIRST_LEASE, now=now):
                return "nothing"
            source, cursor = find_source(stores, source_id), stores.sources.cursor(source_id)
        run = _Run(
            sync=self,
            principal=principal,
            source=source,
            lease=lease,
            cursor=cursor,
            until=self.platform.stopwatch() + seconds,
        )
        try:
            return run.work()
        except LeaseLost:
            return "nothing"
        except (RateLimited, LedgerBusy) as limit:
            return run.waits(limit)
        except CairnError as problem:
            run.failed(problem)
            return "failed"
        except Exception:  # a bug is logged; the source says so, and its next run comes
            what = "There is something in the source that cannot be read."
            run.failed(ValidationFailed(what, reason="unreadable"))
            raise


@dataclass(kw_only=True)
class _Run:
    """One worker's part of a run."""

    sync: SyncSource
    principal: Principal
    source: SourceRow
    lease: UUID
    cursor: str | None
    until: float
    moved: bool = field(default=False, init=False)
    version: str | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.source.run is None or self.source.run_id is None:
            raise LeaseLost("The run has ended.")
        self.platform = self.sync.platform
        self.report: SyncReport = self.source.run
        self.run_id: UUID = self.source.run_id

    @property
    def previews(self) -> bool:
        return self.report.mode is SyncMode.PREVIEW

    @property
    def late(self) -> bool:
        return self.platform.stopwatch() >= self.until

    def work(self) -> str:
        if self.report.mode is SyncMode.REMOVE:
            return "done" if self._gone() and self._removed() else self._later()
        if not self._pages():
            return self._later()
        self._refuse_emptied()
        return self._ended() if self._gone() else self._later()

    def failed(self, problem: CairnError) -> None:
        """Keep why the run has failed; the code and the sentence, never what was read."""
        now = self.platform.clock()
        with self.platform.transactions.writing(self.principal) as stores:
            stores.sources.failed(
                self.source.id,
                self.lease,
                replace(self.report, ended_at=now),
                error=problem.reason,
                error_detail=scrub(problem.detail).text[:500],
                now=now,
            )
        fields = {"source_id": str(self.source.id), "reason": problem.reason}
        self.platform.warn("source.not_synced", fields)

    def waits(self, limit: RateLimited | LedgerBusy) -> str:
        """Let the run go on when it is answered again; one that gets nowhere has failed."""
        now = self.platform.clock()
        is_ours = isinstance(limit, LedgerBusy)
        is_begun = is_ours or self.cursor is not None or self.report.new or self.report.changed
        is_late = now - self.report.started_at > LONGEST_RUN
        if not self.moved and (is_late or not is_begun):
            self.failed(limit)
            return "failed"
        until = now + min(timedelta(seconds=limit.retry_after), LONGEST_WAIT)
        with self.platform.transactions.writing(self.principal) as stores:
            stores.sources.progress(
                self.source.id, self.lease, cursor=self.cursor, report=self.report, until=until
            )
        return "more"

    # Items

    def _pages(self) -> bool:
        """Take in what there is; False when time was up before the last page."""
        if self.cursor is not None and self.cursor.startswith(_LISTED):
            self.version = self.cursor.removeprefix(_LISTED) or None
            return True
        reader = self._reader()
        try:
            self.version = reader.version()
            if self._is_same():
                return True
            while True:
                page = reader.page(self.cursor, self._marks)
                begins = self.cursor is None
                if not self._took(page):
                    return False
                self.moved = self.moved or self.cursor != page.cursor
                self.cursor = page.cursor or f"{_LISTED}{self.version or ''}"
                self._keep_progress(rest_is_seen=begins and page.partial)
                if page.cursor is None:
                    return True
                if self.late:
                    return False
        finally:
            reader.close()

    def _is_same(self) -> bool:
        """Say whether all is as it was read last, and count it."""
        source = self.source
        if self.cursor or self.version is None or self.version != source.version:
            return False
        with self.platform.transactions.writing(self.principal) as stores:
            stores.sources.seen_all(source.id, self.run_id)
        self._count_all()
        return True

    def _reader(self) -> Reader:
        source = self.source
        secrets = self.sync.sources.secrets(self.principal, source.id)
        limits = Limits(
            items=source.max_items,
            bytes=source.max_bytes,
            began=self.report.started_at,
            since=source.version,
            workspace_id=self.principal.workspace_id,
            whole=source.version is not None,
        )
        return self.sync.open(source.kind, source.config, secrets, limits)

    def _marks(self, keys: list[str] | None) -> dict[str, str]:
        with self.platform.transactions.reading(self.principal) as stores:
            if keys is None:
                return stores.sources.marks(self.source.id)
            stored_items = stores.sources.items(self.source.id, keys)
        return {key: item.mark for key, item in stored_items.items() if item.mark}

    def _took(self, page: Page) -> bool:
        """Take a page's items in; False when time was up."""
        with self.platform.transactions.reading(self.principal) as stores:
            stored_items = stores.sources.items(self.source.id, [item.key for item in page.items])
        same: list[str] = []
        for item in page.items:
            stored = stored_items.get(item.key)
            if stored is not None and stored.seen == self.run_id and stored.mark == item.mark:
                continue  # a worker that died had taken it in
            if page.partial and stored is not None and stored.seen == self.run_id and stored.mark:
                self._listed_after_all(stored)
            if item.gone:
                self._is_gone(stored)
            elif item.skipped:
                self.report = replace(self.report, skipped=self.report.skipped + 1)
            elif stored is not None and stored.mark and _unchanged(item, stored):
                same.append(item.key)
                self._count_unchanged(stored)
                if item.mark not in {"", stored.mark} and not self.previews:
                    self._keep(replace(stored, mark=item.mark))
            elif item.refused is not None:
                self._refused(item, item.refused, stored)
            elif not self._takes(item, stored):
                return False
        with self.platform.transactions.writing(self.principal) as stores:
            stores.sources.seen(self.source.id, self.run_id, same)
        return True

    def _listed_after_all(self, stored: StoredItem) -> None:
        """Count an item of a partial run no longer as it was: the run lists it."""
        report, is_refused = self.report, stored.reason is not None
        self.report = replace(
            report,
            unchanged=report.unchanged - (not is_refused),
            refused=report.refused - is_refused,
            bytes=report.bytes - stored.bytes,
        )

    def _is_gone(self, stored: StoredItem | None) -> None:
        if stored is not None:
            with self.platform.transactions.writing(self.principal) as stores:
                stores.sources.unsee(self.source.id, stored.key)

    def _takes(self, item: Item, stored: StoredItem | None) -> bool:
        """Take a new or changed item in; False when time was up before."""
        what = SyncOutcome.CHANGED if stored is not None and stored.document_id else SyncOutcome.NEW
        try:
            content = self._content(item)
            size = len(content.body)
        except _PER_ITEM as problem:
            self._refused(item, problem.reason, stored)
            return True
        self._check_quota(size)
        if self.previews:
            if stored is not None:
                self._saw(item.key)
            self.report = self.report.having(what, item.key, size=size)
            return True
        if not self._is_room():
            return False
        self._keep(StoredItem(key=item.key, mark="", document_id=stored and stored.document_id))
        try:
            accepted = self.sync.accept(
                self.principal,
                self._document(item, content),
                idempotency=self._once(item),
                condition=self._require_lease,
            )
        except _PER_ITEM as problem:
            self._refused(item, problem.reason, stored)
            return True
        self.moved = True
        if stored is not None and stored.document_id not in {None, accepted.document_id}:
            self._delete(stored)  # it is about others now, and so another document
        self.report = self.report.having(what, item.key, size=size)
        self._keep(
            StoredItem(key=item.key, mark=item.mark, document_id=accepted.document_id, bytes=size)
        )
        return True

    def _content(self, item: Item) -> Content:
        if item.load is None:
            raise RuntimeError("an item that was not read before has nothing to read")
        if len(item.key) > MAX_KEY_CHARS:
            raise ValidationFailed("The name is too long.", reason="name-too-long")
        if item.size > MAX_DOCUMENT_BYTES:
            raise TooLarge("The item is too large.", reason="too-large")
        if self._is_forgotten(item.key):
            raise ValidationFailed("This was forgotten.", reason="forgotten")
        content = item.load()
        kind = content.media_type or media.media_type_of(item.key)
        media.check_magic(content.body, media.normalise_media_type(kind or ""))
        if not content.body.strip():
            raise ValidationFailed("There is nothing in it.", reason="empty-document")
        return content

    def _is_forgotten(self, key: str) -> bool:
        """Say whether this very document was forgotten: a schedule brings nobody back."""
        workspace_id = self.principal.workspace_id
        keys = self.platform.keys.get(workspace_id, (workspace_id,))
        mark = subject_mark(keys[workspace_id], *source_owner(self.source.uri_of(key)))
        with self.platform.transactions.reading(self.principal) as stores:
            row = stores.forgetting.find(mark=mark)
        return row is not None and row.begun_at >= self.source.created_at

    def _document(self, item: Item, content: Content) -> NewDocument:
        source = self.source
        return NewDocument(
            source_uri=source.uri_of(item.key),
            client_id=source.client_id,
            scope=Scope(source.scope),
            title=content.title,
            media_type=content.media_type,
            content=content.body,
            metadata={"source": source.name, **content.metadata},
            collection=source.uri,
            subjects=content.subjects,
        )

    def _once(self, item: Item) -> IdempotencyKey:
        """Return what makes a repeat of a worker that died the same write."""
        digest = hashlib.sha256(f"{self.run_id}\n{item.key}\n{item.mark}".encode())
        return IdempotencyKey(key=f"source-{digest.hexdigest()}", body_hash=digest.digest())

    def _is_room(self) -> bool:
        """Wait until the documents before are read; False when time is up."""
        while True:
            with self.platform.transactions.reading(self.principal) as stores:
                waiting = stores.sources.reading()
            if waiting < READ_AT_ONCE:
                return not self.late
            if self.late:
                return False
            self._keep_progress()
            self.sync.pause(PAUSE_SECONDS)

    def _check_quota(self, size: int) -> None:
        report, source = self.report, self.source
        if report.new + report.changed + report.unchanged >= source.max_items:
            raise TooLarge(
                f"The source has more than {source.max_items} items; max_items may be raised.",
                reason="quota-items",
            )
        if report.bytes + size > source.max_bytes:
            raise TooLarge(
                f"The source has more than {source.max_bytes} bytes; max_bytes may be raised.",
                reason="quota-bytes",
            )

    def _count_unchanged(self, stored: StoredItem) -> None:
        if stored.reason is not None:
            self.report = self.report.having(SyncOutcome.REFUSED, stored.key, reason=stored.reason)
            return
        self._check_quota(stored.bytes)
        self.report = replace(
            self.report,
            unchanged=self.report.unchanged + 1,
            bytes=self.report.bytes + stored.bytes,
        )

    def _refused(self, item: Item, reason: str, stored: StoredItem | None) -> None:
        """Keep that an item cannot be taken; what stood of it before it changed goes."""
        self.report = self.report.having(SyncOutcome.REFUSED, item.key, reason=reason)
        if self.previews:
            if stored is not None:
                self._saw(item.key)
            return
        if stored is not None:
            self._delete(stored)
        if len(item.key) <= MAX_KEY_CHARS:
            self._keep(StoredItem(key=item.key, mark=item.mark or reason, reason=reason))

    def _saw(self, key: str) -> None:
        with self.platform.transactions.writing(self.principal) as stores:
            stores.sources.seen(self.source.id, self.run_id, [key])

    # What is gone

    def _refuse_emptied(self) -> None:
        """Raise when most of a source is gone at once: it is more often a mistake than meant."""
        if self.previews or self.source.accept_deletions:
            return
        with self.platform.transactions.reading(self.principal) as stores:
            held, seen, _ = stores.sources.held(self.source.id, self.run_id)
        if held >= GONE_FROM and held - seen > held * GONE_SHARE:
            raise Conflict(
                f"{held - seen} of {held} items are gone, and nothing was deleted. "
                "Where that is meant, sync once more and accept deletions.",
                reason="too-many-gone",
            )

    def _gone(self) -> bool:
        """Delete what this run did not see; False when time was up."""
        after = ""
        while True:
            with self.platform.transactions.reading(self.principal) as stores:
                items = stores.sources.unseen(
                    self.source.id, self.run_id, after=after, limit=GONE_AT_ONCE
                )
            for item in items:
                if self.late:
                    return False
                self._goes(item)
            if len(items) < GONE_AT_ONCE:
                return True
            after = items[-1].key

    def _goes(self, item: StoredItem) -> None:
        if item.reason is None:
            self.report = self.report.having(SyncOutcome.GONE, item.key)
        if self.previews:
            return
        self._delete(item)
        with self.platform.transactions.writing(self.principal) as stores:
            stores.sources.drop_item(self.source.id, item.key)
            self._progress(stores.sources.progress)
        self.moved = True

    def _delete(self, item: StoredItem) -> None:
        documents: Sequence[UUID] = (item.document_id,) if item.document_id else ()
        if not documents and item.reason is None:  # a worker died before it knew the id
            with self.platform.transactions.reading(self.principal) as stores:
                documents = stores.forgetting.documents(self.source.uri_of(item.key))
        for document_id in documents:
            try:
                self.sync.delete(self.principal, document_id)
            except NotFound:
                continue

    # The run itself

    def _keep(self, item: StoredItem) -> None:
        with self.platform.transactions.writing(self.principal) as stores:
            self._progress(stores.sources.progress)
            stores.sources.keep_item(self.source.id, self.run_id, item)

    def _keep_progress(self, *, rest_is_seen: bool = False) -> None:
        """Keep how far the run is; `rest_is_seen` counts everything as it was."""
        if rest_is_seen:
            self._count_all()
        with self.platform.transactions.writing(self.principal) as stores:
            self._progress(stores.sources.progress)
            if rest_is_seen:
                stores.sources.seen_all(self.source.id, self.run_id)

    def _count_all(self) -> None:
        source = self.source
        self.report = replace(
            self.report, unchanged=source.documents, refused=source.refused, bytes=source.bytes
        )

    def _progress(self, keep: Callable[..., bool]) -> None:
        until = self.platform.clock() + LEASE
        if not keep(
            self.source.id, self.lease, cursor=self.cursor, report=self.report, until=until
        ):
            raise LeaseLost("Somebody else works at this run, or it was ended.")

    def _require_lease(self, stores: Stores) -> None:
        """Raise when the run is another's: who removes a source holds the same lock meanwhile."""
        if not stores.sources.is_leased(self.source.id, self.lease):
            raise LeaseLost("Somebody else works at this run, or it was ended.")

    def _later(self) -> str:
        """Let another worker go on: at once where this one got on, else with the schedule."""
        self._keep_progress()
        with open_write(self.platform, self.principal) as write:
            write.stores.sources.release(self.source.id, self.lease)
            if self.moved:
                write.wake(Topic.SOURCE, self.source.id)
        return "more"

    def _removed(self) -> bool:
        with self.platform.transactions.writing(self.principal) as stores:
            return stores.sources.remove(self.source.id)

    def _ended(self) -> str:
        now = self.platform.clock()
        report = replace(self.report, ended_at=now)
        if self.previews:
            with self.platform.transactions.writing(self.principal) as stores:
                stores.sources.previewed(self.source.id, self.lease, report)
            return "done"
        workspace_id, subjects = self.principal.workspace_id, self.source.data_subjects
        keys = self.platform.keys.get_or_create(workspace_id, {workspace_id, *subjects})
        with open_write(self.platform, self.principal, keys=keys, data_subjects=subjects) as write:
            if not write.stores.sources.synced(
                self.source.id, self.lease, report, version=self.version or _READ, now=now
            ):
                raise LeaseLost("Somebody else works at this run, or it was ended.")
            if report.new or report.changed or report.gone:
                counts = {name: getattr(report, name) for name in COUNTED}
                write.note("source.synced", {"source_id": str(self.source.id), **counts})
        fields = {name: getattr(report, name) for name in COUNTED}
        self.platform.log("source.read", {"source_id": str(self.source.id), **fields})
        return "done"


_LISTED = "\x1flisted"
_READ = "read"
"""The version of a source that was read to its end, and whose reader knows none."""

COUNTED = ("new", "changed", "gone", "unchanged", "refused")
_PER_ITEM = (ValidationFailed, NotFound, SubjectForgotten)
"""What is wrong with one item; anything else ends the run."""


def _unchanged(item: Item, stored: StoredItem) -> bool:
    return (item.load is None and item.refused is None) or item.mark == stored.mark


SourcesDue: TypeAlias = "Callable[[datetime, int], Sequence[tuple[UUID, UUID]]]"
"""Names the sources that are to be read, in every workspace; those left behind come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeDue:
    """Wakes a worker for every source that is due, or that a worker left behind."""

    platform: Platform
    due: SourcesDue

    def __call__(self) -> int:
        """Return how many were woken."""
        woken = 0
        for workspace_id, source_id in self.due(self.platform.clock(), DUE):
            principal = system_principal(workspace_id)
            with open_write(self.platform, principal) as write:
                source = write.stores.sources.find(source_id)
                if source is None or (source.state is KnowledgeState.PAUSED and source.run is None):
                    continue
                begin_run(write, self.platform.new_id(), source_id, SyncMode.SYNC)
            woken += 1
        return woken
