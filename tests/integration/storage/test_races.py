"""Writers at the same time: one chain end, one observer list, one ledger."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.ids import new_id
from cairn.reading.browse import Browse
from cairn.reading.views import MemoryFilter
from cairn.writing.items import Outcome

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

WRITERS = 3


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"races-{new_id()}")
    yield world
    world.pool.close()


def test_writers_superseding_one_key_at_once_leave_exactly_one_active(world: World) -> None:
    start = Barrier(WRITERS)

    def write(number: int) -> list[Outcome]:
        start.wait()
        told = [world.tell(memory(f"{number}-{turn}", key="k")) for turn in range(5)]
        return [item.outcomes[0].outcome for item in told]

    with ThreadPoolExecutor(WRITERS) as pool:
        outcomes = [item for found in pool.map(write, range(WRITERS)) for item in found]
    browse = Browse(transactions=StoreTransactions(world.pool))
    page = browse.list_memories(world.admin, MemoryFilter(key="k"), limit=50, after=None)
    assert sorted(item.state for item in page.items) == ["active"] + ["superseded"] * 14
    assert outcomes.count(Outcome.CREATED) == 1
    assert browse.verify_ledger(world.admin).ok


def test_agents_saying_the_same_at_once_are_one_memory_with_all_of_them(world: World) -> None:
    start = Barrier(WRITERS)

    def write(number: int) -> Outcome:
        start.wait()
        return world.tell(memory("same", source_agent=f"agent-{number}")).outcomes[0].outcome

    with ThreadPoolExecutor(WRITERS) as pool:
        outcomes = sorted(pool.map(write, range(WRITERS)))
    browse = Browse(transactions=StoreTransactions(world.pool))
    (found,) = browse.list_memories(world.admin, MemoryFilter(), limit=9, after=None).items
    assert outcomes == [Outcome.CORROBORATED, Outcome.CORROBORATED, Outcome.CREATED]
    assert set(found.observed_by) == {f"agent-{number}" for number in range(WRITERS)}
