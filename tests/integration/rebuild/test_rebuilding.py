"""A workspace with one of everything, made anew from its ledger: the same, row for row."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.everything import Everything, open_everything

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(scope="module")
def full(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.fill()
    yield everything
    everything.pool.close()


def test_every_table_is_as_the_ledger_says(full: Everything) -> None:
    done = full.rebuild(full.workspace_id)
    unequal = [name for name in done.before if done.before[name] != done.after[name]]
    assert unequal == []
    assert done.equal
    assert done.replaced.rows == 0
    assert all(one.rows for name, one in done.after.items() if name != "purged_node")
