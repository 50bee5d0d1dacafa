"""What the API needs of events: observing and reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.services import EventServices
from cairn.events.observe import Observe
from cairn.events.read import BrowseEvents

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.memories.remember import Remember


def event_services(
    opened: Database, transactions: StoreTransactions, remember: Remember
) -> EventServices:
    """Build them beside `remember`, whose keys, queue, clock and ids they share."""
    browse = BrowseEvents(transactions=StoreTransactions(opened))
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
