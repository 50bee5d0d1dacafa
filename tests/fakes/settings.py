"""The settings of a workspace in memory. For tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fakes.stores import Tables

    from cairn.workspace.documents import StoredSettings


@dataclass(frozen=True)
class InMemorySettings:
    """Implements `lifecycle.workspace_settings.SettingsStore`."""

    tables: Tables

    def stored(self) -> StoredSettings:
        """Return what is set."""
        return self.tables.settings

    def put(self, settings: StoredSettings) -> None:
        """Keep a document; a change older than what is kept does nothing."""
        if settings.position > self.tables.settings.position:
            self.tables.settings = settings
