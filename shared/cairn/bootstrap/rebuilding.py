"""What rebuilding needs: for the machine's steps, for the API's requests, and for the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.api.rebuild_services import RebuildServices
from cairn.clock import monotonic, utc_now
from cairn.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.lifecycle.rebuild import Rebuild
from cairn.lifecycle.rebuild_runs import ShowRebuild, StartRebuild, StepRebuild
from cairn.storage.postgres.rebuild_runs import PostgresRebuildStores
from cairn.storage.postgres.replay import PostgresReplays
from cairn.storage.postgres.store_transactions import StoreTransactions

if TYPE_CHECKING:
    from cairn.ingestion.ports import Dispatcher
    from cairn.ledger.keys import KeyStore
    from cairn.storage.postgres.database import Database


def rebuild(opened: Database, keys: KeyStore, dispatcher: Dispatcher) -> Rebuild:
    """Return what replays a ledger."""
    return Rebuild(
        replays=PostgresReplays(opened),
        keys=keys,
        cipher=BodyCipher(),
        dispatcher=dispatcher,
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
    )


def step_rebuild(opened: Database, keys: KeyStore, dispatcher: Dispatcher) -> StepRebuild:
    """Return the states of the machine."""
    return StepRebuild(
        transactions=StoreTransactions(opened, PostgresRebuildStores),
        rebuild=rebuild(opened, keys, dispatcher),
        clock=utc_now,
    )


def rebuild_services(opened: Database, dispatcher: Dispatcher) -> RebuildServices:
    """Return what the routes call."""
    transactions = StoreTransactions(opened, PostgresRebuildStores)
    return RebuildServices(
        start=StartRebuild(
            transactions=transactions, dispatcher=dispatcher, clock=utc_now, new_id=new_id
        ),
        show=ShowRebuild(transactions=transactions),
    )
