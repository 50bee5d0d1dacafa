"""Showing and changing a workspace's settings: each change is a ledger entry. Not the settings.

The entry says in clear what was set, before and since: numbers, switches and names of models, which
are about nobody. A rebuild needs no key for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict
from cairn.safety.profiles import check_profile, workspace_redaction
from cairn.workspace.documents import as_text, checked, differences, merged, shown, usable
from cairn.workspace.rows import CHANGED, changed
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.kernel.access import Principal
    from cairn.workspace.documents import Document, StoredSettings
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True)
class RedactionProfile:
    """Shows and changes the profile of a workspace: an admin's work."""

    platform: Platform

    def show(self, principal: Principal) -> str:
        """Return the profile that holds now."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return workspace_redaction(stores.settings.stored().document)[0]

    def choose(self, principal: Principal, profile: str) -> str:
        """Set the profile and return it; the same one again changes nothing.

        What waits for a person is void from then on: it was asked under other rules. Raises
        ValidationFailed, naming `profile`, for one that there is not.
        """
        principal.require(Role.ADMIN)
        check_profile(profile, field="profile")
        patch = {"safety": {"redaction": profile}}
        with open_write(self.platform, principal) as write:
            if workspace_redaction(write.stores.settings.stored().document)[0] != profile:
                change_settings(write, patch)
        return profile


REDACTION_CHANGED = "redaction.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsView:
    """All settings as they hold. `sources` says by path where each value is from.

    `workspace` is what was set; `ignored` names what of it nobody can use any more.
    """

    version: int
    settings: Mapping[str, Any]
    sources: Mapping[str, str]
    workspace: Mapping[str, Any]
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepSettings:
    """Shows and changes the settings of a workspace: an admin's work.

    `deployment` is what the environment says where a workspace says nothing.
    """

    platform: Platform
    deployment: Document

    def show(self, principal: Principal) -> SettingsView:
        """Return what holds now."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            stored = stores.settings.stored()
        return self._view(stored)

    def change(
        self, principal: Principal, patch: Document, *, expected: int | None = None
    ) -> SettingsView:
        """Lay a JSON merge patch over what is set; null resets. What changes nothing is no change.

        Raises ValidationFailed naming each value that is wrong, Conflict when the version is not
        the `expected` one any more.
        """
        principal.require(Role.ADMIN)
        with open_write(self.platform, principal) as write:
            stored = write.stores.settings.stored()
            if expected is not None and expected != stored.version:
                raise Conflict(
                    f"The settings are of version {stored.version} by now.",
                    reason="settings-version",
                    version=stored.version,
                )
            stored = change_settings(write, patch)
        return self._view(stored)

    def _view(self, stored: StoredSettings) -> SettingsView:
        values, sources = shown(stored.document, self.deployment)
        document, ignored = usable(stored.document)
        return SettingsView(
            version=stored.version,
            settings=values,
            sources=sources,
            workspace=document,
            ignored=ignored,
        )


def change_settings(write: Write, patch: Document) -> StoredSettings:
    """Patch what is set in a writing transaction, with the entries that say so.

    What is stored and nobody can use goes with the first change.
    """
    stored = write.stores.settings.stored()
    before, _ = usable(stored.document)
    document = merged(before, patch)
    checked(document, patch)
    changes = differences(before, document)
    if not changes:
        return stored
    meta = {"version": stored.version + 1, "changes": changes, "document": as_text(document)}
    write.note(CHANGED, meta)
    profiles = workspace_redaction(stored.document)[0], workspace_redaction(document)[0]
    if profiles[0] != profiles[1]:
        write.note(REDACTION_CHANGED, {"before": profiles[0], "profile": profiles[1]})
    entry = write.append()[0]
    write.stores.settings.put(changed(entry))
    return changed(entry)
