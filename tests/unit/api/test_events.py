"""The routes of events: one or many, rejected items as problems, filters and cursors."""

from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import PUBLIC_KEY, Client, World

from cairn.writing.items import Outcome

EVENT: dict[str, Any] = {"type": "tool.execute", "payload": {"service": "api"}, "tool_name": "sh"}


def test_an_event_is_created() -> None:
    world = World()
    answer = Client(world).post("/v1/events", EVENT)
    assert answer.status_code == 201
    assert answer.json() == {
        "outcome": "created",
        "id": str(UUID(int=1)),
        "position": 1,
        "warnings": [],
    }
    assert world.observed[0].payload == {"service": "api"}


def test_a_duplicate_is_no_new_event() -> None:
    answer = Client(World(outcome=Outcome.DUPLICATE)).post("/v1/events", EVENT)
    assert answer.status_code == 200


def test_a_bad_item_is_a_problem_and_the_others_stand() -> None:
    world = World()
    items = [EVENT, {"type": "NotDotted"}, {**EVENT, "payload": "text"}, EVENT]
    answer = Client(world).post("/v1/events", {"items": items}).json()
    assert [each["outcome"] for each in answer["results"]] == [
        "created",
        "rejected",
        "rejected",
        "created",
    ]
    assert answer["results"][1]["error"]["type"].endswith("validation-failed")
    assert answer["counts"] == {"created": 2, "duplicate": 0, "rejected": 2}


def test_a_parent_item_counts_past_refused_items() -> None:
    world = World()
    items = [{"type": "x"}, EVENT, {**EVENT, "parent_item": 1}, {**EVENT, "parent_item": 0}]
    answer = Client(world).post("/v1/events", {"items": items}).json()
    assert [each["outcome"] for each in answer["results"]] == [
        "rejected",
        "created",
        "created",
        "rejected",
    ]
    assert world.observed[1].parent_item == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": ""},
        {"type": "invoke"},
        {"type": "Agent.Invoke"},
        {"type": "a." + "b" * 100},
        {"type": "a.b", "parent_id": "not an id"},
        {"type": "a.b", "parent_item": -1},
        {"type": "a.b", "occurred_at": "yesterday"},
        {"type": "a.b", "importance": 11},
        {"type": "a.b", "unknown": 1},
        {"items": []},
        {"items": [EVENT] * 501},
    ],
    ids=str,
)
def test_a_malformed_event_is_refused(wrong: dict[str, Any]) -> None:
    assert Client(World()).post("/v1/events", wrong).status_code == 422


def test_a_list_takes_its_filters() -> None:
    world = World()
    answer = Client(world).get("/v1/events?type=tool&session_id=s&agent_id=a&trace_id=t")
    assert answer.json()["items"][0]["id"] == str(UUID(int=5))
    where = world.event_filters[0]
    assert (where.type, where.session_id, where.agent_id, where.trace_id) == ("tool", "s", "a", "t")


def test_an_event_is_read_and_an_unknown_one_is_not_found() -> None:
    assert Client(World()).get(f"/v1/events/{UUID(int=5)}").status_code == 200
    assert Client(World()).get(f"/v1/events/{UUID(int=6)}").status_code == 404


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_public_key_may_neither_observe_nor_list(method: str) -> None:
    client = Client(World(), key=PUBLIC_KEY)
    answer = client.post("/v1/events", EVENT) if method == "POST" else client.get("/v1/events")
    assert answer.status_code == 403
