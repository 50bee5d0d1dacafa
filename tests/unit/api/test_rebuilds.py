"""`/v1/rebuilds`: who may, and what is answered."""

import pytest
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World


@pytest.mark.parametrize("check", [True, False])
def test_a_rebuild_is_accepted_and_followed_by_its_id(check: bool) -> None:
    client = Client(World())
    accepted = client.post("/v1/rebuilds", {"check": check})
    assert accepted.status_code == 202
    assert (accepted.json()["state"], accepted.json()["check"]) == ("running", check)
    assert client.get(f"/v1/rebuilds/{accepted.json()['id']}").json() == accepted.json()


def test_an_unknown_rebuild_is_not_found() -> None:
    client = Client(World())
    assert client.get("/v1/rebuilds/0198f0a2-5c1e-7b3d-9e55-0d6a4b8c1f20").status_code == 404


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
def test_only_admins_rebuild(key: str) -> None:
    assert Client(World(), key=key).post("/v1/rebuilds", {}).status_code == 403


def test_an_unknown_wish_is_refused() -> None:
    assert Client(World()).post("/v1/rebuilds", {"faster": True}).status_code == 422
