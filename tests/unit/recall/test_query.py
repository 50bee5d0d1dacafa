"""What may be asked, and how a refusal reads."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.unit.recall.fakes import principal

from cairn.kernel.access import Role, Scope
from cairn.kernel.errors import Denied, TooLarge, ValidationFailed
from cairn.llm.port import Role as Speaker
from cairn.recall.query import MAX_QUERY_CHARS, SearchRequest, check, filters_of
from cairn.recall.questions.gate import Turn
from cairn.recall.recipes import DEFAULT

WHEN = datetime(2026, 1, 1, tzinfo=UTC)
NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 101}, "limit"),
        ({"neighbours": 6}, "neighbours"),
        ({"neighbours": -1}, "neighbours"),
        ({"kinds": ("event", "opinion")}, "kinds.1"),
        ({"labels": ("memory",)}, "labels.0"),
        ({"labels": ("A",) * 21}, "labels"),
        ({"format": "short"}, "format"),
        ({"recipe": "mine"}, "recipe"),
        ({"as_of": -1}, "as_of"),
        ({"as_of": NAIVE}, "as_of"),
        ({"valid_at": NAIVE}, "valid_at"),
        ({"occurred_from": WHEN, "occurred_to": WHEN - timedelta(days=1)}, "occurred_to"),
        ({"query": "  "}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": "\ud800"}, "query"),
    ],
)
def test_a_fault_is_named_by_its_place(changes: dict[str, Any], place: str) -> None:
    request = SearchRequest(**({"query": "anything"} | changes))

    with pytest.raises(ValidationFailed) as refused:
        check(request, principal())

    assert [error.location for error in refused.value.errors] == [place]


def test_every_fault_is_reported_at_once() -> None:
    request = SearchRequest(query="anything", limit=0, kinds=("x",), valid_at=NAIVE)

    with pytest.raises(ValidationFailed) as refused:
        check(request, principal())

    places = [error.location for error in refused.value.errors]
    assert places == ["limit", "kinds.0", "valid_at"]


def test_a_query_over_the_limit_is_too_large() -> None:
    with pytest.raises(TooLarge):
        check(SearchRequest(query="a" * (MAX_QUERY_CHARS + 1)), principal())


def test_a_scope_that_was_not_granted_is_denied() -> None:
    public = principal(role=Role.PUBLIC, allowed_scopes=frozenset({Scope.PUBLIC}), agent_slug="a")

    check(SearchRequest(query="anything", scopes=(Scope.PUBLIC,)), public)
    with pytest.raises(Denied):
        check(SearchRequest(query="anything", scopes=(Scope.ADMIN,)), public)


def test_filters_are_the_request_with_the_moment_resolved() -> None:
    request = SearchRequest(
        query="anything",
        kinds=("fact",),
        labels=("Memory",),
        client_id="acme",
        scopes=(Scope.ADMIN,),
        occurred_from=WHEN,
        valid_at=WHEN,
        as_of=WHEN,
        include_superseded=True,
    )

    filters = filters_of(request, DEFAULT, as_of_position=12)

    assert filters.as_of_position == 12
    assert (filters.kinds, filters.labels, filters.client_id) == (("fact",), ("Memory",), "acme")
    assert (filters.occurred_from, filters.occurred_to, filters.valid_at) == (WHEN, None, WHEN)
    assert (filters.scopes, filters.include_superseded) == ((Scope.ADMIN,), True)


@pytest.mark.parametrize(
    ("asked", "location"),
    [
        ({"stages": {"magic": True}}, "stages.magic"),
        ({"intent": "because"}, "intent"),
        ({"fields": ("text",) * 51}, "fields"),
        ({"expand_hops": 2}, "expand_hops"),
        ({"clients": tuple("abcdef")}, "clients"),
        ({"clients": ("a",), "client_id": "a"}, "clients"),
        ({"method": "walk"}, "method"),
        ({"method": "ppr", "stages": {"graph": False}}, "method"),
        ({"expand_hops": -1}, "expand_hops"),
        ({"max_chars": 0}, "max_chars"),
        ({"max_chars": 999}, "max_chars"),
        ({"history": (Turn(role=Speaker.USER, text="x"),) * 21}, "history"),
        ({"history": (Turn(role=Speaker.USER, text="x" * 4001),)}, "history.0.text"),
    ],
)
def test_choices_nobody_has_are_refused(asked: dict[str, Any], location: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        check(SearchRequest(query="note", **asked), principal())
    assert [error.location for error in refused.value.errors] == [location]
