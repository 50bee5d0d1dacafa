"""What the graph holds of a person, at the API's door: as it was, taken out, and in searches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.storage import test_search_front
from tests.integration.storage.test_namespaces import rebuilds_alike
from tests.support.platform import platform_of

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.profiles.keep import KeepProfiles

if TYPE_CHECKING:
    from tests.integration.storage.test_search_front import Door

door = test_search_front.door
PATTERN = "ada: tool.execute with book_table, again and again"


def say(door: Door, text: str, client: str = "ada") -> str:
    memory = {"type": "fact", "text": text, "client_id": client}
    written = door.api.call("POST", "/v1/memories", json=memory)
    return str(written["id"])


def book(door: Door, *days: str) -> None:
    """Book a table for Ada on each of these days."""
    for day in days:
        event = {"type": "tool.execute", "tool_name": "book_table", "client_id": "ada"}
        more = {"session_id": day, "payload": {"day": day}}
        door.api.call("POST", "/v1/events", json={**event, **more})


def keep(door: Door) -> dict[str, int]:
    """Derive profiles as a consolidation does; return the counts that are not 0."""
    door.enrich()
    keys = FileKeyStore(door.folder / "keys")
    platform = platform_of(StoreTransactions(door.world.pool), keys=keys)
    counts = KeepProfiles(platform)(door.world.workspace_id, seconds=60)
    door.enrich()
    return {name: count for name, count in counts.items() if count}


def node_of(door: Door, name: str) -> str:
    """Return the id of the entity of a client."""
    params = {"label": "Entity", "limit": 200}
    items = door.api.call("GET", "/v1/nodes", params=params)["items"]
    return next(each["id"] for each in items if name in (each["text"], each["title"]))


def held(door: Door, **more: Any) -> dict[str, set[str]]:
    """Return what hangs from Ada's entity by the relations of profiles, and its nodes' texts."""
    asked = {"node_ids": [node_of(door, "ada")], "max_depth": 2, "max_nodes": 100, **more}
    walked = door.api.call("POST", "/v1/query/subgraph", json=asked)
    texts = {each["node_id"]: each["text"] for each in walked["nodes"]}
    ends: dict[str, set[str]] = {}
    for edge in walked["edges"]:
        if edge["relation"] in ("HAS_PROFILE", "INTERESTED_IN", "EXHIBITS_PATTERN", "HAS_SKILL"):
            ends.setdefault(edge["relation"], set()).add(texts[edge["target_id"]])
    return ends


def position(door: Door) -> int:
    return int(door.api.call("GET", "/v1/ledger/verify")["head_position"])


def test_a_profile_is_shown_as_it_was_when_it_was_derived(door: Door) -> None:
    liked = say(door, "Ada loves PostgreSQL.")
    before = position(door)
    keep(door)
    then = position(door)
    door.api.call("DELETE", f"/v1/memories/{liked}")
    say(door, "Ada loves Redis.")
    keep(door)
    assert held(door)["INTERESTED_IN"] == {"Redis"}
    assert held(door, as_of=then)["INTERESTED_IN"] == {"PostgreSQL"}
    assert held(door, as_of=then)["HAS_PROFILE"] == {"Profile of ada"}
    assert "INTERESTED_IN" not in held(door, as_of=before)


def take_out(door: Door, text: str) -> None:
    """Delete the node that a walk from Ada shows under a text."""
    asked = {"node_ids": [node_of(door, "ada")], "max_depth": 2, "max_nodes": 100}
    walked = door.api.call("POST", "/v1/query/subgraph", json=asked)
    (node,) = [each["node_id"] for each in walked["nodes"] if each["text"] == text]
    door.api.call("DELETE", f"/v1/nodes/{node}")


def patterns(door: Door) -> list[str]:
    profile = door.api.call("GET", "/v1/profile", params={"client_id": "ada"})
    return [each["tool_name"] for each in profile["patterns"]]


def test_a_pattern_or_profile_that_somebody_took_out_does_not_come_back_with_the_next_run(
    door: Door,
) -> None:
    book(door, "monday", "tuesday", "wednesday")
    say(door, "Ada loves Redis.")
    keep(door)
    assert (patterns(door), held(door)["EXHIBITS_PATTERN"]) == (["book_table"], {PATTERN})
    take_out(door, PATTERN)
    assert patterns(door) == [], "at once, without a run"
    book(door, "thursday", "friday")
    assert keep(door)["profiles"] == 1
    assert "EXHIBITS_PATTERN" not in held(door)
    assert patterns(door) == []
    assert held(door)["INTERESTED_IN"] == {"Redis"}
    while "HAS_PROFILE" in held(door):
        take_out(door, "Profile of ada")
    say(door, "Ada loves Kafka.")
    keep(door)
    assert held(door) == {}
    assert rebuilds_alike(door)
    after = position(door)
    assert keep(door) == {}
    assert position(door) == after, "nothing is written of whom nothing is to be held"
