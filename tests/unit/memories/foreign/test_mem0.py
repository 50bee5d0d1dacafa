"""Exports of mem0: every documented shape is read; a bad record is named and leaves the others."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cairn.kernel.access import Scope
from cairn.memories.foreign.items import Defaults, ExportValue, ForeignMemory, Item, Unreadable
from cairn.memories.foreign.mem0 import read_mem0
from cairn.memories.kinds import MemoryKind

MEMORY = {
    "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
    "memory": "User is planning to watch a film tonight.",
    "hash": "f1a2",
    "metadata": {"category": "films"},
    "created_at": "2024-02-26T10:33:20.557781-08:00",
    "updated_at": None,
    "user_id": "alice",
    "agent_id": "concierge",
    "run_id": "trip-7",
}


def read(value: Any, **defaults: Any) -> list[Item]:
    return list(read_mem0([ExportValue(name="export.json", value=value)], Defaults(**defaults)))


def one(value: Any, **defaults: Any) -> ForeignMemory:
    [item] = read(value, **defaults)
    assert isinstance(item, ForeignMemory)
    return item


@pytest.mark.parametrize(
    "wrapped",
    [{"results": [MEMORY], "relations": []}, {"memories": [MEMORY]}, [MEMORY], MEMORY],
    ids=["get_all", "memories", "a list", "a line"],
)
def test_every_documented_shape_holds_the_same_memory(wrapped: Any) -> None:
    found = one(wrapped)
    assert found.record == MEMORY["id"]
    assert found.new.text == MEMORY["memory"]
    assert found.new.type is MemoryKind.FACT
    assert found.new.data_subjects == ("alice",)
    assert found.new.source_agent == "concierge"
    assert found.new.session_id == "trip-7"
    assert found.new.metadata["category"] == "films"
    assert found.new.metadata["imported"] == {"mem0_id": MEMORY["id"], "run_id": "trip-7"}


def test_it_holds_since_it_was_last_updated_and_a_time_without_a_zone_is_utc() -> None:
    assert one(MEMORY).new.valid_from == datetime.fromisoformat(str(MEMORY["created_at"]))
    later = one(MEMORY | {"updated_at": "2024-03-01T08:00:00"})
    assert later.new.valid_from == datetime(2024, 3, 1, 8, tzinfo=UTC)


def test_client_and_scope_are_the_importers_choice() -> None:
    found = one(MEMORY, client_id="acme", scope=Scope.SHARED)
    assert (found.new.client_id, found.new.scope) == ("acme", Scope.SHARED)


def test_relations_become_sentences() -> None:
    found = one({"results": [], "relations": [
        {"source": "alice", "relationship": "works_at", "target": "acme_corp"}
    ]})  # fmt: skip
    assert found.new.text == "alice works at acme corp"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"memory": 7}, "memory is a number, not a text"),
        ({"memory": None}, "memory is missing"),
        ({"memory": "  "}, "memory is empty"),
        ({"metadata": ["a"]}, "metadata is a list, not an object"),
        ({"created_at": "yesterday"}, "created_at is no time: yesterday"),
        ({"created_at": 1700000000}, "created_at is a number, not a text"),
        ({"user_id": {"name": "alice"}}, "user_id is an object, not a text"),
        ({"user_id": "a" * 300}, "user_id is longer than 256 characters"),
    ],
)
def test_a_bad_field_is_named_with_its_record_and_the_others_stand(
    change: dict[str, Any], why: str
) -> None:
    bad, good = read({"results": [MEMORY | change, MEMORY]})
    assert bad == Unreadable(name="results[0]", why=why)
    assert isinstance(good, ForeignMemory)


@pytest.mark.parametrize(
    ("value", "name", "why"),
    [
        ({"results": "none"}, "results", "is a text, not a list"),
        ({"results": [None]}, "results[0]", "is null, not an object"),
        ([True], "export.json[0]", "is true or false, not an object"),
        ("a text", "export.json", "is a text, not an object"),
        ({"detail": "unauthorized"}, "export.json", "memory is missing"),
    ],
)
def test_what_is_no_export_says_so(value: Any, name: str, why: str) -> None:
    assert read(value) == [Unreadable(name=name, why=why)]
