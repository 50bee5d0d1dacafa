"""Nodes and entities over HTTP and PostgreSQL, built as the API builds them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(scope="module")
def client(database: "Database", tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment(database.app_url, tmp_path_factory.mktemp("api")).items():
            patch.setenv(name, value)
        stand_in_for_aws(patch, Cloud())
        world = open_world(database.owner_url, database.app_url, "routes")
        yield Front(world.key)
        world.pool.close()


def write(client: Front, label: str, **properties: Any) -> str:
    body: dict[str, Any] = {"label": label, "properties": properties}
    if label == "Entity":
        body["kind"] = "person"
    answer = client.post("/v1/nodes", body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()["id"]


def test_a_walk_from_writing_to_correcting(client: Front) -> None:
    one, two = write(client, "Entity", name="Ada"), write(client, "Entity", name="Ada Lovelace")
    body = {
        "label": "Note",
        "properties": {"text": "Ada wrote it.", "shelf": "\U0001f4da A1"},
        "edges": [{"relation": "references", "to": one, "properties": {"role": "about"}}],
    }
    note = client.post("/v1/nodes", body).json()["id"]
    shown = client.get(f"/v1/nodes/{note}").json()
    assert shown["metadata"] == {"shelf": "\U0001f4da A1"}
    assert shown["edges"]["strongest"][0]["node"]["title"] == "Ada"
    assert client.post(f"/v1/entities/{one}/merge", {"into": two}).json()["moved_edges"] == 1
    detail = client.get(f"/v1/entities/{two}").json()
    assert (detail["aliases"], detail["roles"]) == (["ada"], {"about": 1})
    assert client.get("/v1/entities?q=ADA").json()["items"][0]["id"] == two
    assert client.post(f"/v1/entities/{two}/split", {"undo": one}).status_code == 200
    assert client.get(f"/v1/entities/{one}").json()["mention_count"] == 1
    assert client.answer("DELETE", f"/v1/nodes/{note}").status_code == 200
    assert client.get(f"/v1/nodes/{note}").status_code == 404
    assert client.get(f"/v1/entities/{one}").json()["mention_count"] == 0


def test_pages_have_every_node_once(client: Front) -> None:
    written = {write(client, "Page", text=f"page {number}") for number in range(7)}
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        page = client.get(f"/v1/nodes?label=Page&limit=3{cursor and '&cursor=' + cursor}").json()
        seen += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert sorted(seen) == sorted(written)


@pytest.mark.parametrize("q", ["%25", "_", "'; DROP TABLE node; --", "\\", "\U0001f680", "x" * 256])
def test_any_query_for_entities_is_answered(client: Front, q: str) -> None:
    assert client.get(f"/v1/entities?q={q}").status_code == 200
