"""What aged, came back or was purged is so again after a rebuild: entries say all of it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.support.everything import Everything, open_everything

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import Cleanup
from cairn.ageing.rules import Lifetimes, ageing_entry
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.writing.append import append_and_project

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

AT_ONCE = timedelta(microseconds=1)


@pytest.fixture
def full(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.fill()
    yield everything
    everything.pool.close()


def test_a_rebuild_lets_the_same_age_come_back_and_go(full: Everything) -> None:
    transactions = StoreTransactions(full.pool)
    cleanup = Cleanup(
        transactions=transactions,
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
        lifetimes=Lifetimes(event=AT_ONCE, fact=AT_ONCE, knowledge=AT_ONCE, deleted=AT_ONCE),
    )
    done = cleanup(full.workspace_id, seconds=60)
    assert done["archived"] > 0
    assert done["purged"] > 0
    idle = [
        one
        for (one,) in full.rows(
            """SELECT id FROM node
                WHERE workspace_id = $w AND state = 'archived' AND label = 'Memory'"""
        )
    ]
    with transactions.writing(full.admin) as stores:
        back = stores.ageing.archived(idle[:1])
        now = utc_now()
        entry = ageing_entry(new_id(), full.workspace_id, "node.restored", "used", back, now)
        append_and_project(stores, [entry], now)

    rebuilt = full.rebuild(full.workspace_id)

    different = [name for name in rebuilt.before if rebuilt.before[name] != rebuilt.after[name]]
    assert different == []
    assert rebuilt.equal
