"""A thread has one connection at a time, and nobody waits for a thread while holding one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.database import bound
from cairn.bootstrap.recall import recall
from cairn.recall.query import SearchRequest

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

CLIENTS = 8
SEARCHES = 24


@pytest.fixture(scope="module")
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, "narrow")
    world.tell(*(memory(f"The lamp of pier {number} is lit.") for number in range(20)))
    yield world
    world.pool.close()


@pytest.fixture
def narrow(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=1)
    yield pool
    pool.close()


def test_a_second_connection_of_the_same_thread_is_refused_at_once(
    world: World, narrow: Pool
) -> None:
    with (
        bound(narrow, world.admin),
        pytest.raises(RuntimeError, match="holds a connection already"),
        bound(narrow, world.admin),
    ):
        pass
    with bound(narrow, world.admin) as connection:  # it was given back
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("recipe", ["default", "seed-000", "seed-001"])
def test_many_searches_at_once_share_one_connection_and_one_thread(
    world: World, narrow: Pool, recipe: str
) -> None:
    search = recall(narrow, HashingEmbedder())

    def ask(number: int) -> tuple[str, ...]:
        asked = SearchRequest(query=f"Which lamp of pier {number} is lit?", recipe=recipe)
        return search(world.admin, asked).meta.degraded

    with ThreadPoolExecutor(CLIENTS) as clients:
        told = list(clients.map(ask, range(SEARCHES)))
    assert {item for each in told for item in each} <= {"vector: empty"}  # nothing is embedded here
