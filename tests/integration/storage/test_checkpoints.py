"""Checkpoints of programs at the API's door: whose they are, what is refused, what is left."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.plugins.waiting import eventually
from tests.support.platform import platform_of

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.checkpoints.keep import ExpireCheckpoints

if TYPE_CHECKING:
    import httpx
    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

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
        ({"ttl_seconds": 0}, 422),
        ({"ttl_seconds": "60"}, 422),
        ({"ttl_seconds": 10 * 366 * 86_400 + 1}, 422),
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


def limited(door: Door, size: int, **values: int) -> None:
    """Set limits below `size`, and wait until they hold."""
    door.api.call("PATCH", "/v1/settings", json={"checkpoints": values})
    large = {"thread_id": "probe", "data": "x" * size}
    eventually(lambda: put(door, "1", **large).status_code == 409, seconds=10)
    removed(door, thread_id="probe")


def used(door: Door, database: Database) -> int:
    """Bytes that are counted; those of threads and of the workspace are the same."""
    with database.connect_as_superuser() as root:
        whole, threads = root.execute(
            """SELECT coalesce(sum(bytes) FILTER (WHERE thread = ''), 0),
                      coalesce(sum(bytes) FILTER (WHERE thread <> ''), 0)
                 FROM checkpoint_usage WHERE workspace_id = %s""",
            [door.world.workspace_id],
        ).fetchone() or (0, 0)
    assert whole == threads
    return int(whole)


def wait_past_expiry(door: Door, database: Database) -> None:
    """Make what is there as old as if nobody had written for a year."""
    with database.connect_as_superuser() as root:
        root.execute(
            "UPDATE checkpoint_usage SET expires_at = expires_at - interval '1 year'"
            " WHERE workspace_id = %s",
            [door.world.workspace_id],
        )


def test_a_thread_that_is_full_is_refused_until_something_is_taken_away(
    door: Door, database: Database
) -> None:
    limited(door, 12_000, max_thread_bytes=10_000)
    statuses = [put(door, str(number), data="x" * 3000).status_code for number in range(4)]
    assert statuses == [200, 200, 200, 409]
    refused = put(door, "3", data="x" * 3000).json()
    assert refused["reason"] == "checkpoint-quota"
    assert "checkpoints.max_thread_bytes allows 10000" in refused["detail"]
    assert wrote(door, (0, "x" * 3000), checkpoint_id="2").status_code == 409
    assert ids(door) == ["2", "1", "0"]
    assert [item["writes"] for item in listed(door)] == [[], [], []]
    assert put(door, "2", data="x" * 2000).status_code == 200
    assert put(door, "1", thread_id="another", data="x" * 3000).status_code == 200
    removed(door, thread_id="t", before="1")
    assert put(door, "3", data="x" * 3000).status_code == 200
    for thread in ("t", "another"):
        removed(door, thread_id=thread)
    assert used(door, database) == 0


def test_a_workspace_that_is_full_is_refused_in_every_thread_and_agent(door: Door) -> None:
    body = {"name": "k", "role": "agent", "scopes": ["shared"], "agent_slug": "ann"}
    ann: str = door.api.call("POST", "/v1/keys", json=body)["secret"]
    limited(door, 12_000, max_bytes=10_000)
    assert put(door, "1", thread_id="first", data="x" * 6000).status_code == 200
    refused = put(door, "1", key=ann, data="x" * 6000)
    assert (refused.status_code, refused.json()["reason"]) == (409, "checkpoint-quota")
    assert "checkpoints.max_bytes" in refused.json()["detail"]
    assert removed(door, thread_id="first") == 1
    assert put(door, "1", key=ann, data="x" * 6000).status_code == 200


def test_many_who_write_at_once_are_all_counted_and_never_more_than_is_allowed(
    door: Door, database: Database
) -> None:
    limited(door, 60_000, max_thread_bytes=20_000, max_bytes=50_000)

    def write(number: int) -> int:
        where = {"thread_id": f"t{number % 3}", "checkpoint_id": str(number)}
        if number % 2:
            return wrote(door, (0, "x" * 2000), (1, "x" * 1000), **where).status_code
        return put(door, data="x" * 3000, **where).status_code

    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(write, range(36)))
    assert set(statuses) == {200, 409}
    assert 40_000 < used(door, database) <= 50_000
    for thread in range(3):
        removed(door, thread_id=f"t{thread}")
    assert used(door, database) == 0


def test_a_thread_expires_whole_when_nobody_wrote_for_so_long(
    door: Door, database: Database
) -> None:
    put(door, "1", ttl_seconds=86_400)
    put(door, "2")
    put(door, "1", thread_id="stays")
    wait_past_expiry(door, database)
    assert ids(door) == ["1"]
    assert ids(door, thread_id="t") == []
    put(door, "3")
    wrote(door, (0, "late"), checkpoint_id="3")
    assert ids(door, thread_id="t") == ["3"]
    put(door, "3", ttl_seconds=60)
    wait_past_expiry(door, database)
    wrote(door, (0, "much later"), checkpoint_id="3")
    assert ids(door, thread_id="t") == []
    put(door, "4", ttl_seconds=60)
    assert ids(door, thread_id="t") == ["4"]


def test_what_expired_goes_though_nobody_writes_any_more(door: Door, database: Database) -> None:
    for thread in range(25):
        put(door, "1", thread_id=str(thread), ttl_seconds=60)
    put(door, "1", thread_id="stays")
    before = used(door, database)
    wait_past_expiry(door, database)
    expire = ExpireCheckpoints(platform_of(StoreTransactions(door.world.pool)))
    assert expire(door.world.workspace_id, seconds=0) == {"threads": 0, "more": True}
    assert expire(door.world.workspace_id, seconds=60) == {"threads": 25, "more": False}
    assert expire(door.world.workspace_id, seconds=60) == {"threads": 0, "more": False}
    assert 0 < used(door, database) < before / 20
    assert ids(door) == ["1"]


@pytest.mark.parametrize(
    "values",
    [{"max_bytes": 0}, {"max_thread_bytes": 1.5}, {"expire_after_days": 0}, {"max_states": 5}],
)
def test_limits_that_are_none_are_refused(door: Door, values: dict[str, Any]) -> None:
    answer = door.api.answer("PATCH", "/v1/settings", json={"checkpoints": values})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["location"] == f"checkpoints.{next(iter(values))}"
