"""What the API needs to have a workspace embedded anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.access import Role
from cairn.api.services import ReindexServices
from cairn.clock import monotonic, utc_now
from cairn.embedding.models import is_known
from cairn.ids import new_id
from cairn.lifecycle.reindex import CountMissingVectors, Reindex
from cairn.storage.postgres.embedding_models import CheckRegistered
from cairn.storage.postgres.reindex import PostgresReindexStores
from cairn.storage.postgres.store_transactions import StoreTransactions

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.access import Principal
    from cairn.embedding.port import EmbeddingModel
    from cairn.ingestion.ports import Dispatcher
    from cairn.lifecycle.reindex import MissingVectors, Reindexed
    from cairn.storage.postgres.database import Database


def reindex_services(
    opened: Database, dispatcher: Dispatcher, model: EmbeddingModel
) -> ReindexServices:
    """Build them for the present model; its files are not read."""
    transactions = StoreTransactions(opened, PostgresReindexStores)
    count = CountMissingVectors(transactions=transactions, model=model)
    queue = Reindex(
        transactions=transactions,
        dispatcher=dispatcher,
        model=model,
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
    )
    if is_known(model):
        return ReindexServices(count=count, queue=queue)
    check = CheckRegistered(opened)

    def counted(principal: Principal, /) -> MissingVectors:
        principal.require(Role.ADMIN)
        check(model)
        return count(principal)

    def queued(principal: Principal, *, after: UUID | None = None) -> Reindexed:
        principal.require(Role.ADMIN)
        check(model)
        return queue(principal, after=after)

    return ReindexServices(count=counted, queue=queued)
