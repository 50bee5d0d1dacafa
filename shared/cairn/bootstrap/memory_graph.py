"""The memory graph over the ledger, beside the use cases that write memories and that forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.ingestion.writing import Writer
from cairn.lifecycle.ledger_graph import LedgerGraph
from cairn.storage.postgres.memory_graph import PostgresMemoryGraphStores
from cairn.storage.postgres.store_transactions import StoreTransactions

if TYPE_CHECKING:
    from cairn.ingestion.remember import Remember
    from cairn.lifecycle.forget import Forget
    from cairn.lifecycle.memory_graph_ports import MemoryGraphStores
    from cairn.storage.postgres.database import Database


def memory_graph(opened: Database, remember: Remember, forget: Forget) -> LedgerGraph:
    """Return it; nothing connects yet."""
    writer: Writer[MemoryGraphStores] = Writer(
        transactions=StoreTransactions(opened, PostgresMemoryGraphStores),
        resolver=remember.resolver,
        cipher=remember.cipher,
        dispatcher=remember.dispatcher,
        clock=remember.clock,
        new_id=remember.new_id,
    )
    return LedgerGraph(writer=writer, forget=forget)
