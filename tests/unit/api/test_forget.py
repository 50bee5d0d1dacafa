"""`/v1/forget`: whom it names, what a dry run says, and what the answers leave out."""

import pytest
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World
from tests.unit.api.forget_fakes import FORGETTING, NODE, SUBJECT

from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason

ACME = {"subject": {"kind": "client", "natural_key": "acme"}}


def test_a_subject_is_forgotten_and_a_second_time_says_so() -> None:
    world = World()
    client = Client(world)
    first = client.post("/v1/forget", ACME).json()
    again = client.post("/v1/forget", {"subject_id": str(SUBJECT), "reason": "mistake"})
    assert (first["id"], first["already"], again.json()["already"]) == (
        str(FORGETTING),
        False,
        True,
    )
    assert not {"mark", "object_keys", "principal_id"} & first.keys()
    assert world.forgets.forgotten == [
        (Target(owner=("client", "acme")), Reason.REQUEST),
        (Target(subject_id=SUBJECT), Reason.MISTAKE),
    ]


def test_a_dry_run_forgets_nothing_and_may_prove_that_the_search_finds() -> None:
    world = World()
    plain = Client(world).post("/v1/forget", {**ACME, "dry_run": True}).json()
    assert (plain["node_ids"], plain["counts"]) == ([str(NODE)], {"node.Memory": 1})
    assert "proof" not in plain
    body = {**ACME, "dry_run": True, "prove": True, "canaries": ["canary"]}
    proved = Client(world).post("/v1/forget", body).json()
    assert proved["words"] == ["canary", "acme"]
    assert proved["proof"]["places"][0]["place"] == "public.node"
    assert world.forgets.forgotten == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {**ACME, "source": "https://example.org"},
        {"subject": {"kind": "agent", "natural_key": "x"}},
        {"subject": {"kind": "client", "natural_key": ""}},
        {"subject_id": "nonsense"},
        {"source": ""},
        {**ACME, "reason": "because Ada asked"},
        {**ACME, "canaries": ["x"] * 51},
        {**ACME, "unknown": 1},
    ],
)
def test_what_names_nobody_or_two_is_refused(body: dict[str, object]) -> None:
    world = World()
    assert Client(world).post("/v1/forget", body).status_code == 422
    assert world.forgets.forgotten == []


def test_nobody_unknown_is_forgotten() -> None:
    body = {"subject": {"kind": "person", "natural_key": "ada"}}
    refused = Client(World()).post("/v1/forget", body)
    assert (refused.status_code, refused.json()["reason"]) == (404, "unknown-subject")


def test_a_proof_is_by_ids_or_by_canaries_too() -> None:
    world = World()
    client = Client(world)
    path = f"/v1/forget/{FORGETTING}/proof"
    assert client.get(path).json()["clean"] is True
    assert client.post(path, {"canaries": ["a canary"]}).json()["canaries"] == 1
    assert client.post(path, {"canaries": ["x"]}).json()["reason"] == "canaries"
    assert client.get(f"/v1/forget/{SUBJECT}/proof").status_code == 404
    assert client.get(f"/v1/forget/{FORGETTING}").json()["status"] == "done"
    assert world.forgets.canaries == [(), ("a canary",)]


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
def test_keys_of_agents_and_public_keys_are_refused(key: str) -> None:
    client = Client(World(), key=key)
    path = f"/v1/forget/{FORGETTING}"
    for refused in (
        client.post("/v1/forget", ACME),
        client.get(path),
        client.get(f"{path}/proof"),
        client.post(f"{path}/proof", {}),
    ):
        assert (refused.status_code, refused.json()["reason"]) == (403, "role")
