"""Whole ledgers, read and imported by the database's owner."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from psycopg.rows import scalar_row

from cairn.accounts.keys import record
from cairn.adapters.postgres.accounts import as_owner
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store_transactions import PostgresStores
from cairn.adapters.postgres.stores import PostgresLedger
from cairn.forgetting.workspaces import DELETED
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.chain import EMPTY_CHAIN_TIME, genesis
from cairn.ledger.export import EXPORTED, export_lines
from cairn.reading.browse import entries_of, verify_chain
from cairn.rebuild.missing_keys import with_missing_keys
from cairn.writing.append import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Connection
    from cairn.ledger.entry import Entry
    from cairn.ledger.importing import Export
    from cairn.ledger.keys import KeyStore
    from cairn.reading.views import LedgerVerification


def verify_ledgers(
    owner_url: str, workspace_id: UUID | None = None, keys: KeyStore | None = None
) -> Iterator[LedgerVerification]:
    """Verify one workspace's chain or all of them, one result each; NotFound for an unknown one.

    With `keys` also that every body's keys are there; of a deleted workspace none are.
    """
    with _snapshot(owner_url, workspace_id) as ledgers:
        for id_, ledger in ledgers:
            verification = verify_chain(ledger, id_)
            if keys is None or _is_deleted(ledger, verification.head_position):
                yield verification
            else:
                yield with_missing_keys(verification, ledger.sealed_for(), keys, id_)


def _is_deleted(ledger: PostgresLedger, head: int) -> bool:
    """Return whether a chain ends with its workspace's deletion, which destroyed its keys."""
    return any(entry.type == DELETED for entry in ledger.page(after=head - 1, limit=1))


def export_ledger(owner_url: str, workspace_id: UUID) -> Iterator[str]:
    """Yield the lines of an export that the offline verifier reads; NotFound when unknown.

    That it was made is an entry, the last one in it.
    """
    _note_export(owner_url, workspace_id)
    with _snapshot(owner_url, workspace_id) as ledgers:
        for _, ledger in ledgers:
            yield from export_lines(ledger.head(), entries_of(ledger))


def _note_export(owner_url: str, workspace_id: UUID) -> None:
    with as_owner(owner_url) as connection:
        parameters = {"workspace_id": workspace_id}
        if connection.execute(query("ledger.lock_head"), parameters).fetchone() is None:
            raise NotFound("There is no such workspace.", workspace_id=str(workspace_id))
        record(
            PostgresStores(connection, system_principal(workspace_id)),
            workspace_id=workspace_id,
            type_=EXPORTED,
            meta={"of": "ledger"},
            actor=SYSTEM,
            now=utc_now(),
            new_id=new_id,
        )


@contextmanager
def _snapshot(
    owner_url: str, workspace_id: UUID | None
) -> Generator[list[tuple[UUID, PostgresLedger]]]:
    """Open the ledgers as they stand at one moment."""
    with as_owner(owner_url, snapshot=True) as connection:
        ids = connection.cursor(row_factory=scalar_row).execute(query("ledger.workspaces"))
        selected: list[UUID] = [id_ for id_ in ids if workspace_id in (None, id_)]
        if workspace_id is not None and not selected:
            raise NotFound("There is no such workspace.", workspace_id=str(workspace_id))
        yield [(id_, PostgresLedger(connection, system_principal(id_))) for id_ in selected]


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
        parameters = {"workspace_id": workspace_id, "name": name, "now": now}
        empty = {"genesis": genesis(workspace_id), "beginning": EMPTY_CHAIN_TIME}
        connection.execute(query("account.add_workspace"), parameters)
        connection.execute(query("account.add_head"), parameters | empty)
    elif head[0] > 0:
        raise Conflict(
            "This workspace's ledger has begun; an import goes into an empty one.",
            reason="workspace-not-empty",
            workspace_id=str(workspace_id),
        )
