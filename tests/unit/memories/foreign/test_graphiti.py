"""Exports of Graphiti: episodes, entities and facts, what replaced what, and what is missing."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cairn.memories.foreign.graphiti import read_graphiti
from cairn.memories.foreign.items import (
    Defaults,
    ExportValue,
    ForeignMemory,
    Item,
    Lost,
    Skipped,
    Unreadable,
)
from cairn.memories.kinds import MemoryKind

EPISODE = {
    "uuid": "ep-1", "name": "chat 1", "group_id": "ada", "labels": [],
    "created_at": "2026-01-02T10:00:00Z", "source": "message",
    "source_description": "support chat", "content": "Ada: I moved from Acme to Globex.",
    "valid_at": "2026-01-01T09:00:00Z", "entity_edges": ["ed-2"],
}  # fmt: skip
ADA = {"uuid": "en-1", "name": "Ada", "group_id": "ada", "labels": ["Entity"],
       "created_at": "2026-01-02T10:00:00Z", "name_embedding": None,
       "summary": "Ada is an engineer.", "attributes": {}}  # fmt: skip
ACME = ADA | {"uuid": "en-2", "name": "Acme", "summary": ""}
GLOBEX = ADA | {"uuid": "en-3", "name": "Globex", "summary": ""}
WORKED = {
    "uuid": "ed-1", "group_id": "ada", "source_node_uuid": "en-1", "target_node_uuid": "en-2",
    "created_at": "2025-05-01T00:00:00Z", "name": "WORKS_AT", "fact": "Ada works at Acme.",
    "fact_embedding": None, "episodes": [], "expired_at": "2026-01-02T10:00:00Z",
    "valid_at": "2025-04-01T00:00:00Z", "invalid_at": "2026-01-01T00:00:00Z", "attributes": {},
}  # fmt: skip
WORKS = WORKED | {
    "uuid": "ed-2", "target_node_uuid": "en-3", "fact": "Ada works at Globex.",
    "created_at": "2026-01-02T10:00:00Z", "episodes": ["ep-1"], "expired_at": None,
    "valid_at": "2026-01-01T00:00:00Z", "invalid_at": None,
}  # fmt: skip
GRAPH = {"episodes": [EPISODE], "nodes": [ADA, ACME, GLOBEX], "edges": [WORKS, WORKED]}


def read(value: Any) -> list[Item]:
    return list(read_graphiti([ExportValue(name="graph.json", value=value)], Defaults()))


def memories(value: Any) -> dict[str, ForeignMemory]:
    return {item.record: item for item in read(value) if isinstance(item, ForeignMemory)}


def test_episodes_are_events_and_facts_and_summaries_are_facts() -> None:
    found = memories(GRAPH)
    assert {record: one.new.type for record, one in found.items()} == {
        "ep-1": MemoryKind.EVENT,
        "en-1": MemoryKind.FACT,
        "ed-1": MemoryKind.FACT,
        "ed-2": MemoryKind.FACT,
    }
    assert found["ep-1"].new.occurred_at == datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert found["ep-1"].new.metadata["source_description"] == "support chat"
    assert found["en-1"].new.text == "Ada: Ada is an engineer."
    assert found["ed-2"].new.data_subjects == ("ada",)


def test_a_fact_that_ended_when_another_of_its_entity_began_is_in_one_chain_with_it() -> None:
    found = memories(GRAPH)
    assert found["ed-1"].new.key == found["ed-2"].new.key == "graphiti:ed-1"
    assert found["ed-1"].new.valid_to == found["ed-2"].new.valid_from
    assert (found["ed-1"].ended, found["ed-2"].ended) == (True, False)
    assert list(found)[-2:] == ["ed-1", "ed-2"], "the older first, so that it is replaced"


def test_a_fact_that_just_ended_keeps_its_end_and_has_no_chain() -> None:
    ended = memories({"nodes": [ADA, ACME], "edges": [WORKED]})["ed-1"]
    assert (ended.new.key, ended.ended) == (None, True)
    assert ended.new.valid_to == datetime(2026, 1, 1, tzinfo=UTC)


def test_two_that_could_have_replaced_it_are_no_chain() -> None:
    other = WORKS | {"uuid": "ed-3", "fact": "Ada lives in Lille."}
    found = memories({"nodes": [ADA, ACME, GLOBEX], "edges": [WORKED, WORKS, other]})
    assert {item.new.key for item in found.values() if item.record.startswith("ed")} == {None}


def test_edges_to_what_the_export_does_not_hold_are_lost() -> None:
    lost = [item for item in read({**GRAPH, "nodes": [ADA, ACME]}) if isinstance(item, Lost)]
    assert lost == [Lost(record="ed-2", why="its entity en-3 is not there")]
    assert not any(isinstance(item, Lost) for item in read({"edges": [WORKS]}))


def test_a_record_a_line_is_read_like_the_whole() -> None:
    lines = [
        ExportValue(name=f"line {n}", value=one) for n, one in enumerate((EPISODE, ADA, WORKS))
    ]
    found = [item for item in read_graphiti(lines, Defaults()) if isinstance(item, ForeignMemory)]
    assert [item.record for item in found] == ["ep-1", "en-1", "ed-2"]


def test_what_says_nothing_by_itself_is_skipped_and_says_why() -> None:
    mention = {"uuid": "x", "source_node_uuid": "ep-1", "target_node_uuid": "en-1"}
    community = ADA | {"uuid": "c", "labels": ["Community"]}
    found = read({"nodes": [ACME, community], "episodic_edges": [mention]})
    assert all(isinstance(item, Skipped) for item in found)
    assert len(found) == 3


@pytest.mark.parametrize("group", ["", "_", "default", "main"])
def test_a_group_nobody_named_is_nobodys_data(group: str) -> None:
    assert memories([EPISODE | {"group_id": group}])["ep-1"].new.data_subjects == ()


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (WORKS | {"fact": 7}, "fact is a number, not a text"),
        (WORKS | {"valid_at": "soon"}, "valid_at is no time: soon"),
        (WORKED | {"invalid_at": "2020-01-01T00:00:00Z"}, "invalid_at is before valid_at"),
        (WORKS | {"episodes": [1]}, "episodes holds something other than texts"),
        (WORKS | {"source_node_uuid": None}, "source_node_uuid is missing"),
        ({"name": "Ada"}, "uuid is missing"),
        (
            {"uuid": "u"},
            "is no episode, entity or edge: content, name and fact are missing",
        ),
        (
            {"uuid": "u", "content": "said"},
            "valid_at and created_at are missing: when it happened is not known",
        ),
    ],
)
def test_a_bad_record_is_named_and_the_others_stand(record: dict[str, Any], why: str) -> None:
    found = read([record, EPISODE])
    assert Unreadable(name="graph.json[0]", why=why) in found
    assert any(isinstance(item, ForeignMemory) for item in found)
