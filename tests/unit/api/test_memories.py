from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import ADMIN_KEY, Client, World, memory

from cairn.api.options import ApiOptions
from cairn.kernel.access import Scope
from cairn.memories.kinds import MemoryKind
from cairn.writing.checks import MAX_TEXT_CHARS
from cairn.writing.items import Outcome

FACT = {"text": "Acme moved to Next.js.", "type": "fact", "key": "acme-stack"}


def test_a_memory_reaches_the_use_case_with_every_field() -> None:
    world = World()
    body = {
        **FACT,
        "client_id": "acme",
        "importance": "high",
        "scope": "public",
        "agents": ["scout"],
        "occurred_at": "2026-03-15T11:00:00+01:00",
        "valid_from": "2026-03-01T00:00:00Z",
        "valid_to": "2026-04-01T00:00:00Z",
        "session_id": "s1",
        "sequence": 4,
        "parent_id": "00000000-0000-0000-0000-000000000005",
        "data_subjects": ["dana@example.com"],
        "confidence": 1,
        "category": "procedural",
        "metadata": {"nested": [1.5, None]},
    }
    assert Client(world).post("/v1/memories", body).status_code == 201
    (written,) = world.written
    assert (written.type, written.scope, written.importance) == (
        MemoryKind.FACT,
        Scope.PUBLIC,
        7,
    )
    assert written.occurred_at == datetime(2026, 3, 15, 10, tzinfo=UTC)
    assert written.parent_id == UUID(int=5)
    assert (written.agents, written.data_subjects) == (("scout",), ("dana@example.com",))
    assert written.metadata == {"nested": [1.5, None]}


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome.CREATED, 201),
        (Outcome.SUPERSEDED, 201),
        (Outcome.DUPLICATE, 200),
        (Outcome.CORROBORATED, 200),
    ],
)
def test_the_status_tells_new_memories_from_known_ones(outcome: Outcome, status: int) -> None:
    response = Client(World(outcome=outcome)).post("/v1/memories", FACT)
    assert (response.status_code, response.json()["outcome"]) == (status, outcome)


BAD: list[tuple[dict[str, Any], int, str]] = [
    ({"text": ""}, 422, "text"),
    ({"text": "  \n "}, 422, "text"),
    ({"text": None}, 422, "text"),
    ({"text": 5}, 422, "text"),
    ({"text": ["a"]}, 422, "text"),
    ({"text": "nul\x00"}, 422, "text"),
    ({"text": "half \ud800"}, 422, "text"),
    ({"text": "x" * 1_000_000}, 413, "text"),
    ({"type": "opinion"}, 422, "type"),
    ({"type": None}, 422, "type"),
    ({"importance": 11}, 422, "importance"),
    ({"importance": 0}, 422, "importance"),
    ({"importance": True}, 422, "importance"),
    ({"importance": 5.5}, 422, "importance"),
    ({"importance": "urgent"}, 422, "importance"),
    ({"scope": "everyone"}, 422, "scope"),
    ({"sequence": "1"}, 422, "sequence"),
    ({"sequence": -1}, 422, "sequence"),
    ({"sequence": True}, 422, "sequence"),
    ({"confidence": 1.1}, 422, "confidence"),
    ({"confidence": "0.5"}, 422, "confidence"),
    ({"occurred_at": "2026-03-15T10:00:00"}, 422, "occurred_at"),
    ({"occurred_at": "0001-01-01T00:00:00Z"}, 422, "occurred_at"),
    ({"occurred_at": "9999-12-31T23:59:59Z"}, 422, "occurred_at"),
    ({"occurred_at": "yesterday"}, 422, "occurred_at"),
    ({"occurred_at": 1773568800}, 422, "occurred_at"),
    ({"occurred_at": "2026-02-30T00:00:00Z"}, 422, "occurred_at"),
    (
        {"valid_from": "2026-03-02T00:00:00Z", "valid_to": "2026-03-01T00:00:00Z"},
        422,
        "body",
    ),
    ({"client_id": ""}, 422, "client_id"),
    ({"client_id": "x" * 300}, 422, "client_id"),
    ({"agents": "scout"}, 422, "agents"),
    ({"agents": ["a"] * 51}, 422, "agents"),
    ({"agents": [1]}, 422, "agents.0"),
    ({"parent_id": "not-an-id"}, 422, "parent_id"),
    ({"metadata": [1]}, 422, "metadata"),
    ({"metadata": {"k": "\ud800"}}, 422, "metadata.k"),
    ({"txet": "typo"}, 422, "txet"),
]


@pytest.mark.parametrize(("change", "status", "location"), BAD, ids=lambda each: str(each)[:40])
def test_bad_input_is_refused_with_its_place_and_without_repeating_it(
    change: dict[str, Any], status: int, location: str
) -> None:
    world = World()
    response = Client(world).post("/v1/memories", {**FACT, **change})
    body = response.json()
    assert response.status_code == status
    assert body["type"].endswith("too-large" if status == 413 else "validation-failed")
    assert any(each["location"].endswith(location) for each in body["errors"]), body
    assert world.written == []
    for value in change.values():
        if isinstance(value, str) and len(value.strip()) > 3:
            assert value not in response.text


@pytest.mark.parametrize("body", [[], "text", 5, None, True])
def test_a_body_that_is_not_an_object_is_refused(body: object) -> None:
    response = Client(World()).post("/v1/memories", body)
    assert response.status_code == 422
    assert "object" in response.json()["detail"] or "required" in response.json()["detail"]


def test_a_missing_body_is_refused() -> None:
    response = Client(World()).post("/v1/memories", content=b"")
    assert (response.status_code, response.json()["errors"][0]["message"]) == (
        422,
        "This field is required",
    )


@pytest.mark.parametrize(
    "raw", [b'{"text": "a"', b'{"text": NaN}', b'{"text": 1, "text": 2}', b"[" * 100_000, b"\xff"]
)
def test_malformed_json_is_a_400(raw: bytes) -> None:
    response = Client(World()).post("/v1/memories", content=raw)
    assert (response.status_code, response.json()["type"]) == (
        400,
        "urn:cairn:error:malformed-body",
    )


def test_in_a_batch_the_bad_items_are_rejected_and_the_others_stand() -> None:
    world = World()
    items = [
        FACT,
        {"text": "half \ud800", "type": "fact"},
        {"text": "x", "type": "nonsense"},
        "not an object",
        {"text": "refused by the domain", "type": "fact"},
        {"text": "x" * (MAX_TEXT_CHARS + 1), "type": "fact"},
        {"text": "last", "type": "event"},
    ]
    response = Client(world).post("/v1/memories", {"items": items})
    body = response.json()
    assert response.status_code == 200
    assert [each["index"] for each in body["results"]] == list(range(7))
    rejected = [each for each in body["results"] if each["outcome"] == "rejected"]
    assert [(each["index"], each["error"]["status"]) for each in rejected] == [
        (1, 422),
        (2, 422),
        (3, 422),
        (4, 413),
        (5, 413),
    ]
    assert body["counts"] == {
        "created": 2,
        "duplicate": 0,
        "corroborated": 0,
        "superseded": 0,
        "rejected": 5,
    }
    assert [each.text for each in world.written] == [FACT["text"], "last"]


def test_a_batch_of_bad_items_only_writes_nothing() -> None:
    world = World()
    body = Client(world).post("/v1/memories", {"items": [{}, {}]}).json()
    assert (body["counts"]["rejected"], world.written) == (2, [])


@pytest.mark.parametrize(
    "body",
    [{"items": []}, {"items": [FACT] * 501}, {"items": "x"}, {"items": [FACT], "also": 1}],
)
def test_a_batch_of_the_wrong_shape_is_refused_whole(body: object) -> None:
    world = World()
    assert Client(world).post("/v1/memories", body).status_code == 422
    assert world.written == []


def test_five_hundred_memories_are_one_batch() -> None:
    body = Client(World()).post("/v1/memories", {"items": [FACT] * 500}).json()
    assert body["counts"]["created"] == 500


def test_a_domain_refusal_of_a_single_memory_is_the_answer() -> None:
    refused = {"text": "refused by the domain", "type": "fact"}
    assert Client(World()).post("/v1/memories", refused).status_code == 413


def test_a_list_is_walked_by_cursor_to_its_end_without_gaps() -> None:
    client = Client(World(memories=[memory(number) for number in range(1, 8)]))
    seen: list[int] = []
    cursor = ""
    while cursor is not None:
        page = client.get(f"/v1/memories?type=fact&limit=3{cursor and '&cursor=' + cursor}").json()
        seen += [each["position"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [7, 6, 5, 4, 3, 2, 1]


def test_a_page_too_large_for_an_answer_ends_early_and_goes_on() -> None:
    world = World(memories=[memory(number, "x" * 1000) for number in range(1, 8)])
    client = Client(world, key=ADMIN_KEY, options=ApiOptions(max_answer_bytes=4096 + 4000))
    first = client.get("/v1/memories?limit=7")
    assert len(first.content) < 4096 + 4000
    positions = [each["position"] for each in first.json()["items"]]
    assert positions[0] == 7 and 1 <= len(positions) < 7
    second = client.get(f"/v1/memories?limit=7&cursor={first.json()['next_cursor']}").json()
    assert second["items"][0]["position"] == positions[-1] - 1


def test_list_filters_reach_the_use_case_and_active_is_the_default() -> None:
    world = World()
    client = Client(world)
    client.get("/v1/memories?client_id=acme&key=k&subject=s&session_id=one&type=status")
    client.get("/v1/memories?state=any")
    first, second = world.filters
    assert (first.client_id, first.key, first.subject, first.session_id, first.state) == (
        "acme",
        "k",
        "s",
        "one",
        "active",
    )
    assert second.state is None


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=201",
        "limit=many",
        "state=gone",
        "type=opinion",
        "cursor=broken",
        "client_id=%00",
        "client_id=",
    ],
)
def test_bad_list_parameters_are_refused(query: str) -> None:
    response = Client(World()).get(f"/v1/memories?{query}")
    assert (response.status_code, response.json()["type"]) == (
        422,
        "urn:cairn:error:validation-failed",
    )


def test_a_memory_its_history_and_its_deletion_are_reached_by_id() -> None:
    client = Client(World(memories=[memory(3)]))
    path = f"/v1/memories/{UUID(int=3)}"
    assert client.get(path).json()["recorded_at"] == "2026-03-15T10:00:00.000000Z"
    assert client.get(f"{path}/history").json()["versions"][0]["memory"]["position"] == 3
    assert client.delete(path).json() == {"id": str(UUID(int=3)), "position": 99, "nodes": 1}


@pytest.mark.parametrize("bad", ["not-an-id", "123", "%00", "00000000-0000-0000-0000-00000000000g"])
def test_a_path_that_is_not_an_id_is_refused(bad: str) -> None:
    assert Client(World()).get(f"/v1/memories/{bad}").status_code == 422
