from uuid import UUID

import pytest
from tests.unit.api.fakes import Client, World


def test_the_ledger_is_read_in_order_to_its_end() -> None:
    client = Client(World())
    positions: list[int] = []
    cursor = ""
    while cursor is not None:
        query = f"from_position=3&limit=100{cursor and '&cursor=' + cursor}"
        page = client.get(f"/v1/ledger?{query}").json()
        positions += [each["position"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert positions == list(range(3, 251))


@pytest.mark.parametrize("query", ["type=Not.A.Type", "from_position=-1", "from_position=x"])
def test_bad_ledger_parameters_are_refused(query: str) -> None:
    assert Client(World()).get(f"/v1/ledger?{query}").status_code == 422


def test_a_broken_chain_is_told_with_its_position() -> None:
    body = Client(World()).get("/v1/ledger/verify").json()
    assert (body["ok"], body["first_bad_position"], body["reason"]) == (False, 7, "hash-mismatch")


def test_anchors_are_looked_at_when_asked_for() -> None:
    client = Client(World(first_bad_position=None))
    assert "anchors" not in client.get("/v1/ledger/verify?anchors=false").json()
    body = client.get("/v1/ledger/verify?anchors=true").json()
    assert (body["ok"], body["anchors"]["trusted"]) == (False, 2)
    assert body["anchors"]["faults"] == [
        {"reason": "missing", "key": None, "number": 2, "position": None}
    ]
    assert client.get("/v1/ledger/verify?anchors=perhaps").status_code == 422


def test_a_new_keys_secret_is_in_the_answer_to_making_it_and_nowhere_else() -> None:
    client = Client(World())
    made = client.post("/v1/keys", {"name": "scout", "role": "agent", "scopes": ["public"]})
    assert (made.status_code, made.json()["secret"]) == (201, "cairn_abc.shown-once")
    assert made.json()["key"]["scopes"] == ["public"]
    listed = client.get("/v1/keys")
    assert "secret" not in listed.text and "shown-once" not in str(client.logged)
    revoked = client.delete(f"/v1/keys/{UUID(int=7)}").json()
    assert revoked["revoked_at"] == "2026-03-15T10:00:00.000000Z"


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "a", "role": "owner"},
        {"name": "a", "scopes": []},
        {"name": "a", "role": "public"},
        {"name": "a", "agent_slug": "Not A Slug"},
        {"name": "a", "tools": []},
        {"name": "a", "tools": "recall"},
        {"name": "a", "tools": ["recall", 7]},
        {"name": "a", "tools": ["recall\u0000"]},
        {"name": "a", "tools": ["recall", "cmd-exec"]},
        {"name": "a", "tools": ["recall"] * 65},
        {"name": "a", "role": "public", "agent_slug": "a", "tools": ["remember"]},
        {"name": "a", "expires_at": "tomorrow"},
    ],
    ids=str,
)
def test_bad_keys_are_refused(body: object) -> None:
    assert Client(World()).post("/v1/keys", body).status_code == 422


def test_the_claim_token_works_without_a_key_and_a_wrong_one_does_not() -> None:
    client = Client(World(), key=None)
    assert client.post("/v1/claim", {"token": "right"}).json()["secret"] == "cairn_abc.shown-once"
    assert client.post("/v1/claim", {"token": "wrong"}).status_code == 401
    assert client.post("/v1/claim", {"token": ""}).status_code == 422


def test_status_counts_what_waits() -> None:
    body = Client(World()).get("/v1/status").json()
    assert (body["pending_embeddings"], body["failed_embeddings"]) == (3, 1)
