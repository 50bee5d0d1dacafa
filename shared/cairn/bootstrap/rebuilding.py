"""What rebuilding needs: for the machine's steps and for the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.rebuild.rebuild import Rebuild
from cairn.rebuild.runs import StepRebuild

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.ledger.keys import KeyStore
    from cairn.writing.ports import Dispatcher


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
        transactions=StoreTransactions(opened),
        rebuild=rebuild(opened, keys, dispatcher),
        clock=utc_now,
    )
