"""The stores of the write path: what holds for the fake and for PostgreSQL alike."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.remembering import NOON, Remembering, admin_of, fact, in_memory

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.chain import seal
from cairn.ledger.entry import Actor, ActorKind, NewEntry
from cairn.memories.draft import draft_memory
from cairn.memories.identity import Session, chain_key
from cairn.memories.kinds import MemoryKind
from cairn.writing.audience import Audience
from cairn.writing.items import Outcome
from cairn.writing.ports import StoredAnswer, Subject

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ADMINS = Audience(scope="admin", agents=None, data_subjects=())


@pytest.fixture(params=["in memory", "postgres"])
def system(request: pytest.FixtureRequest) -> Iterator[Remembering]:
    if request.param == "in memory":
        yield in_memory()
        return
    yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Remembering]:
    name = f"contract-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    yield Remembering(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    pool.close()


def entry(system: Remembering) -> NewEntry:
    return NewEntry(
        id=new_id(),
        workspace_id=system.principal.workspace_id,
        type="test.happened",
        actor=Actor(kind=ActorKind.SYSTEM, id="test"),
        occurred_at=NOON,
        meta={"n": 1},
    )


def test_appended_entries_are_read_back_as_sealed_and_move_the_head(system: Remembering) -> None:
    with system.transactions.writing(system.principal) as stores:
        start = stores.ledger.head()
        sealed = seal(start, [entry(system), entry(system)], utc_now())
        stores.ledger.append(sealed)
    with system.transactions.reading(system.principal) as stores:
        assert stores.ledger.page(after=start.position, limit=9) == sealed
        assert stores.ledger.head().hash == sealed[-1].hash


def test_an_exception_takes_everything_back(system: Remembering) -> None:
    with system.transactions.reading(system.principal) as stores:
        start = stores.ledger.head()
    with (
        pytest.raises(ZeroDivisionError),
        system.transactions.writing(system.principal) as stores,
    ):
        stores.ledger.append(seal(start, [entry(system)], utc_now()))
        raise ZeroDivisionError
    with system.transactions.reading(system.principal) as stores:
        assert stores.ledger.head() == start


def test_an_unknown_workspace_cannot_be_written_to(system: Remembering) -> None:
    with pytest.raises(NotFound), system.transactions.writing(admin_of(new_id())):
        pytest.fail("opened")


def test_a_key_in_use_is_a_conflict(system: Remembering) -> None:
    def again() -> None:
        with system.transactions.writing(system.principal, once="k"):
            pytest.fail("opened")

    with (
        ThreadPoolExecutor(1) as other,
        system.transactions.writing(system.principal, once="k"),
        pytest.raises(Conflict) as refused,
    ):
        other.submit(again).result(timeout=20)
    assert refused.value.reason == "idempotency-in-flight"


def test_answers_live_for_a_day_and_belong_to_their_principal(system: Remembering) -> None:
    answer = StoredAnswer(body_hash=b"h" * 32, status=200, answer={"ids": ["a"]})
    with system.transactions.writing(system.principal) as stores:
        stores.idempotency.save("k", answer, NOON)
        assert stores.idempotency.find("k", NOON + timedelta(hours=23)) == answer
        assert stores.idempotency.find("k", NOON + timedelta(hours=25)) is None
        assert stores.idempotency.find("other", NOON) is None
        stores.idempotency.save("k", answer, NOON + timedelta(hours=25))
    other = admin_of(system.principal.workspace_id)
    with system.transactions.reading(other) as stores:
        assert stores.idempotency.find("k", NOON) is None


def test_a_subject_is_registered_once(system: Remembering) -> None:
    first, second = (Subject(id=new_id(), kind="client", natural_key="acme") for _ in range(2))
    with system.transactions.writing(system.principal) as stores:
        stores.subjects.add(first, 1)
        stores.subjects.add(second, 2)
        found = stores.subjects.find([("client", "acme"), ("person", "acme")])
    assert found == {("client", "acme"): first.id}


def test_links_are_those_around_the_moment(system: Remembering) -> None:
    made = [
        system.tell_one(fact(f"v{at}", key="k", valid_from=NOON + timedelta(days=at))).id
        for at in (1, 2, 3)
    ]
    chain = chain_of(system)
    with system.transactions.reading(system.principal) as stores:
        around = stores.memories.links([(chain, NOON + timedelta(days=2, hours=1))])
        before = stores.memories.links([(chain, NOON)])
        assert stores.memories.links([("no such chain", NOON)]) == {}
    assert {link.id for link in around[chain]} == {made[1], made[2]}
    assert [link.id for link in before[chain]] == [made[0]]


def chain_of(system: Remembering) -> str:
    chain = chain_key(draft_memory(fact("x", key="k"), system.principal, NOON))
    assert chain is not None
    return chain


def said(system: Remembering, *numbers: int) -> tuple[Any, ...]:
    return system.tell(
        *(fact(f"turn {n}", type=MemoryKind.EVENT, session_id="s", sequence=n) for n in numbers)
    )


def test_messages_are_those_of_the_span_and_some_around_it(system: Remembering) -> None:
    said(system, *range(0, 100, 10))
    with system.transactions.reading(system.principal) as stores:
        session = Session(session_id="s", audience=ADMINS)
        found = stores.memories.messages(session, 35, 55)
        public = Session(
            session_id="s", audience=Audience(scope="public", agents=None, data_subjects=())
        )
        assert stores.memories.messages(public, 0, 100) == ()
    numbers = sorted(item.sequence for item in found)
    assert {20, 30, 40, 50, 60, 70} <= set(numbers)
    assert len(numbers) == len(set(numbers))


def test_a_stored_memory_is_found_by_who_may_see_it(system: Remembering) -> None:
    made = system.tell_one(fact("for the bot", agents=("bot",)))
    assert made.id is not None
    for slug, seen in ((None, True), ("bot", True), ("other", False)):
        who = replace(system.principal, agent_slug=slug)
        with system.transactions.reading(who) as stores:
            assert (stores.memories.find(made.id) is not None) is seen, slug
    with system.transactions.reading(system.principal) as stores:
        assert stores.memories.find(new_id()) is None


def test_remembering_gives_the_same_outcomes(system: Remembering) -> None:
    outcomes = system.tell(
        fact("a", key="k"), fact("b", key="k"), fact("b", key="k"),
        fact("b", key="k", source_agent="x"), fact("\x00"), fact("c", client_id="acme"),
    )  # fmt: skip
    assert [outcome.outcome for outcome in outcomes] == [
        Outcome.CREATED,
        Outcome.SUPERSEDED,
        Outcome.DUPLICATE,
        Outcome.CORROBORATED,
        Outcome.REJECTED,
        Outcome.CREATED,
    ]
    assert outcomes[1].superseded == (outcomes[0].id,)
    assert outcomes[3].observation_count == 2
