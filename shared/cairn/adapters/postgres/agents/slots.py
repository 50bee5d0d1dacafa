"""How many investigations run at once, in PostgreSQL: a row a slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class PostgresSlots(Store):
    """How many investigations run at once in a workspace: numbered slots."""

    def take(self, investigation_id: UUID, most: int, now: datetime) -> bool:
        """Take a free slot of `most`, skipping what others hold; True too when it has one."""
        self.run("slot.make", most=most)
        taken = self.run("slot.take", id=investigation_id, most=most, now=now)
        return taken.fetchone() is not None

    def free(self, investigation_id: UUID) -> None:
        """Give the slot back; nothing when it has none."""
        self.run("slot.free", id=investigation_id)

    def taken(self) -> int:
        """Return how many are held."""
        return self.value("slot.taken")
