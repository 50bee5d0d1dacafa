"""Writes through the API as it is wired, over PostgreSQL, and what the ledger says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.front import Cloud, Front, environment
from tests.support.world import open_world

from cairn.ids import new_id
from cairn.storage.aws import dispatch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database
    from tests.support.world import World


@pytest.fixture
def world(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name, value in environment(database, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(dispatch, "aws_client", Cloud().client)
    world = open_world(database.owner_url, database.app_url, f"writes {new_id()}")
    yield world
    world.pool.close()


def entry(api: Front, type_: str) -> dict[str, Any]:
    (found,) = api.call("GET", "/v1/ledger", params={"type": type_})["items"]
    return found


DAY = "2026-05-01T09:00:00Z"
WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "memory": ("/v1/memories", {"text": "The harbour opens at six.", "type": "fact"}),
    "event": ("/v1/events", {"type": "tool.execute", "occurred_at": DAY, "tool_name": "look"}),
    "note": ("/v1/nodes", {"label": "Runbook", "properties": {"text": "The harbour, in short."}}),
    "entity": ("/v1/nodes", {"label": "Entity", "kind": "place", "properties": {"name": "Quay"}}),
    "report": ("/v1/reports", {"title": "Harbour", "body": "It opens at six."}),
    "ticket": ("/v1/tickets", {"title": "Harbour", "external_id": "t-1"}),
}


@pytest.mark.parametrize("noun", WRITES)
def test_what_is_said_again_has_the_position_of_its_own_entry_whatever_changed_it_since(
    world: World, database: Database, noun: str
) -> None:
    api = Front(world.key)
    path, body = WRITES[noun]
    first = api.call("POST", path, json=body)
    with database.connect_as_superuser() as root:
        root.execute("UPDATE node SET position = position + 1000")  # as enrichment and access do
    again = api.call("POST", path, json=body)
    assert (again["id"], again["position"]) == (first["id"], first["position"])


def test_who_asks_for_a_consolidation_stands_in_the_ledger(world: World) -> None:
    api = Front(world.key, embedder=HashingEmbedder())
    run = api.call("POST", "/v1/consolidations", json={})
    found = entry(api, "consolidation.requested")
    assert found["meta"] == {"run_id": run["id"], "client": None}
    assert found["actor_id"] == str(world.admin.principal_id)


def test_who_looks_how_a_connector_is_stands_in_the_ledger(world: World) -> None:
    api = Front(world.key)
    new = {"name": "stock", "transport": "in_process", "builtin": "accounts"}
    made = api.call("POST", "/v1/connectors", json=new)
    api.call("POST", "/v1/connectors/stock/check")
    found = entry(api, "connector.checked")
    assert found["meta"]["connector_id"] == made["id"]
    assert found["actor_id"] == str(world.admin.principal_id)
