"""What aged, came back or was purged is so again after a rebuild: entries say all of it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.support.everything import Everything, open_everything
from tests.support.platform import platform_of

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import Cleanup
from cairn.ageing.rules import Lifetimes, ageing_meta
from cairn.kernel.clock import monotonic
from cairn.writing.writer import open_write

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
        platform_of(transactions, stopwatch=monotonic),
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
    with open_write(platform_of(transactions), full.admin) as write:
        back = write.stores.ageing.archived(idle[:1])
        write.note("node.restored", ageing_meta("used", back))

    rebuilt = full.rebuild(full.workspace_id)

    different = [name for name in rebuilt.before if rebuilt.before[name] != rebuilt.after[name]]
    assert different == []
    assert rebuilt.equal
