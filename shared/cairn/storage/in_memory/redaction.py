"""The redaction profile of a workspace in memory. For tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cairn.storage.in_memory.stores import Tables


@dataclass(frozen=True)
class InMemoryRedaction:
    """Implements `lifecycle.redaction.RedactionStore`."""

    tables: Tables

    def profile(self) -> str:
        """Return the profile's name."""
        return self.tables.redaction

    def choose(self, profile: str) -> None:
        """Set it."""
        self.tables.redaction = profile
