"""The memory graph over the ledger, beside the use cases that write memories and that forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.memory_graph.ledger_graph import LedgerGraph
from cairn.writing.writer import Writer

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.forgetting.forget import Forget
    from cairn.kernel.stores import Stores
    from cairn.memories.remember import Remember


def memory_graph(opened: Database, remember: Remember, forget: Forget) -> LedgerGraph:
    """Return it; nothing connects yet."""
    writer: Writer[Stores] = Writer(
        transactions=StoreTransactions(opened),
        resolver=remember.resolver,
        cipher=remember.cipher,
        dispatcher=remember.dispatcher,
        clock=remember.clock,
        new_id=remember.new_id,
    )
    return LedgerGraph(writer=writer, forget=forget)
