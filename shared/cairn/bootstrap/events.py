"""What the API needs of events: observing and reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.api.services import EventServices
from cairn.ingestion.observe import Observe
from cairn.retrieval.events import BrowseEvents
from cairn.storage.postgres.events import PostgresEventViews
from cairn.storage.postgres.store_transactions import StoreTransactions

if TYPE_CHECKING:
    from cairn.ingestion.remember import Remember
    from cairn.storage.postgres.database import Database
    from cairn.storage.postgres.stores import PostgresStores


def event_services(
    opened: Database, transactions: StoreTransactions[PostgresStores], remember: Remember
) -> EventServices:
    """Build them beside `remember`, whose keys, queue, clock and ids they share."""
    browse = BrowseEvents(transactions=StoreTransactions(opened, PostgresEventViews))
    return EventServices(
        observe=Observe(
            transactions=transactions,
            resolver=remember.resolver,
            cipher=remember.cipher,
            dispatcher=remember.dispatcher,
            clock=remember.clock,
            new_id=remember.new_id,
        ),
        page=browse.page,
        get=browse.get,
    )
