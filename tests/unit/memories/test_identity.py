"""When two memories are the same, and which chain one belongs to."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.unit.memories.drafts import ADMINS, NOON, draft

from cairn.memories.identity import chain_key, dedup_key
from cairn.memories.kinds import MemoryKind

SOMEBODY, SOMEBODY_ELSE = UUID(int=1), UUID(int=2)


def test_the_same_words_are_the_same_memory_whoever_says_them_and_when() -> None:
    later = draft(source_agent="two", occurred_at=NOON + timedelta(days=1), importance=9)
    assert dedup_key(later) == dedup_key(draft())


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "acme"},
        {"kind": MemoryKind.DECISION},
        {"key": "stove"},
        {"subject": "stove"},
        {"status_value": "lit"},
        {"audience": replace(ADMINS, scope="public")},
        {"audience": replace(ADMINS, agents=("cook",))},
        {"audience": replace(ADMINS, data_subjects=(SOMEBODY,))},
    ],
    ids=lambda changes: ", ".join(changes),
)
def test_another_audience_or_another_matter_is_another_memory(changes: dict[str, Any]) -> None:
    assert dedup_key(draft(**changes)) != dedup_key(draft())


def test_other_words_are_another_memory() -> None:
    assert dedup_key(draft("the hut has no stove")) != dedup_key(draft())


def test_the_order_of_agents_and_persons_does_not_matter() -> None:
    one = replace(ADMINS, agents=("a", "b"), data_subjects=(SOMEBODY, SOMEBODY_ELSE))
    other = replace(ADMINS, agents=("b", "a"), data_subjects=(SOMEBODY_ELSE, SOMEBODY))
    assert dedup_key(draft(audience=one)) == dedup_key(draft(audience=other))


def test_untagged_is_not_the_same_as_tagged_for_nobody() -> None:
    assert dedup_key(draft(audience=replace(ADMINS, agents=()))) != dedup_key(draft())


def test_parts_do_not_run_into_each_other() -> None:
    assert dedup_key(draft(key="a", subject=None)) != dedup_key(draft(key=None, subject="a"))


@pytest.mark.parametrize(
    "changes",
    [
        {"occurred_at": NOON + timedelta(seconds=1)},
        {"session_id": "s"},
        {"session_id": "s", "sequence": 2},
    ],
    ids=str,
)
def test_an_event_is_known_by_when_and_where_it_happened_too(changes: dict[str, Any]) -> None:
    event = draft(kind=MemoryKind.EVENT)
    assert dedup_key(replace(event, **changes)) != dedup_key(event)


def test_facts_are_chained_by_key_and_statuses_by_subject() -> None:
    fact = draft(key="stove", subject="hut")
    status = draft(kind=MemoryKind.STATUS, key="stove", subject="hut")
    assert chain_key(fact) == chain_key(replace(fact, text="x", content_hash="y", subject="other"))
    assert chain_key(fact) != chain_key(replace(fact, key="door"))
    assert chain_key(status) == chain_key(replace(status, key="door", status_value="lit"))
    assert chain_key(status) != chain_key(replace(status, subject="other"))


@pytest.mark.parametrize("kind", [MemoryKind.EVENT, MemoryKind.DECISION])
def test_events_and_decisions_are_never_replaced(kind: MemoryKind) -> None:
    assert chain_key(draft(kind=kind, key="k", subject="s")) is None


def test_without_a_key_or_a_subject_there_is_no_chain_but_a_warning() -> None:
    fact, status = draft(), draft(kind=MemoryKind.STATUS)
    assert chain_key(fact) is None
    assert chain_key(status) is None
    assert "key" in fact.warnings()[0]
    assert "subject" in status.warnings()[0]
    assert not draft(key="k").warnings()
    assert not draft(kind=MemoryKind.EVENT).warnings()


def test_memories_of_different_audiences_do_not_share_a_chain() -> None:
    public = draft(key="k", audience=replace(ADMINS, scope="public"))
    assert chain_key(public) != chain_key(draft(key="k"))
