"""Reading what a workspace holds, without asking a question: the use cases behind the GET routes.

Thin on purpose: visibility is the stores' (row level security and the agent guard); here an absent
row becomes NotFound and a list becomes a page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from cairn.kernel.access import Role
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.kernel.records import convert
from cairn.ledger.verify import verify
from cairn.reading.views import (
    LedgerEntryView,
    LedgerVerification,
    Page,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.entry import Entry, Head
    from cairn.reading.views import (
        DocumentView,
        IngestionView,
        Json,
        LedgerFilter,
        MemoryFilter,
        MemoryVersion,
        MemoryView,
        NamespaceFilter,
        Status,
    )

VERIFY_BATCH = 1_000
LAST_POSITION = 2**53 - 1


class LedgerReader(Protocol):
    """The chain of one workspace, to be read."""

    def head(self) -> Head:
        """Return where the chain ends."""
        ...

    def page(self, *, after: int, limit: int, type_: str | None = None) -> list[Entry]:
        """Return up to `limit` entries above `after`, of a type or a namespace when given."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Browse:
    """Every read of the API; each method is one use case."""

    transactions: Transactions[Stores]

    def get_memory(self, principal: Principal, memory_id: UUID) -> MemoryView:
        """Return one memory; NotFound when the principal cannot see it."""
        with self.transactions.reading(principal) as stores:
            memory = stores.views.memory(memory_id)
        if memory is None:
            raise NotFound("There is no such memory.", memory_id=str(memory_id))
        return memory

    def get_memory_history(
        self, principal: Principal, memory_id: UUID
    ) -> tuple[MemoryVersion, ...]:
        """Return a memory's versions, oldest first; NotFound when the principal cannot see it."""
        with self.transactions.reading(principal) as stores:
            versions = stores.views.memory_versions(memory_id)
        if not versions:
            raise NotFound("There is no such memory.", memory_id=str(memory_id))
        return tuple(versions)

    def list_memories(
        self, principal: Principal, where: MemoryFilter, *, limit: int, after: int | None
    ) -> Page[MemoryView]:
        """Return a page of memories, newest ledger position first."""
        with self.transactions.reading(principal) as stores:
            memories = stores.views.memories(where, limit=limit + 1, after=after)
        return _page(memories, limit)

    def list_namespaces(
        self, principal: Principal, where: NamespaceFilter, *, limit: int, offset: int
    ) -> tuple[str, ...]:
        """Return names of namespaces, each once, in their order; one more than `limit`."""
        with self.transactions.reading(principal) as stores:
            return tuple(stores.views.namespaces(where, limit=limit + 1, offset=offset))

    def get_document(self, principal: Principal, document_id: UUID) -> DocumentView:
        """Return one document with its sections; NotFound when the principal cannot see it."""
        with self.transactions.reading(principal) as stores:
            document = stores.views.document(document_id)
            sections = stores.views.sections(document_id) if document else ()
        if document is None:
            raise NotFound("There is no such document.", document_id=str(document_id))
        return replace(document, sections=tuple(sections))

    def list_documents(
        self,
        principal: Principal,
        *,
        client_id: str | None,
        source_uri: str | None = None,
        limit: int,
        after: int | None,
    ) -> Page[DocumentView]:
        """Return a page of documents, newest first."""
        with self.transactions.reading(principal) as stores:
            documents = stores.views.documents(
                client_id=client_id, source_uri=source_uri, limit=limit + 1, after=after
            )
        return _page(documents, limit)

    def get_ingestion(self, principal: Principal, ingestion_id: UUID) -> IngestionView:
        """Return one ingestion; NotFound when the principal cannot see its document."""
        with self.transactions.reading(principal) as stores:
            ingestion = stores.views.ingestion(ingestion_id)
        if ingestion is None:
            raise NotFound("There is no such ingestion.", ingestion_id=str(ingestion_id))
        return ingestion

    def get_status(self, principal: Principal, /) -> Status:
        """Count what waits in the principal's workspace."""
        with self.transactions.reading(principal) as stores:
            return stores.views.status()

    def list_ledger(
        self,
        principal: Principal,
        where: LedgerFilter,
        *,
        limit: int,
        after: int | None,
    ) -> Page[LedgerEntryView]:
        """Return a page of entries by rising or, newest first, by falling position."""
        with self.transactions.reading(principal) as stores:
            entries = stores.ledger.listed(where, limit=limit + 1, after=after)
        return _page([entry_view(entry) for entry in entries], limit)

    def list_newest(
        self, principal: Principal, types: Collection[str], *, before: int | None, limit: int
    ) -> Sequence[LedgerEntryView]:
        """Return entries of some types below a position, the newest first; for admins."""
        principal.require(Role.ADMIN)
        below = LAST_POSITION if before is None else before
        with self.transactions.reading(principal) as stores:
            entries = stores.ledger.newest(types, before=below, limit=limit)
        return [entry_view(entry) for entry in entries]

    def export_ledger(
        self, principal: Principal, *, after: int, limit: int
    ) -> tuple[Head, Sequence[Entry]]:
        """Return where the chain ends, and up to `limit` entries above `after`; for admins."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            return stores.ledger.head(), stores.ledger.page(after=after, limit=limit)

    def verify_ledger(self, principal: Principal) -> LedgerVerification:
        """Recompute the workspace's chain from its beginning, a batch in memory at a time."""
        with self.transactions.reading(principal) as stores:
            return verify_chain(stores.ledger, principal.workspace_id)


def verify_chain(
    ledger: LedgerReader,
    workspace_id: UUID,
    *,
    start: Head | None = None,
    anchors: Mapping[int, bytes] | None = None,
) -> LedgerVerification:
    """Verify a chain and that it ends where its head says.

    The head is read before and after, so that entries appended meanwhile do no harm while entries
    past the head, or missing before it, are faults. `anchors` are the hashes that positions must
    have, known before this call: a chain that ends before one of them was cut. `start` is a head
    that is trusted already; nothing up to it is looked at.
    """
    head = ledger.head()
    verification = verify(
        entries_of(ledger, after=start.position if start else 0, up_to=head.position),
        workspace_id=workspace_id,
        start=start,
        expected=head,
        anchors=anchors,
    )
    checked = verification.checked
    if verification.ok:
        since = entries_of(ledger, after=head.position)
        verification = verify(since, workspace_id=workspace_id, start=head)
        checked += verification.checked
    if verification.ok and (now := ledger.head()).position < verification.head.position:
        verification = verify((), workspace_id=workspace_id, start=verification.head, expected=now)
    return LedgerVerification(
        workspace_id=workspace_id,
        ok=verification.ok,
        checked=checked,
        first_bad_position=verification.first_bad_position,
        reason=verification.reason.value if verification.reason else None,
        head_position=verification.head.position,
        head_hash=verification.head.hash.hex(),
    )


def entries_of(
    ledger: LedgerReader, *, after: int = 0, up_to: int | None = None
) -> Iterator[Entry]:
    """Yield the entries above `after`, up to position `up_to`, read in batches."""
    while page := ledger.page(after=after, limit=VERIFY_BATCH):
        for entry in page:
            if up_to is not None and entry.position > up_to:
                return
            yield entry
        after = page[-1].position


def entry_view(entry: Entry) -> LedgerEntryView:
    """Return an entry as the API shows it."""
    return convert(
        entry,
        LedgerEntryView,
        actor_kind=entry.actor.kind.value,
        actor_id=entry.actor.id,
        prev_hash=entry.prev_hash.hex(),
        hash=entry.hash.hex(),
        meta=_meta(entry),
    )


def _meta(entry: Entry) -> Json:
    """Return the decoded meta; nothing of one that was altered (verification names it)."""
    try:
        return entry.meta
    except ValidationFailed:
        return {}


class _Positioned(Protocol):
    @property
    def position(self) -> int: ...


P = TypeVar("P", bound=_Positioned)


def _page(results: Sequence[P], limit: int) -> Page[P]:
    """Return a page of a list that was read with one item more than it may show."""
    items = tuple(results[:limit])
    return Page(items=items, next_after=items[-1].position if len(results) > limit else None)
