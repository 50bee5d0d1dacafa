"""What the API needs to have a workspace embedded anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.api.services import ReindexServices
from cairn.clock import monotonic, utc_now
from cairn.ids import new_id
from cairn.lifecycle.reindex import CountMissingVectors, Reindex
from cairn.storage.postgres.reindex import PostgresReindexStores
from cairn.storage.postgres.store_transactions import StoreTransactions

if TYPE_CHECKING:
    from cairn.embedding.port import EmbeddingModel
    from cairn.ingestion.ports import Dispatcher
    from cairn.storage.postgres.database import Database


def reindex_services(
    opened: Database, dispatcher: Dispatcher, model: EmbeddingModel
) -> ReindexServices:
    """Build them for the present model; its files are not read."""
    transactions = StoreTransactions(opened, PostgresReindexStores)
    return ReindexServices(
        count=CountMissingVectors(transactions=transactions, model=model),
        queue=Reindex(
            transactions=transactions,
            dispatcher=dispatcher,
            model=model,
            clock=utc_now,
            stopwatch=monotonic,
            new_id=new_id,
        ),
    )
