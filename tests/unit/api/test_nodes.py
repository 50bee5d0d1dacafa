"""The routes of nodes and entities: one or many, cursors, corrections, and what they refuse."""

from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import PUBLIC_KEY, Client, World

NODE: dict[str, Any] = {"label": "Runbook", "properties": {"text": "Clear the sessions."}}
NOBODY = UUID(int=404)


def write(client: Client, node: dict[str, Any] = NODE) -> str:
    answer = client.post("/v1/nodes", node)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()["id"]


def entity(client: Client, name: str, type: str = "person") -> str:
    return write(client, {"label": "Entity", "kind": type, "properties": {"name": name}})


def test_a_node_is_created_once() -> None:
    client = Client(World())
    first = client.post("/v1/nodes", NODE)
    assert (first.status_code, first.json()["outcome"]) == (201, "created")
    again = client.post("/v1/nodes", NODE)
    assert (again.status_code, again.json()["outcome"]) == (200, "duplicate")
    assert again.json()["id"] == first.json()["id"]


def test_edges_come_with_the_node() -> None:
    client = Client(World())
    problem = write(client, {"label": "Problem", "properties": {"text": "Logins fail."}})
    made = client.post("/v1/nodes", NODE | {"edges": [{"relation": "solves", "to": problem}]})
    assert made.json()["edges"] == 1
    gone = client.post("/v1/nodes", NODE | {"edges": [{"relation": "solves", "to": str(NOBODY)}]})
    assert gone.status_code == 404


def test_a_bad_item_is_a_problem_and_the_others_stand() -> None:
    items = [NODE, {"label": "Memory", "properties": {"text": "x"}}, {"label": "x"}, NODE]
    answer = Client(World()).post("/v1/nodes", {"items": items}).json()
    assert answer["counts"] == {"created": 1, "duplicate": 1, "rejected": 2}
    assert answer["results"][1]["error"]["reason"] == "reserved-label"


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": "runbook"},
        {"label": "Event"},
        {"kind": "Not A Kind"},
        {"properties": {}},
        {"properties": {"text": 5}},
        {"properties": {"text": "a\u0000b"}},
        {"properties": {"text": "x", "keywords": "one"}},
        {"properties": {"text": "x", "slug": "Not A Slug"}},
        {"properties": {"text": "x", "more": "y" * 17_000}},
        {"edges": [{"relation": "SOLVES"}]},
        {"edges": [{"relation": "SOLVES", "to": str(NOBODY), "from": str(NOBODY)}]},
        {"edges": [{"relation": "NOT_ONE", "to": str(NOBODY)}]},
        {"edges": [{"relation": "SOLVES", "to": str(NOBODY), "weight": 0}]},
        {"edges": [{"relation": "SOLVES", "to": str(NOBODY)}] * 101},
        {"unknown": 1},
    ],
)
def test_a_wrong_node_is_refused(wrong: dict[str, Any]) -> None:
    answer = Client(World()).post("/v1/nodes", NODE | wrong)
    assert answer.status_code in (413, 422), answer.text
    assert answer.json()["errors"]


def test_lists_go_on_by_their_cursor() -> None:
    client = Client(World())
    items = [NODE | {"properties": {"text": f"number {number}"}} for number in range(5)]
    written = [each["id"] for each in client.post("/v1/nodes", {"items": items}).json()["results"]]
    seen: list[str] = []
    cursor = None
    while True:
        query = f"&cursor={cursor}" if cursor else ""
        page = client.get(f"/v1/nodes?label=Runbook&limit=2{query}").json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(written)
    assert client.get("/v1/nodes").status_code == 422


def test_entities_with_the_same_position_are_all_listed() -> None:
    client = Client(World())
    for name in ("Zoe", "adam", "Bea"):
        entity(client, name)
    first = client.get("/v1/entities?limit=2").json()
    assert [each["name"] for each in first["items"]] == ["adam", "Bea"]
    rest = client.get(f"/v1/entities?limit=2&cursor={first['next_cursor']}").json()
    assert [each["name"] for each in rest["items"]] == ["Zoe"]


@pytest.mark.parametrize("cursor", ["x", "e30", "W10", "WzEsWzEsMV0sMV0", "a" * 3000])
def test_a_damaged_cursor_is_refused(cursor: str) -> None:
    answer = Client(World()).get(f"/v1/entities?cursor={cursor}")
    assert (answer.status_code, answer.json()["reason"]) == (422, "bad-cursor")


def test_a_cursor_belongs_to_its_filters() -> None:
    client = Client(World())
    for name in ("A", "B"):
        entity(client, name)
    cursor = client.get("/v1/entities?limit=1").json()["next_cursor"]
    answer = client.get(f"/v1/entities?limit=1&q=x&cursor={cursor}")
    assert answer.json()["reason"] == "cursor-filters"


def test_a_truth_is_set_and_a_node_deleted() -> None:
    client = Client(World())
    made = write(client)
    assert client.request(
        "PUT", f"/v1/nodes/{made}/compiled-truth", json={"text": "So."}
    ).is_success
    assert client.get(f"/v1/nodes/{made}").json()["compiled_truth"] == "So."
    assert client.request("DELETE", f"/v1/nodes/{made}").is_success
    assert client.get(f"/v1/nodes/{made}").status_code == 404


def test_relationships_grow_between_entities() -> None:
    client = Client(World())
    ends = {"source_id": entity(client, "Acme"), "target_id": entity(client, "Redis")}
    answer = client.post("/v1/relationships", ends | {"relation": "uses"})
    assert answer.status_code == 200
    wrong = client.post("/v1/relationships", ends | {"relation": "use"})
    assert wrong.json()["reason"] == "unknown-relation"
    assert "USES" in wrong.json()["detail"]


def test_entities_are_merged_parted_and_renamed() -> None:
    client = Client(World())
    one, two = entity(client, "Acme"), entity(client, "Acme Corp")
    assert client.post(f"/v1/entities/{one}/aliases", {"alias": "ACME Ltd"}).is_success
    assert client.post(f"/v1/entities/{one}/merge", {"into": two}).json()["id"] == two
    again = client.post(f"/v1/entities/{one}/merge", {"into": two})
    assert (again.status_code, again.json()["reason"]) == (409, "entity-merged")
    assert client.post(f"/v1/entities/{two}/split", {"undo": one}).json()["id"] == one
    gone = client.request("DELETE", f"/v1/entities/{two}/aliases?alias=unknown")
    assert gone.status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"name": "x"},
        {"mentions": [str(NOBODY)]},
        {"undo": str(NOBODY), "name": "x", "mentions": [str(NOBODY)]},
        {"undo": "not an id"},
        {"name": "x", "type": "Not A Type", "mentions": [str(NOBODY)]},
    ],
)
def test_a_wrong_split_is_refused(wrong: dict[str, Any]) -> None:
    client = Client(World())
    answer = client.post(f"/v1/entities/{entity(client, 'A')}/split", wrong)
    assert answer.status_code == 422


def test_a_public_key_sees_no_nodes_and_no_entities() -> None:
    client = Client(World(), key=PUBLIC_KEY)
    assert client.get("/v1/nodes?label=Note").status_code == 403
    assert client.get("/v1/entities").status_code == 403
    assert client.post("/v1/nodes", NODE).status_code == 403
