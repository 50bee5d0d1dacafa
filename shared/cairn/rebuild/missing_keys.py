"""Keys gone though nobody was forgotten, and rows that lost their entries. Changes nothing.

Whoever was forgotten has an entry that says so, or a forgetting whose tombstone is written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

from cairn.kernel.access import Principal, Role
from cairn.kernel.access.system import system_principal
from cairn.reading.views import LedgerVerification, MissingKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.keys import KeyStore


Found = TypeVar("Found", bound=LedgerVerification)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedFor:
    """Somebody nobody has forgotten, with how many entries are about them, and the first of these.

    The workspace's own id stands for entries that are about nobody.
    """

    subject_id: UUID
    entries: int
    first_position: int


def with_missing_keys(
    verification: Found, sealed: Sequence[SealedFor], keys: KeyStore, workspace_id: UUID
) -> Found:
    """Return a verification that also names the keys that are gone; with one it is not ok."""
    absent = keys.absent(workspace_id, [for_.subject_id for for_ in sealed])
    missing = tuple(
        MissingKey(
            subject_id=for_.subject_id,
            entries=for_.entries,
            first_position=for_.first_position,
            destroyed=absent[for_.subject_id],
        )
        for for_ in sealed
        if for_.subject_id in absent
    )
    return replace(verification, ok=verification.ok and not missing, missing_keys=missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyWithKeys(Generic[Found]):
    """Verifies a workspace's chain by `verify`, and that every body's keys are there."""

    verify: Callable[[Principal], Found]
    transactions: Transactions[Stores]
    keys: KeyStore

    def __call__(self, principal: Principal, /) -> Found:
        """Return what was found of both."""
        verification = self.verify(principal)
        with self.transactions.reading(principal) as stores:
            sealed = stores.ledger.sealed_for()
        return with_missing_keys(verification, sealed, self.keys, principal.workspace_id)


EXAMPLES = 5
COUNTED = 1_000
"""Orphans of a kind that are counted; where there are more, the count says so by being this."""


class Orphan(StrEnum):
    """What lacks what."""

    NODE_WITHOUT_ENTRY = "node_without_entry"  # the ledger has no entry that made it
    EDGE_WITHOUT_END = "edge_without_end"  # it holds, and a node at an end of it is not there
    VECTOR_WITHOUT_NODE = "vector_without_node"
    ENTITY_WITHOUT_REFERENCE = "entity_without_reference"  # found in texts, and in none any more
    ENTRY_WITHOUT_ROW = "entry_without_row"  # it made a node that is there no more, and not purged


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """How many there are of one kind, at most COUNTED, and some of their ids."""

    count: int
    examples: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindOrphans:
    """Looks over the whole workspace, whatever scopes the admin's key has: ids, no texts."""

    transactions: Transactions[Stores]

    def __call__(self, principal: Principal, /) -> Mapping[str, Orphans]:
        """Return orphans by kind; Denied unless the principal is an admin."""
        principal.require(Role.ADMIN)
        record: dict[str, Orphans] = {}
        for kind in Orphan:
            with self.transactions.reading(system_principal(principal.workspace_id)) as stores:
                record[kind.value] = stores.stats.orphans(kind, limit=COUNTED, examples=EXAMPLES)
        return record
