"""Writes through the API as it is wired, over PostgreSQL, and what the ledger says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database
    from tests.support.world import World


@pytest.fixture
def world(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
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


PHONE, CALL = "+49 170 5550123", "call of 555-0123"
SAID: dict[str, dict[str, Any]] = {
    "/v1/memories": {"text": "He rang.", "type": "event", "sequence": 1},
    "/v1/events": {"type": "call.taken", "occurred_at": DAY},
    "/v1/nodes": {"label": "Entity", "kind": "person", "properties": {"name": "Ada"}},
    "/v1/tasks": {"title": "Ring back", "kind": "call"},
}


@pytest.mark.parametrize("path", SAID)
def test_a_session_or_trace_named_for_a_person_stands_in_sealed_bodies_alone(
    world: World, database: Database, path: str
) -> None:
    api = Front(world.key)
    random = {"session_id": str(new_id()), "trace_id": new_id().hex}
    made = []
    for scope, origin in (
        ("admin", {"session_id": PHONE, "trace_id": CALL}),
        ("shared", random),  # so that it is another one, whatever it is
    ):
        done = api.call("POST", path, json={**SAID[path], "scope": scope, **origin})
        made.append((done["id"], (origin["session_id"], origin["trace_id"])))
    with database.connect_as_superuser() as root:
        kept = "SELECT id, (session_id, trace_id) FROM node WHERE id = ANY (%s)"
        assert dict(root.execute(kept, [[one for one, _ in made]])) == {
            UUID(one): origin for one, origin in made
        }
        entries = "SELECT session_id, trace_id, l::text FROM ledger l WHERE workspace_id = %s"
        rows = root.execute(entries, [world.workspace_id]).fetchall()
    assert {row[:2] for row in rows if row[0]} == {(random["session_id"], random["trace_id"])}
    assert not [row for row in rows if "555" in f"{row[:2]}" or PHONE in row[2] or CALL in row[2]]
    assert api.call("GET", "/v1/ledger/verify")["ok"]
