"""What replaying a ledger needs of the stores. Records and contracts; no steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Head


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSum:
    """The content of one projection: how many rows, and a checksum (32 hex characters)."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a replay is. `version` is of the code that began it, `since` the head it saw then.

    `head` is the entry reached, as the end of the chain so far.
    """

    version: str
    since: int
    head: Head
    entries: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What putting the replayed rows in place changed: rows removed and added, by table."""

    removed: Mapping[str, int] = field(default_factory=dict[str, int])
    added: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def rows(self) -> int:
        """Return how many rows that is."""
        return sum(self.removed.values()) + sum(self.added.values())


class Replays(Protocol):
    """Opens the transactions of a rebuild. Leaving the block commits; an exception rolls back."""

    def replaying(self, principal: Principal) -> AbstractContextManager[Stores]:
        """Open one that fills the replica; writers of the workspace do not wait for it."""
        ...

    def comparing(self, principal: Principal) -> AbstractContextManager[Stores]:
        """Open one that sees one moment of the database; writers do not wait for it."""
        ...

    def finishing(self, principal: Principal) -> AbstractContextManager[Stores]:
        """Open one that holds the workspace's ledger head; writers wait, readers do not.

        Raises Unavailable (`ledger-busy`) when the head cannot be had in time.
        """
        ...


def as_json(sums: Mapping[str, TableSum]) -> dict[str, Any]:
    """Return checksums as people and machines are told them."""
    return {name: {"rows": one.rows, "checksum": one.checksum} for name, one in sums.items()}
