"""A purged node leaves a real index, and the search that proves it finds it before."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.search_index import Followed, followed
from tests.support.world import World, memory, open_world

from cairn.adapters.opensearch.proving import OpenSearchEraser, OpenSearchSearcher
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.forgetting.prove import OPENSEARCH, Looked, Needles
from cairn.graph.projection import Projection, Purge
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.opensearch import OpenSearch
    from tests.plugins.postgres import Database


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"prove-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def here(world: World, opensearch: "OpenSearch") -> Followed:
    return followed(world, opensearch.connection)


def test_a_purged_node_is_found_before_and_not_after(
    here: Followed, opensearch: "OpenSearch"
) -> None:
    world = here.world
    lost = world.tell(memory("the zanzibar quokka sleeps"), memory("others")).outcomes[0].id
    assert lost is not None
    here.catch_up()
    search = OpenSearchSearcher(opensearch.connection)
    by_text, by_id = Needles(texts=("Zanzibar quokka",)), Needles(texts=(), ids=(lost,))

    def looked(needles: Needles) -> Looked:
        (one,) = search(world.workspace_id, needles)
        return one

    assert (looked(by_text).store, looked(by_text).place) == OPENSEARCH
    assert [(looked(item).items, looked(item).found) for item in (by_text, by_id)] == [(2, 1)] * 2
    with StoreTransactions(world.pool).writing(world.admin) as stores:
        position = stores.ledger.head().position + 1
        purge = Purge(workspace_id=world.workspace_id, node_ids=(lost,), position=position)
        stores.nodes.apply([Projection(purges=(purge,))])
    here.catch_up()
    assert [(looked(item).items, looked(item).found) for item in (by_text, by_id)] == [(1, 0)] * 2


def test_a_deleted_workspace_leaves_the_index_and_its_neighbour_stays(
    here: Followed, opensearch: "OpenSearch", database: "Database"
) -> None:
    erase = OpenSearchEraser(opensearch.connection)
    assert (erase.erase(here.world.workspace_id), erase.look(here.world.workspace_id).found) == (
        0,
        0,
    )
    other = open_world(database.owner_url, database.app_url, f"neighbour-{new_id()}")
    worlds = [here, followed(other, opensearch.connection)]
    for each in worlds:
        each.world.tell(memory("the zanzibar quokka sleeps"), memory("others"))
        each.catch_up()
    ours, theirs = (each.world.workspace_id for each in worlds)
    assert [erase.look(each).found for each in (ours, theirs)] == [2, 2]
    assert erase.erase(ours) == 2
    assert [erase.look(each).found for each in (ours, theirs)] == [0, 2]
    assert erase.erase(ours) == 0
    assert here.found("quokka") == []
    assert len(worlds[1].found("quokka")) == 1
    other.pool.close()
