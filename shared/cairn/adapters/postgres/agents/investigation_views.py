"""What investigations are read from in PostgreSQL: their stores, the ledger by position, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store
from cairn.adapters.postgres.stores import entries_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cairn.ledger.entry import Entry


class PostgresEntries(Store):
    """The ledger of the transaction's workspace, by position."""

    def at(self, positions: Collection[int]) -> Sequence[Entry]:
        """Return the entries at these positions, in order; positions that are none are left out."""
        if not positions:
            return []
        made = entries_of(self.principal.workspace_id)
        return self.all_of(made, "ledger.at", positions=sorted(positions))
