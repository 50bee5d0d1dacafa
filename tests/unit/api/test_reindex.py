"""`/v1/reindex`: who may, and how a client goes through a workspace part by part."""

from uuid import UUID

import pytest
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World
from tests.unit.api.vector_fakes import MODEL, VectorWorld


def test_each_answer_says_where_to_go_on() -> None:
    world = World(vectors=VectorWorld(parts=[5_000, 17]))
    client = Client(world)
    first = client.post("/v1/reindex", content=b"")
    assert first.status_code == 202
    assert first.json() == {
        "model": MODEL,
        "missing": 5_000,
        "queued": 5_000,
        "more": True,
        "after": str(UUID(int=1)),
    }
    last = client.post(f"/v1/reindex?after={first.json()['after']}", content=b"").json()
    assert (last["queued"], last["more"], last["after"]) == (17, False, None)
    assert world.vectors.asked == [None, UUID(int=1)]


def test_counting_queues_nothing() -> None:
    world = World(vectors=VectorWorld(parts=[7], waiting=2))
    shown = Client(world).get("/v1/reindex")
    assert shown.status_code == 200
    assert shown.json() == {"model": MODEL, "missing": 7, "waiting": 2}
    assert world.vectors.asked == []


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_keys_of_agents_and_public_keys_are_refused(key: str, method: str) -> None:
    world = World(vectors=VectorWorld(parts=[7]))
    refused = Client(world, key=key).request(method, "/v1/reindex")
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")
    assert world.vectors.asked == []


@pytest.mark.parametrize("after", ["nonsense", "1", "00000000"])
def test_an_after_that_is_no_id_is_refused(after: str) -> None:
    world = World(vectors=VectorWorld(parts=[7]))
    refused = Client(world).post(f"/v1/reindex?after={after}", content=b"")
    assert (refused.status_code, refused.json()["errors"][0]["location"]) == (422, "query.after")
    assert world.vectors.asked == []
