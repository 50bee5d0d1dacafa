"""What forgetting keeps of itself, and the stores it needs. Adapters live in `storage`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID


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
