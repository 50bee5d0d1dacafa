"""`GET /v1/export` and `POST /v1/import`: the memory graph page by page, and what is refused."""

from typing import Any

import pytest
from tests.support.memory_graphs import help_desk
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, Client, World

from cairn.graph.memory_dump import as_record, from_record

RECORDS = [as_record(item) for item in help_desk()]
FACT: dict[str, Any] = {
    "kind": "node",
    "label": "fact",
    "natural_key": "k",
    "properties": {},
    "provenance": "operator",
    "status": "active",
}
EDGE: dict[str, Any] = {
    "kind": "edge",
    "source": ["fact", "k"],
    "target": ["fact", "l"],
    "relation": "CAUSES",
    "weight": "1.0",
    "properties": {},
    "observed_at": "2026-03-20T12:00:00.000000Z",
}


def test_what_is_imported_is_exported_page_by_page_without_ids() -> None:
    client = Client(World())
    first = client.post("/v1/import", {"items": RECORDS})
    assert (first.status_code, first.json()) == (200, {"read": 19, "changed": 19})
    assert client.post("/v1/import", {"items": RECORDS}).json() == {"read": 19, "changed": 0}

    found: list[Any] = []
    cursor = ""
    while True:
        page = client.get(f"/v1/export?limit=4{cursor}").json()
        assert page["position"] == 7
        found += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == RECORDS
    assert [from_record(item) for item in found] == help_desk()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"label": "Document"}, "own route"),
        ({"properties": {"a": 0.5}}, "as a string"),
        ({"status": "gone"}, "one of provisional"),
        ({"provenance": None}, "one of operator"),
        ({"kind": "ticket"}, "node or edge"),
        ({"id": "x"}, "has or lacks the fields id"),
    ],
)
def test_a_bad_record_is_named_by_its_place(changes: dict[str, Any], says: str) -> None:
    world = World()
    refused = Client(world).post("/v1/import", {"items": [FACT, {**FACT, **changes}]})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["location"] == "items.1"
    assert says in refused.json()["detail"]
    assert world.memory_graph.batches == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"relation": "KNOWS"}, "unknown-relation"),
        ({"weight": 1.0}, "type"),
        ({"weight": "many"}, "type"),
        ({"source": ["fact"]}, "type"),
        ({"source": ["fact", "l"]}, "self-loop"),
        ({"observed_at": "yesterday"}, "bad-timestamp"),
        ({}, "dangling-edge"),
    ],
)
def test_a_bad_edge_says_why(changes: dict[str, Any], reason: str) -> None:
    refused = Client(World()).post("/v1/import", {"items": [FACT, {**EDGE, **changes}]})
    assert (refused.status_code, refused.json()["reason"]) == (422, reason)


@pytest.mark.parametrize("items", [[], ["x"], {}, None, [FACT] * 101])
def test_only_lists_of_one_to_a_hundred_records_are_taken(items: Any) -> None:
    assert Client(World()).post("/v1/import", {"items": items}).status_code == 422


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
def test_only_admins_export_and_import(key: str) -> None:
    client = Client(World(), key)
    assert client.get("/v1/export").status_code == 403
    assert client.post("/v1/import", {"items": [FACT]}).status_code == 403


@pytest.mark.parametrize("cursor", ["x", "e30", "WzEsWzEsMl0sInh4Il0"])
def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    assert Client(World()).get(f"/v1/export?cursor={cursor}").status_code == 422
