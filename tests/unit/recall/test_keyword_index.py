"""The keyword leg over an index: what the guard says, when the database answers, how it rests."""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from uuid import UUID

import pytest

from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.errors import Unavailable
from cairn.recall.keyword_index import (
    REST_SECONDS,
    FallbackKeywordLeg,
    IndexAnswer,
    IndexedKeywordLeg,
    NotedCandidates,
)
from cairn.recall.legs import run_legs
from cairn.recall.records import Candidate, Filters

WHO = Principal(
    workspace_id=UUID(int=1),
    principal_id=UUID(int=2),
    role=Role.ADMIN,
    allowed_scopes=ALL_SCOPES,
    name="who",
)
IDS = [UUID(int=number) for number in range(10, 20)]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Index:
    """Answers with all ids, best first, or fails."""

    fails: str | None = None
    asked: list[int] = field(default_factory=list[int])

    def find(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> IndexAnswer:
        self.asked.append(limit)
        if self.fails:
            raise Unavailable("no", reason=self.fails)
        return IndexAnswer("n1", [Candidate(one, 20.0 - at) for at, one in enumerate(IDS)][:limit])


@dataclass
class Leg:
    """A leg that finds one node, does something first, and remembers its deadline."""

    finds: UUID = IDS[0]
    fails: str | None = None
    first: Callable[[], None] = lambda: None
    deadlines: list[int] = field(default_factory=list[int])

    def search(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        self.deadlines.append(timeout_ms)
        self.first()
        if self.fails:
            raise Unavailable("no", reason=self.fails)
        return (Candidate(self.finds, 1.0),)


def admits(*numbers: int) -> Callable[..., frozenset[UUID]]:
    def guard(
        principal: Principal,
        node_ids: Collection[UUID],
        filters: Filters,
        index_name: str,
        timeout_ms: int,
    ) -> frozenset[UUID]:
        assert index_name == "n1"
        return frozenset(IDS[number] for number in numbers) & set(node_ids)

    return guard


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as threads:
        yield threads


def ask(leg: FallbackKeywordLeg | IndexedKeywordLeg, limit: int = 3, **filters: int) -> list[UUID]:
    found = leg.search(WHO, ["word"], Filters(**filters), limit=limit, timeout_ms=1000)
    return [item.node_id for item in found]


def note(leg: FallbackKeywordLeg) -> str | None:
    found = leg.search(WHO, ["word"], Filters(), limit=3, timeout_ms=1000)
    return found.note if isinstance(found, NotedCandidates) else None


def test_only_what_the_guard_names_passes_in_the_order_of_the_index() -> None:
    leg = IndexedKeywordLeg(index=Index(), guard=admits(5, 0, 2), stopwatch=Clock())
    assert ask(leg, limit=10) == [IDS[0], IDS[2], IDS[5]]


def test_more_than_wanted_are_asked_for_and_no_more_than_wanted_come() -> None:
    index = Index()
    leg = IndexedKeywordLeg(index=index, guard=admits(*range(10)), stopwatch=Clock())
    assert ask(leg, limit=5) == IDS[:5]
    assert index.asked == [6]


def test_no_terms_ask_nobody() -> None:
    index = Index()
    leg = IndexedKeywordLeg(index=index, guard=admits(), stopwatch=Clock())
    assert leg.search(WHO, [], Filters(), limit=3, timeout_ms=1000) == ()
    assert index.asked == []


def test_an_index_that_took_all_the_time_leaves_none_to_the_guard() -> None:
    clock = Clock()

    class Slow(Index):
        def find(self, *given: object, **named: object) -> IndexAnswer:  # type: ignore[override]
            clock.now += 1.5
            return IndexAnswer("n1", [])

    leg = IndexedKeywordLeg(index=Slow(), guard=admits(), stopwatch=clock)
    with pytest.raises(Unavailable) as refused:
        ask(leg)
    assert refused.value.reason == "timed-out"


def fallback(primary: Leg, pool: ThreadPoolExecutor, clock: Clock) -> FallbackKeywordLeg:
    return FallbackKeywordLeg(
        primary=primary, secondary=Leg(finds=IDS[9]), pool=pool, stopwatch=clock
    )


def test_the_primary_answers_within_half_the_time(pool: ThreadPoolExecutor) -> None:
    primary = Leg()
    leg = fallback(primary, pool, Clock())
    assert ask(leg) == [IDS[0]]
    assert note(leg) is None
    assert primary.deadlines == [500, 500]


def test_a_failing_primary_is_answered_for_and_named(pool: ThreadPoolExecutor) -> None:
    leg = fallback(Leg(fails="red"), pool, Clock())
    assert note(leg) == "opensearch red, answered by postgresql"
    assert ask(leg) == [IDS[9]]


def test_it_rests_and_then_one_search_tries_again(pool: ThreadPoolExecutor) -> None:
    clock, primary = Clock(), Leg(fails="red")
    leg = fallback(primary, pool, clock)
    for _ in range(3):
        assert note(leg) == "opensearch red, answered by postgresql"
    assert len(primary.deadlines) == 1
    clock.now += REST_SECONDS
    primary.fails = None
    assert note(leg) is None
    assert note(leg) is None
    assert len(primary.deadlines) == 3


def test_while_one_tries_again_the_others_do_not_wait(pool: ThreadPoolExecutor) -> None:
    clock, primary = Clock(), Leg(fails="red")
    leg = fallback(primary, pool, clock)
    note(leg)
    clock.now += REST_SECONDS
    others: list[str | None] = []
    primary.first = lambda: others.append(note(leg))
    primary.fails = None
    assert note(leg) is None
    assert others == ["opensearch red, answered by postgresql"]


def test_a_primary_that_hangs_costs_its_share_only(pool: ThreadPoolExecutor) -> None:
    stuck = Event()
    leg = fallback(Leg(first=lambda: stuck.wait(10) and None), pool, Clock())
    try:
        found = leg.search(WHO, ["word"], Filters(), limit=3, timeout_ms=100)
        assert isinstance(found, NotedCandidates)
        assert found.note == "opensearch timed-out, answered by postgresql"
    finally:
        stuck.set()


def test_the_past_and_the_empty_question_are_the_secondarys(pool: ThreadPoolExecutor) -> None:
    primary = Leg()
    leg = fallback(primary, pool, Clock())
    assert ask(leg, as_of_position=3) == [IDS[9]]
    leg.search(WHO, [], Filters(), limit=3, timeout_ms=1000)
    assert primary.deadlines == []


def test_both_failing_is_a_failed_leg(pool: ThreadPoolExecutor) -> None:
    leg = FallbackKeywordLeg(
        primary=Leg(fails="red"), secondary=Leg(fails="down"), pool=pool, stopwatch=Clock()
    )
    with pytest.raises(Unavailable) as refused:
        ask(leg)
    assert refused.value.reason == "down"


def test_the_note_reaches_the_outcome_of_the_leg(pool: ThreadPoolExecutor) -> None:
    leg = fallback(Leg(fails="behind"), pool, Clock())
    with ThreadPoolExecutor(1) as legs:
        outcomes = run_legs(
            {"keyword": lambda: leg.search(WHO, ["w"], Filters(), limit=1, timeout_ms=1000)},
            pool=legs,
            deadline_s=5,
            stopwatch=Clock(),
        )
    assert outcomes["keyword"].failure is None
    assert outcomes["keyword"].note == "opensearch behind, answered by postgresql"
