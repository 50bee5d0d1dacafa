"""What a run leaves in the rows: the same in memory and in PostgreSQL."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import pytest
from tests.support.consolidating import Consolidating
from tests.support.embedding import HASHING
from tests.support.remembering import Remembering, admin_of, fact, in_memory

from cairn.clock import utc_now
from cairn.consolidation.applied import contradiction_id, merged_id
from cairn.ids import new_id
from cairn.storage.postgres.accounts import create_workspace
from cairn.storage.postgres.consolidation import PostgresConsolidationStores
from cairn.storage.postgres.database import Database as Pool
from cairn.storage.postgres.store_transactions import StoreTransactions

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(params=["in memory", "postgres"])
def world(request: pytest.FixtureRequest) -> Iterator[Consolidating]:
    if request.param == "in memory":
        yield Consolidating(in_memory())
        return
    database: Database = request.getfixturevalue("database")
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    workspace_id, _ = create_workspace(
        database.owner_url, f"rows-{new_id()}", clock=utc_now, new_id=new_id
    )
    pool = Pool(database.app_url, size=2)
    transactions = StoreTransactions(pool, PostgresConsolidationStores)
    yield Consolidating(Remembering(transactions=transactions, principal=admin_of(workspace_id)))
    pool.close()


def standing(world: Consolidating, *ids: UUID) -> dict[UUID, Any]:
    with world.system.transactions.reading(world.system.principal) as stores:
        return dict(stores.unconsolidated.standing(ids))


def test_a_keyed_source_hands_its_key_and_identity_to_the_merge(world: Consolidating) -> None:
    keyed, plain = world.tell(
        fact("The ferry pier is at the north end of the bay.", key="pier"),
        fact("the ferry pier is at the north end of the bay"),
    )
    world.run()
    found = world.rows()
    new = found[merged_id([keyed, plain])]
    assert (new.key, new.known, new.source_agent) == ("pier", True, "consolidation-engine")
    with world.system.transactions.reading(world.system.principal) as stores:
        still = {one.id for one in stores.unconsolidated.find([keyed, plain])}
    assert not still
    (again,) = world.tell(fact("The ferry pier moved to the south end.", key="pier"))
    assert new.id not in world.rows()
    assert again in world.rows()


def test_a_contradiction_is_flagged_once_and_both_memories_stay(world: Consolidating) -> None:
    one, other = world.tell(
        fact("The ferry to the island takes 40 minutes."),
        fact("The ferry to the island takes 55 minutes."),
    )
    world.run()
    assert {one, other, contradiction_id(one, other)} <= world.rows().keys()
    world.run()
    applied = [one.meta for one in world.entries() if one.type == "consolidation.applied"]
    assert sum(len(cast("list[object]", meta["flagged"])) for meta in applied) == 1
    assert set(standing(world, one, other)) == {one, other}
