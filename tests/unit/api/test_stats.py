"""`/v1/stats`: who may, and what the numbers are called."""

from uuid import UUID

import pytest
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World
from tests.unit.api.numbers_fakes import NumbersWorld

from cairn.rebuild.missing_keys import Orphan


def test_each_rate_says_of_how_many_and_whether_these_were_all() -> None:
    shown = Client(World()).get("/v1/stats").json()
    assert shown["decayed_below_50pct"] == 3
    assert shown["decayed"] == {"count": 3, "of": 100, "share": 0.03, "exact": False}
    assert shown["duplicates"] == {"count": 2, "of": 8, "share": 0.25, "exact": True}
    assert shown["states"] == {"active": 9, "archived": 3}
    assert shown["chain_head"]["position"] == 40


def test_orphans_are_told_by_kind_and_id() -> None:
    world = World(numbers=NumbersWorld(orphaned={Orphan.EDGE_WITHOUT_END: (UUID(int=7),)}))
    shown = Client(world).get("/v1/stats/orphans").json()
    assert shown["edge_without_end"] == {"count": 1, "examples": [str(UUID(int=7))]}
    assert shown["node_without_entry"] == {"count": 0, "examples": []}


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
@pytest.mark.parametrize("path", ["/v1/stats", "/v1/stats/orphans"])
def test_keys_of_agents_and_public_keys_are_refused(key: str, path: str) -> None:
    refused = Client(World(), key=key).get(path)
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")
