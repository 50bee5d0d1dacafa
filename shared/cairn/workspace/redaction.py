"""Choosing a workspace's redaction profile, one of its settings. Not what a profile takes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.access import Role
from cairn.safety.profiles import check_profile, workspace_redaction
from cairn.workspace.change import change_settings

if TYPE_CHECKING:
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionProfile:
    """Shows and changes the profile of a workspace: an admin's work."""

    transactions: Transactions[Stores]
    clock: Clock
    new_id: IdSource

    def show(self, principal: Principal) -> str:
        """Return the profile that holds now."""
        principal.require(Role.ADMIN)
        with self.transactions.reading(principal) as stores:
            return workspace_redaction(stores.settings.stored().document)[0]

    def choose(self, principal: Principal, profile: str) -> str:
        """Set the profile and return it; the same one again changes nothing.

        What waits for a person is void from then on: it was asked under other rules. Raises
        ValidationFailed, naming `profile`, for one that there is not.
        """
        principal.require(Role.ADMIN)
        check_profile(profile, field="profile")
        patch = {"safety": {"redaction": profile}}
        with self.transactions.writing(principal) as stores:
            if workspace_redaction(stores.settings.stored().document)[0] != profile:
                change_settings(stores, principal, patch, clock=self.clock, new_id=self.new_id)
        return profile
