"""What forgetting keeps of itself, and the stores it needs. Adapters live in `storage`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from cairn.writing.ports import WriteStores

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.writing.checks import Owner


class Reason(StrEnum):
    """Why somebody is forgotten. A closed list: it stands in clear in the ledger, for ever."""

    REQUEST = "request"
    RETENTION = "retention"
    MISTAKE = "mistake"
    OTHER = "other"


class Step(StrEnum):
    """How far a forgetting is. Each is begun again after a kill, and ends the same."""

    BEGUN = "begun"  # no write for the subject is taken any more -> marked
    MARKED = "marked"  # the tombstone is written -> barred
    BARRED = "barred"  # the key is destroyed -> purged
    PURGED = "purged"  # the entry stands and PostgreSQL holds nothing -> done
    DONE = "done"  # objects and entities are gone too


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetting:
    """A row of `forgetting`: ids, counts and times, no names.

    `mark` is the subject's name under a key that is outside the database. `keyed` False: some of
    the source's bodies were stored before sources had keys, and stay readable in the ledger.
    `position` is the ledger's head when it was begun, `purged_position` the entry that purged.
    """

    id: UUID
    workspace_id: UUID
    subject_id: UUID
    kind: str
    mark: bytes
    keyed: bool
    reason: str
    principal_id: UUID
    status: str
    position: int
    begun_at: datetime
    purged_position: int | None = None
    document_ids: tuple[UUID, ...] = ()
    object_keys: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    done_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSubject:
    """A data subject that is not forgotten."""

    id: UUID
    kind: str
    natural_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Doomed:
    """What goes with a subject.

    `node_ids` are its own nodes, a source's documents, and what was derived of either; `revived`
    were superseded by one of them and stand again; of the `cleared` only the compiled truth goes.
    """

    node_ids: tuple[UUID, ...]
    revived: tuple[UUID, ...] = ()
    cleared: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideName:
    """What a source calls a ticket or a message: a name its row is known by, unique at `place`."""

    row_id: UUID
    place: str
    name: str


class ForgetStore(Protocol):
    """Everything a forgetting reads and erases of one workspace, whatever its scope."""

    def subject(
        self, *, owner: Owner | None = None, subject_id: UUID | None = None
    ) -> KnownSubject | None:
        """Return a data subject by its name or by its id."""
        ...

    def find(
        self,
        *,
        forgetting_id: UUID | None = None,
        subject_id: UUID | None = None,
        mark: bytes | None = None,
    ) -> Forgetting | None:
        """Return a forgetting; of several of one name the newest."""
        ...

    def unfinished(self) -> Sequence[Forgetting]:
        """Return those that are not done, the oldest first."""
        ...

    def begin(self, forgetting: Forgetting) -> None:
        """Keep a new one; one of the same subject stays as it is."""
        ...

    def advance(
        self,
        forgetting_id: UUID,
        status: str,
        *,
        now: datetime,
        purged_position: int | None = None,
        object_keys: Sequence[str] = (),
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """Move one on; `now` is kept when it is done, counts are added to those there are."""
        ...

    def documents(self, source_uri: str) -> Sequence[UUID]:
        """Return the documents of a source, deleted ones too."""
        ...

    def without(self, subject_id: UUID, document_ids: Collection[UUID]) -> int:
        """Return how many nodes of these documents do not name the subject."""
        ...

    def doomed(self, subject_id: UUID, document_ids: Collection[UUID]) -> Doomed:
        """Return what goes with the subject and these documents."""
        ...

    def tied(self, subject_id: UUID, doomed: Doomed) -> Sequence[UUID]:
        """Return what speaks of the subject by an edge of the memory graph only, and is visible.

        Facts, observations, resolutions, tickets and investigations at nodes of the subject, with
        no edge to another customer or user; what goes anyway is left out.
        """
        ...

    def sources(self, subject_id: UUID, doomed: Doomed) -> Sequence[KnownSubject]:
        """Return the sources of the subject's documents of which no other document is left."""
        ...

    def outside_names(self, subject_id: UUID) -> Sequence[OutsideName]:
        """Return the names of tickets and messages about the subject, or erased before."""
        ...

    def rename(self, names: Mapping[UUID, str]) -> None:
        """Replace names of tickets and messages by row."""
        ...

    def count(
        self, subject_id: UUID, document_ids: Collection[UUID], doomed: Doomed
    ) -> Mapping[str, int]:
        """Return how many rows of each kind would go."""
        ...

    def object_keys(self, document_ids: Collection[UUID], doomed: Doomed) -> Sequence[str]:
        """Return the prefixes under which bytes of the documents may lie."""
        ...

    def erase(
        self, subject_id: UUID, document_ids: Collection[UUID], doomed: Doomed
    ) -> Mapping[str, int]:
        """Delete the rows that are no projection, and return how many by table."""
        ...


class ForgetStores(WriteStores, Protocol):
    """What forgetting needs of a transaction."""

    @property
    def forgetting(self) -> ForgetStore: ...


class ObjectEraser(Protocol):
    """The bucket of uploads."""

    def erase(self, prefix: str) -> int:
        """Delete every version of every object below a prefix; return how many there were."""
        ...


class TombstoneStore(Protocol):
    """A bucket whose objects cannot be changed or removed for a time."""

    def put(self, key: str, content: bytes) -> None:
        """Store bytes under a key."""
        ...

    def versions(self, prefix: str) -> Sequence[tuple[str, bytes]]:
        """Return (key, bytes) of every version of every object below a prefix, the oldest first.

        A later version cannot hide an earlier one.
        """
        ...
