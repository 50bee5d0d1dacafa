"""From what a caller sent to a draft: what is refused, with which field, and what is assumed."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from tests.support.remembering import NOON, admin_of, fact

from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Denied, TooLarge, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.memories.draft import draft_memory
from cairn.memories.kinds import Category, MemoryKind
from cairn.writing.checks import MAX_TEXT_CHARS, moment, owners

ADMIN = admin_of(new_id())
BOUND = replace(ADMIN, role=Role.AGENT, agent_slug="cook")


def draft(principal: Principal = ADMIN, text: str = "a", **changes: Any):
    return draft_memory(fact(text, **changes), principal, NOON)


def test_times_that_are_not_given_follow_from_each_other_and_from_now() -> None:
    assert (draft().occurred_at, draft().valid_from, draft().valid_to) == (NOON, NOON, None)
    before = NOON - timedelta(days=3)
    assert draft(occurred_at=before).valid_from == before


@pytest.mark.parametrize(
    "changes",
    [
        {"text": ""},
        {"text": " \n "},
        {"text": "nul \x00"},
        {"text": "half \ud800"},
        {"key": " "},
        {"subject": "x\x00"},
        {"occurred_at": NOON.replace(tzinfo=None)},
        {"valid_from": datetime(1899, 12, 31, tzinfo=UTC)},
        {"valid_to": datetime(2201, 1, 1, tzinfo=UTC)},
        {"valid_to": NOON - timedelta(seconds=1)},
        {"metadata": json.loads('{"a": ' * 11 + "1" + "}" * 11)},
        {"agents": tuple(f"agent-{n}" for n in range(51))},
    ],
    ids=lambda changes: ", ".join(changes),
)
def test_what_cannot_be_kept_names_its_field(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed) as refused:
        draft(**changes)
    (field,) = changes
    assert [error.location.split(".")[0] for error in refused.value.errors] == [field]


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "x" * (MAX_TEXT_CHARS + 1)},
        {"key": "k" * 257},
        {"metadata": {"a": "x" * 20_000}},
    ],
    ids=lambda changes: ", ".join(changes),
)
def test_what_is_too_long_is_too_large(changes: dict[str, Any]) -> None:
    with pytest.raises(TooLarge):
        draft(**changes)


def test_the_longest_text_is_taken() -> None:
    assert len(draft(text="x y " * (MAX_TEXT_CHARS // 4)).text) <= MAX_TEXT_CHARS


def test_a_moment_may_be_in_any_zone_and_at_the_edges() -> None:
    zone = timezone(timedelta(hours=-7))
    assert moment(datetime(2026, 5, 1, 5, tzinfo=zone), "x") == NOON
    for year in (1900, 2200):
        assert moment(datetime(year, 6, 1, tzinfo=UTC), "x")


def test_names_and_metadata_lose_their_secrets_too() -> None:
    made = draft(key="AKIAIOSFODNN7EXAMPLE", metadata={"password": "hunter2hunter2"})
    assert "AKIA" not in (made.key or "")
    assert "hunter2" not in str(made.metadata)


def test_the_hash_is_of_the_scrubbed_text() -> None:
    one, other = draft(text="key AKIAIOSFODNN7EXAMPLE"), draft(text="key AKIAIOSFODNN7EXAMPLF")
    assert one.text == other.text
    assert one.content_hash == other.content_hash


@pytest.mark.parametrize(
    ("kind", "category"),
    [(MemoryKind.EVENT, Category.EPISODIC), (MemoryKind.DECISION, Category.SEMANTIC)],
)
def test_a_kind_has_its_category_unless_told(kind: MemoryKind, category: Category) -> None:
    assert draft(type=kind).category == category
    assert draft(type=kind, category="procedural").category == Category.PROCEDURAL


def test_a_scope_the_key_has_not_is_denied() -> None:
    narrow = replace(ADMIN, allowed_scopes=frozenset({Scope.PUBLIC}))
    with pytest.raises(Denied):
        draft(narrow, scope=Scope.ADMIN)


def test_without_a_scope_the_narrowest_of_the_key_is_taken() -> None:
    for allowed, taken in [
        ({Scope.PUBLIC, Scope.SHARED, Scope.ADMIN}, Scope.ADMIN),
        ({Scope.PUBLIC, Scope.SHARED}, Scope.SHARED),
        ({Scope.PUBLIC}, Scope.PUBLIC),
    ]:
        narrow = replace(ADMIN, allowed_scopes=frozenset(allowed))
        assert draft(narrow, scope=None).audience.scope is taken


def test_agents_are_sorted_once_and_none_is_everybody() -> None:
    assert draft(agents=("b", "a", "b")).audience.agents == ("a", "b")
    assert draft().audience.agents is None


def test_a_key_bound_to_an_agent_writes_as_and_for_that_agent_only() -> None:
    made = draft(BOUND)
    assert (made.audience.agents, made.source_agent) == (("cook",), "cook")
    assert draft(BOUND, agents=("cook",), source_agent="cook").source_agent == "cook"
    with pytest.raises(Denied):
        draft(BOUND, agents=("cook", "waiter"))
    with pytest.raises(Denied):
        draft(BOUND, source_agent="waiter")


def test_a_free_key_says_who_speaks_or_is_named_itself() -> None:
    assert draft(source_agent="waiter").source_agent == "waiter"
    assert draft().source_agent == "admin"
    assert draft(replace(ADMIN, name="")).source_agent == Role.ADMIN


def test_owners_are_the_client_unless_global_and_each_person_once() -> None:
    assert owners("global", ()) == ()
    assert owners("acme", ("ada", "bob", "ada")) == (
        ("client", "acme"),
        ("person", "ada"),
        ("person", "bob"),
    )
    with pytest.raises(ValidationFailed):
        owners("acme", tuple(f"person-{n}" for n in range(51)))
