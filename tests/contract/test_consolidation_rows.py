"""What a run leaves in the rows."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import pytest
from tests.support.consolidating import Consolidating, consolidating_in_postgres
from tests.support.remembering import fact

from cairn.consolidation.applied import contradiction_id, merged_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def world(database: "Database") -> Iterator[Consolidating]:
    yield from consolidating_in_postgres(database)


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
        still = {item.id for item in stores.unconsolidated.find([keyed, plain])}
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
    applied = [entry.meta for entry in world.entries() if entry.type == "consolidation.applied"]
    assert sum(len(cast("list[object]", meta["flagged"])) for meta in applied) == 1
    assert set(standing(world, one, other)) == {one, other}
