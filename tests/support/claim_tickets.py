"""Claim tickets of a workspace until none is left, and print their ids: a process of its own.

`python -m tests.support.claim_tickets URL WORKSPACE`
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.adapters.postgres.database import Database
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator


def claimed(pool: Database, workspace_id: UUID) -> Iterator[UUID]:
    """Yield the tickets this one got, in the order in which it got them."""
    transactions = StoreTransactions(pool)
    while True:
        try:
            with transactions.writing(system_principal(workspace_id)) as stores:
                found = stores.tickets.claim(new_id(), utc_now())
        except Unavailable:  # others hold the ledger's head; nothing was taken
            continue
        if found is None:
            return
        yield found.id


if __name__ == "__main__":
    pool = Database(sys.argv[1], size=1)
    for ticket_id in claimed(pool, UUID(sys.argv[2])):
        sys.stdout.write(f"{ticket_id}\n")
    pool.close()
