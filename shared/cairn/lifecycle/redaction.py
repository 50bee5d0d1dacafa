"""Choosing a workspace's redaction profile: each change is a ledger entry. Not what it takes out.

The entry says which profile there was and which one there is, in clear: neither is about anybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.access import Role
from cairn.ingestion.appending import append_and_project, principal_actor
from cairn.ingestion.entries import Planned
from cairn.ingestion.ports import WriteStores
from cairn.ledger.entry import NewEntry
from cairn.safety.profiles import check_profile

if TYPE_CHECKING:
    from cairn.access import Principal
    from cairn.clock import Clock
    from cairn.ids import IdSource
    from cairn.transaction import Transactions

CHANGED = "redaction.changed"


class RedactionStore(Protocol):
    """The profile in the settings of the transaction's workspace."""

    def profile(self) -> str:
        """Return its name; the strictest where the settings name none that there is."""
        ...

    def choose(self, profile: str) -> None:
        """Set it; other settings stay as they are."""
        ...


class RedactionStores(WriteStores, Protocol):
    """What choosing needs of a transaction."""

    @property
    def redaction(self) -> RedactionStore: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionProfile:
    """Shows and changes the profile of a workspace: an admin's work."""

    transactions: Transactions[RedactionStores]
    clock: Clock
    new_id: IdSource

    def show(self, principal: Principal) -> str:
        """Return the profile that holds now."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            return stores.redaction.profile()

    def choose(self, principal: Principal, profile: str) -> str:
        """Set the profile and return it; the same one again changes nothing.

        What waits for a person is void from then on: it was asked under other rules. Raises
        ValidationFailed, naming `profile`, for one that there is not.
        """
        principal.require(Role.ADMIN)
        check_profile(profile, field="profile")
        with self.transactions.writing(principal) as stores:
            before, now = stores.redaction.profile(), self.clock()
            if before == profile:
                return profile
            stores.redaction.choose(profile)
            entry = NewEntry(
                id=self.new_id(),
                workspace_id=principal.workspace_id,
                type=CHANGED,
                actor=principal_actor(principal),
                occurred_at=now,
                meta={"before": before, "profile": profile},
            )
            append_and_project(stores, [Planned(entry=entry, body={})], now)
        return profile
