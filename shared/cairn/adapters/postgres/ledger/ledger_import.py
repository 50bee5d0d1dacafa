"""Put an exported ledger into an empty workspace, as the owner, entries exactly as they were.

Entries only: projections are made of them by `lifecycle.rebuild`, and keys are where they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.accounts import as_owner
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.stores import PostgresLedger
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict
from cairn.ledger.chain import EMPTY_CHAIN_TIME, genesis

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.adapters.postgres.database import Connection
    from cairn.ledger.entry import Entry
    from cairn.ledger.importing import Export

BATCH = 500
"""Entries sent together, so that memory stays flat however long the ledger is."""


def import_ledger(owner_url: str, export: Export, *, name: str, now: datetime) -> int:
    """Write every entry in one transaction and return how many; a missing workspace is made.

    Raises ImportRefused at the export's first bad line and Conflict (`workspace-not-empty`) for a
    workspace whose ledger has begun; nothing is left then.
    """
    with as_owner(owner_url) as connection:
        _open_empty(connection, export, name, now)
        ledger = PostgresLedger(connection, system_principal(export.workspace_id))
        written = 0
        batch: list[Entry] = []
        for entry in export.entries():
            batch.append(entry)
            if len(batch) == BATCH:
                ledger.append(batch)
                written += len(batch)
                batch = []
        ledger.append(batch)
        return written + len(batch)


def _open_empty(connection: Connection, export: Export, name: str, now: datetime) -> None:
    workspace_id = export.workspace_id
    head = connection.execute(query("ledger.lock_head"), {"workspace_id": workspace_id}).fetchone()
    if head is None:
        given = {"workspace_id": workspace_id, "name": name, "now": now}
        empty = {"genesis": genesis(workspace_id), "beginning": EMPTY_CHAIN_TIME}
        connection.execute(query("account.add_workspace"), given)
        connection.execute(query("account.add_head"), given | empty)
    elif head[0] > 0:
        raise Conflict(
            "This workspace's ledger has begun; an import goes into an empty one.",
            reason="workspace-not-empty",
            workspace_id=str(workspace_id),
        )
