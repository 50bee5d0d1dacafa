"""Observing events over the fake and over PostgreSQL: what holds for both alike."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.support.observing import Observing, Seeing, event, seeing_in_postgres
from tests.support.remembering import NOON, fact, in_memory

from cairn.events.observe import UNKNOWN_PARENT
from cairn.events.rows import TimelineEvent
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Denied, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.memories.identity import Session
from cairn.writing.audience import Audience
from cairn.writing.items import IdempotencyKey, Outcome

ADMINS = Audience(scope="admin", agents=None, data_subjects=())


@pytest.fixture(params=["in memory", "postgres"])
def seeing(request: pytest.FixtureRequest) -> Iterator[Seeing]:
    if request.param == "in memory":
        yield Seeing(in_memory())
        return
    yield from seeing_in_postgres(request.getfixturevalue("database"))


def test_events_of_a_session_follow_each_other(seeing: Seeing) -> None:
    first, second = seeing.see_one(event(at=1)), seeing.see_one(event(at=3))
    assert seeing.edges("FOLLOWS") == {(second, first, 2000)}


def test_a_late_event_ends_the_bridged_edge_and_makes_two(seeing: Seeing) -> None:
    first, last = seeing.see_one(event(at=0)), seeing.see_one(event(at=10))
    late = seeing.see_one(event(at=4))
    assert seeing.edges("FOLLOWS") == {(late, first, 4000), (last, late, 6000)}


def test_a_batch_out_of_order_stands_in_order(seeing: Seeing) -> None:
    outcomes = seeing.see(*(event(at=at) for at in (5, 1, 3)))
    five, one, three = (each.id for each in outcomes)
    assert seeing.edges("FOLLOWS") == {(three, one, 2000), (five, three, 2000)}
    assert [each.outcome for each in outcomes] == [Outcome.CREATED] * 3


@pytest.mark.parametrize(
    "other",
    [
        {"session_id": "another"},
        {"session_id": None},
        {"scope": Scope.PUBLIC},
        {"agents": ("helper",)},
        {"data_subjects": ("ada@example.org",)},
    ],
    ids=str,
)
def test_another_session_or_audience_is_not_followed(seeing: Seeing, other: Any) -> None:
    seeing.see(event(at=0), event(at=1, **other))
    assert seeing.edges("FOLLOWS") == set()


def test_the_same_event_again_is_a_duplicate_at_another_moment_it_is_another(
    seeing: Seeing,
) -> None:
    (first,) = seeing.see(event(payload={"a": 1}))
    again, other, twin = seeing.see(
        event(payload={"a": 1}), event(payload={"a": 1}, at=1), event(payload={"a": 1}, at=1)
    )
    assert (again.outcome, again.id, again.position) == (
        Outcome.DUPLICATE,
        first.id,
        first.position,
    )
    assert (other.outcome, twin.outcome) == (Outcome.CREATED, Outcome.DUPLICATE)
    assert twin.id == other.id


def test_a_parent_is_the_direct_cause(seeing: Seeing) -> None:
    parent = seeing.see_one(event())
    child = seeing.see_one(event(at=1, parent_id=parent))
    assert seeing.edges("CAUSED_BY") == {(child, parent, "direct")}


def test_a_memory_may_be_the_cause_of_an_event(seeing: Seeing) -> None:
    parent = seeing.system.tell_one(fact("deploys need approval")).id
    child = seeing.see_one(event(parent_id=parent))
    assert seeing.edges("CAUSED_BY") == {(child, parent, "direct")}


def test_an_unknown_parent_is_a_warning_and_no_edge(seeing: Seeing) -> None:
    (outcome,) = seeing.see(event(parent_id=new_id()))
    assert (outcome.outcome, outcome.warnings) == (Outcome.CREATED, (UNKNOWN_PARENT,))
    assert seeing.edges("CAUSED_BY") == set()


def test_a_parent_the_agent_may_not_see_is_unknown(seeing: Seeing) -> None:
    hidden = seeing.see_one(event(agents=("other",)))
    agent = Principal(
        workspace_id=seeing.system.principal.workspace_id,
        principal_id=new_id(),
        role=Role.AGENT,
        allowed_scopes=frozenset({Scope.ADMIN}),
        agent_slug="me",
    )
    (outcome,) = seeing.observe(agent, [event(at=1, parent_id=hidden)]).outcomes
    assert outcome.warnings == (UNKNOWN_PARENT,)
    assert seeing.edges("CAUSED_BY") == set()


def test_a_parent_of_another_workspace_is_unknown(seeing: Seeing) -> None:
    elsewhere = Observing(in_memory()).see_one(event())
    (outcome,) = seeing.see(event(parent_id=elsewhere))
    assert outcome.warnings == (UNKNOWN_PARENT,)


def test_an_earlier_event_of_the_batch_may_be_the_parent(seeing: Seeing) -> None:
    cause, effect = seeing.see(event(at=5), event(at=1, parent_item=0))
    assert seeing.edges("CAUSED_BY") == {(effect.id, cause.id, "direct")}


@pytest.mark.parametrize("place", [1, 2, -1])
def test_an_event_is_not_its_own_parent_nor_that_of_an_earlier_one(
    seeing: Seeing, place: int
) -> None:
    first, refused = seeing.see(event(), event(at=1, parent_item=place))
    assert first.outcome is Outcome.CREATED
    assert refused.outcome is Outcome.REJECTED
    assert isinstance(refused.error, ValidationFailed)


def test_a_duplicate_that_names_itself_as_parent_changes_nothing(seeing: Seeing) -> None:
    itself = seeing.see_one(event())
    (outcome,) = seeing.see(event(parent_id=itself))
    assert (outcome.outcome, outcome.id) == (Outcome.DUPLICATE, itself)
    assert seeing.edges("CAUSED_BY") == set()


def test_a_refused_event_leaves_the_others(seeing: Seeing) -> None:
    refused, good = seeing.see(event("not a type"), event())
    assert refused.error is not None
    assert "dot-namespaced" in refused.error.detail
    assert good.outcome is Outcome.CREATED


def test_an_idempotency_key_gives_the_first_answer_again(seeing: Seeing) -> None:
    key = IdempotencyKey(key="k", body_hash=b"h" * 32)
    first = seeing.observe(seeing.system.principal, [event()], idempotency=key)
    again = seeing.observe(seeing.system.principal, [event()], idempotency=key)
    assert again.replayed
    assert again.outcomes == first.outcomes


def test_a_reader_may_not_observe(seeing: Seeing) -> None:
    reader = Principal(
        workspace_id=seeing.system.principal.workspace_id,
        principal_id=new_id(),
        role=Role.PUBLIC,
        allowed_scopes=frozenset({Scope.PUBLIC}),
        agent_slug="site",
    )
    with pytest.raises(Denied):
        seeing.observe(reader, [event(scope=Scope.PUBLIC)])


def test_around_gives_the_nearest_on_either_side(seeing: Seeing) -> None:
    ids = [seeing.see_one(event(at=at)) for at in range(0, 50, 10)]
    session = Session(session_id="s", audience=ADMINS)
    place = TimelineEvent(id=new_id(), occurred_at=NOON + timedelta(seconds=25))
    with seeing.system.transactions.reading(seeing.system.principal) as stores:
        found = stores.events.around([(session, place)])[session]
    assert {item.id for item in found} == {ids[2], ids[3]}
    assert all(item.follows_edge for item in found)
