"""Keys that are gone though nobody was forgotten, so that entries cannot be read. Changes nothing.

Whoever was forgotten has an entry that says so, or a forgetting whose tombstone is written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from cairn.reading.views import LedgerVerification, MissingKey

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
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
    found: Found, sealed: Sequence[SealedFor], keys: KeyStore, workspace_id: UUID
) -> Found:
    """Return a verification that also names the keys that are gone; with one it is not ok."""
    absent = keys.absent(workspace_id, [one.subject_id for one in sealed])
    missing = tuple(
        MissingKey(
            subject_id=one.subject_id,
            entries=one.entries,
            first_position=one.first_position,
            destroyed=absent[one.subject_id],
        )
        for one in sealed
        if one.subject_id in absent
    )
    return replace(found, ok=found.ok and not missing, missing_keys=missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyWithKeys(Generic[Found]):
    """Verifies a workspace's chain by `verify`, and that every body's keys are there."""

    verify: Callable[[Principal], Found]
    transactions: Transactions[Stores]
    keys: KeyStore

    def __call__(self, principal: Principal, /) -> Found:
        """Return what was found of both."""
        found = self.verify(principal)
        with self.transactions.reading(principal) as stores:
            sealed = stores.ledger.sealed_for()
        return with_missing_keys(found, sealed, self.keys, principal.workspace_id)
