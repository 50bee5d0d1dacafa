import pytest
from tests.unit.api.fakes import Client, World

FACT = {"text": "one", "type": "fact"}
KEY = {"idempotency-key": "order-1"}


def test_a_repeat_is_answered_as_before_and_says_so() -> None:
    world = World()
    client = Client(world)
    first = client.post("/v1/memories", FACT, headers=KEY)
    again = client.post("/v1/memories", FACT, headers=KEY)
    assert again.json() == first.json()
    assert (first.status_code, again.status_code) == (201, 201)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len(world.written) == 1


def test_spacing_and_key_order_do_not_make_another_body() -> None:
    client = Client(World())
    client.post("/v1/memories", content=b'{"text":"one","type":"fact"}', headers=KEY)
    again = client.post("/v1/memories", content=b'{ "type": "fact", "text": "one" }', headers=KEY)
    assert again.headers["idempotency-replayed"] == "true"


def test_the_same_key_with_another_body_is_refused() -> None:
    world = World()
    client = Client(world)
    client.post("/v1/memories", FACT, headers=KEY)
    other = client.post("/v1/memories", {**FACT, "text": "two"}, headers=KEY)
    assert (other.status_code, other.json()["reason"]) == (422, "idempotency-mismatch")
    assert len(world.written) == 1


def test_a_request_still_running_under_the_key_is_a_conflict() -> None:
    world = World(in_flight={"order-1"})
    response = Client(world).post("/v1/memories", FACT, headers=KEY)
    assert (response.status_code, response.json()["reason"]) == (409, "idempotency-in-flight")


def test_a_replayed_batch_marks_its_rejected_items_again() -> None:
    client = Client(World())
    body = {"items": [FACT, {"text": ""}]}
    first = client.post("/v1/memories", body, headers=KEY)
    again = client.post("/v1/memories", body, headers=KEY)
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "with space"])
def test_a_malformed_key_is_refused(key: str) -> None:
    world = World()
    response = Client(world).post("/v1/memories", FACT, headers={"idempotency-key": key})
    assert (response.status_code, response.json()["reason"]) == (422, "idempotency-key")
    assert world.written == []
