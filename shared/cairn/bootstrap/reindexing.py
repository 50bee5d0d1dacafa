"""What the API needs to have a workspace embedded anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.embedding_models import CheckRegistered
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.services import ReindexServices
from cairn.embedding.models import is_known
from cairn.kernel.access import Role
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.reembedding.reindex import CountMissingVectors, Reindex

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.embedding.port import EmbeddingModel
    from cairn.kernel.access import Principal
    from cairn.reembedding.reindex import MissingVectors, Reindexed
    from cairn.writing.ports import Dispatcher


def reindex_services(
    opened: Database, dispatcher: Dispatcher, model: EmbeddingModel
) -> ReindexServices:
    """Build them for the present model; its files are not read."""
    transactions = StoreTransactions(opened)
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
