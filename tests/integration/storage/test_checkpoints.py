"""Checkpoints of programs at the API's door: whose they are, what is refused, what is left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front

if TYPE_CHECKING:
    import httpx
    from tests.integration.storage.test_search_front import Door

door = test_search_front.door
ROUTE, WRITES = "/v1/checkpoints", "/v1/checkpoints/writes"


def put(door: Door, checkpoint_id: str, *, key: str | None = None, **more: Any) -> httpx.Response:
    body = {"thread_id": "t", "checkpoint_id": checkpoint_id, "data": "{}", **more}
    headers = {"content-type": "application/json", **under(key)}
    return door.api.answer("PUT", ROUTE, content=json.dumps(body), headers=headers)


def wrote(door: Door, *writes: tuple[int, str], **more: Any) -> httpx.Response:
    items = [{"idx": idx, "channel": "said", "data": data} for idx, data in writes]
    place = {"thread_id": "t", "checkpoint_id": "1", "task_id": "a", **more}
    return door.api.answer("PUT", WRITES, json={**place, "writes": items})


def listed(door: Door, *, key: str | None = None, **asked: Any) -> list[dict[str, Any]]:
    answer = door.api.answer("GET", ROUTE, params=asked, headers=under(key))
    assert answer.status_code == 200, answer.text
    items: list[dict[str, Any]] = answer.json()["items"]
    return items


def ids(door: Door, **asked: Any) -> list[str]:
    return [item["checkpoint_id"] for item in listed(door, **asked)]


def under(key: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def removed(door: Door, **asked: Any) -> int:
    number: int = door.api.call("DELETE", ROUTE, params=asked)["removed"]
    return number


def test_threads_of_agents_and_clients_are_apart_and_another_key_of_the_agent_goes_on(
    door: Door,
) -> None:
    def key(**body: Any) -> str:
        named = {"name": "k", "role": "agent", "scopes": ["shared"], **body}
        secret: str = door.api.call("POST", "/v1/keys", json=named)["secret"]
        return secret

    first, second, other = key(agent_slug="ann"), key(agent_slug="ann"), key(agent_slug="bea")
    dana = key(agent_slug="ann", client_id="dana")
    for number, who in enumerate((first, other, dana, None)):
        assert put(door, "1", key=who, data=str(number)).status_code == 200
    assert put(door, "1", key=first, data="hers", client_id="eli").status_code == 200

    def data(who: str | None, **asked: Any) -> list[str]:
        return [item["data"] for item in listed(door, key=who, **asked)]

    assert data(first) == data(second) == ["0"]
    assert data(other) == ["1"]
    assert data(dana) == data(first, client_id="dana") == ["2"]
    assert data(None) == ["3"]
    assert data(second, client_id="eli") == ["hers"]
    refused = door.api.answer("GET", ROUTE, params={"client_id": "eli"}, headers=under(dana))
    assert refused.status_code == 403
    assert removed(door, thread_id="t") == 1
    assert data(None) == []
    assert data(first) == ["0"]


def test_a_checkpoint_put_again_is_another_state_and_a_write_counts_once(door: Door) -> None:
    wrote(door, (0, "early"), (1, "too"), (-1, "failed"))
    put(door, "1", data="first", run_id="r")
    put(door, "1", data="second")
    wrote(door, (0, "late"), (-1, "failed again"))
    wrote(door, (0, "of another"), task_id="z", task_path="0")
    wrote(door, (0, "elsewhere"), namespace="child")
    (item,) = listed(door, namespace="")
    assert (item["data"], item["run_id"], item["parent_id"]) == ("second", None, None)
    assert [(each["idx"], each["data"]) for each in item["writes"]] == [
        (-1, "failed again"),
        (0, "early"),
        (1, "too"),
        (0, "of another"),
    ]
    assert removed(door, thread_id="t") == 1
    put(door, "1")
    assert [item["writes"] for item in listed(door)] == [[]]
    assert not door.search("second")["results"]


def test_lists_go_back_in_pages_and_what_is_taken_away_is_named(door: Door) -> None:
    for number in range(6):
        run = {"run_id": "odd"} if number % 2 else {}
        put(door, str(number), namespace="child" if number > 3 else "", **run)
    put(door, "9", thread_id="u", run_id="odd")
    assert ids(door) == ["9", "5", "4", "3", "2", "1", "0"]
    assert ids(door, thread_id="t", namespace="", before="3") == ["2", "1", "0"]
    assert ids(door, checkpoint_id="4") == ["4"]
    page = door.api.call("GET", ROUTE, params={"run_id": "odd", "limit": 3})
    more = {"run_id": "odd", "limit": 3, "cursor": page["next_cursor"]}
    rest = door.api.call("GET", ROUTE, params=more)
    found = [item["checkpoint_id"] for item in (*page["items"], *rest["items"])]
    assert (found, rest["next_cursor"]) == (["9", "5", "3", "1"], None)
    wrong = door.api.answer("GET", ROUTE, params={"cursor": page["next_cursor"]})
    assert (wrong.status_code, wrong.json()["reason"]) == (422, "cursor-filters")
    assert removed(door, run_id="odd") == 4
    assert removed(door, thread_id="t", namespace="", before="2") == 1
    assert ids(door) == ["4", "2"]
    assert removed(door, thread_id="nobody's") == 0
    unnamed = door.api.answer("DELETE", ROUTE, params={"namespace": "child"})
    assert (unnamed.status_code, ids(door)) == (422, ["4", "2"])


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"data": "x" * 2_500_001}, 413),
        ({"data": "a\x00b"}, 422),
        ({"data": "\ud800"}, 422),
        ({"data": {"step": 1}}, 422),
        ({"thread_id": " "}, 422),
        ({"checkpoint_id": ""}, 422),
        ({"checkpoint_id": "x" * 129}, 422),
        ({"namespace": "x" * 513}, 422),
        ({"state": "{}"}, 422),
    ],
)
def test_what_cannot_be_kept_is_refused_and_the_state_before_stays(
    door: Door, body: dict[str, Any], status: int
) -> None:
    put(door, "1", data="before")
    assert put(door, **{"checkpoint_id": "1", **body}).status_code == status
    assert [item["data"] for item in listed(door)] == ["before"]


def test_writes_beside_a_checkpoint_have_a_limit_together(door: Door) -> None:
    put(door, "1")
    assert wrote(door, (0, "x" * 1_500_000)).status_code == 200
    refused = wrote(door, (0, "y" * 1_500_000), task_id="b")
    assert (refused.status_code, refused.json()["type"]) == (413, "urn:cairn:error:too-large")
    assert [len(item["writes"]) for item in listed(door)] == [1]
