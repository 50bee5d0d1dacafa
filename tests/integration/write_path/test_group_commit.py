"""Writes that wait for the same head share a transaction, and nothing else."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.waiting import eventually
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.group_commit import GroupCommit
from cairn.adapters.postgres.store_transactions import PostgresStores, StoreTransactions
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import CairnError, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.kernel.traces import within
from cairn.memories.items import NewMemory
from cairn.reading.browse import Browse
from cairn.writing.items import IdempotencyKey, Outcome

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

    from cairn.memories.remember import Remember

WRITERS = 8
XID = "SELECT xmin::text FROM ledger WHERE workspace_id = %s AND type = %s"


@dataclass
class Here:
    """A workspace whose writes go through a group commit that can be held up."""

    world: World
    arrived: list[Principal] = field(default_factory=list[Principal])

    def __post_init__(self) -> None:
        self.group = GroupCommit(self.world.pool)
        self.remember: Remember = replace(self.world.remember, commit=self.commit)

    def commit(self, principal: Principal, work: Any, /, *, once: str | None = None) -> Any:
        self.arrived.append(principal)
        return self.group(principal, work, once=once)

    @contextmanager
    def busy(self, expected: int) -> Iterator[ThreadPoolExecutor]:
        """Hold the head while writes are submitted, until so many wait for it."""
        self.arrived.clear()
        free = Event()
        with ThreadPoolExecutor(WRITERS + 1) as threads:
            first = threads.submit(self.commit, self.world.admin, lambda _: free.wait(60))
            eventually(lambda: self.arrived, what="the first")
            try:
                yield threads
                eventually(lambda: len(self.arrived) > expected, what="the others")
            finally:
                free.set()
            assert first.result()

    def tell(self, *memories: NewMemory, who: Principal | None = None, **options: Any) -> Any:
        return self.remember(who or self.world.admin, memories, **options)

    def holds(self) -> bool:
        browse = Browse(transactions=StoreTransactions(self.world.pool))
        return browse.verify_ledger(self.world.admin).ok


@pytest.fixture
def here(database: "Database") -> Iterator[Here]:
    world = open_world(database.owner_url, database.app_url, f"group {new_id()}")
    yield Here(world)
    world.pool.close()


@pytest.fixture
def transactions_of(database: "Database") -> Callable[[Here], list[str]]:
    def read(here: Here) -> list[str]:
        with database.connect_as_superuser() as root:
            asked = [here.world.workspace_id, "memory.remembered"]
            return [one for (one,) in root.execute(XID, asked)]

    return read


def outcomes(done: list[Future[Any]]) -> list[Any]:
    """What each write answered, or the reason it was refused for."""
    found: list[Any] = []
    for item in done:
        error = item.exception()
        assert error is None or isinstance(error, CairnError)
        found.append(error.reason if error else item.result().outcomes[0].outcome)
    return found


def test_writes_that_wait_together_share_a_transaction_and_keep_their_own_entries(
    here: Here, transactions_of: Callable[[Here], list[str]]
) -> None:
    with here.busy(WRITERS) as threads:
        done = [threads.submit(here.tell, memory(f"Note {n}.")) for n in range(WRITERS)]

    assert outcomes(done) == [Outcome.CREATED] * WRITERS
    positions = sorted(item.result().outcomes[0].position for item in done)
    assert positions == list(range(positions[0], positions[0] + WRITERS))
    shared = transactions_of(here)
    assert len(shared) == WRITERS
    assert len(set(shared)) < WRITERS
    assert here.holds()


def test_what_one_said_is_a_duplicate_of_what_its_neighbour_said(here: Here) -> None:
    with here.busy(WRITERS) as threads:
        done = [threads.submit(here.tell, memory("The same.")) for _ in range(WRITERS)]

    said = outcomes(done)
    assert said.count(Outcome.CREATED) == 1
    assert said.count(Outcome.DUPLICATE) == WRITERS - 1


def test_a_key_that_comes_several_times_at_once_is_one_write(here: Here) -> None:
    key = IdempotencyKey(key="k", body_hash=b"one")
    with here.busy(WRITERS) as threads:
        done = [threads.submit(here.tell, memory("Once."), idempotency=key) for _ in range(WRITERS)]

    answers = [item.result() for item in done]
    assert len({answer.outcomes[0].id for answer in answers}) == 1
    assert sum(not answer.replayed for answer in answers) == 1


def test_a_refusal_is_one_writes_own(here: Here) -> None:
    here.tell(memory("Before."), idempotency=IdempotencyKey(key="used", body_hash=b"one"))
    other = IdempotencyKey(key="used", body_hash=b"another")

    def broken(stores: PostgresStores) -> None:
        stores.ledger.append([])
        raise ZeroDivisionError

    with here.busy(WRITERS) as threads:
        good = [threads.submit(here.tell, memory(f"Good {n}.")) for n in range(WRITERS - 2)]
        mismatch = threads.submit(here.tell, memory("Refused."), idempotency=other)
        bug = threads.submit(here.commit, here.world.admin, broken)

    assert outcomes(good) == [Outcome.CREATED] * (WRITERS - 2)
    assert isinstance(mismatch.exception(), ValidationFailed)
    assert isinstance(bug.exception(), ZeroDivisionError)
    assert here.holds()


def test_what_takes_too_long_is_not_tried_again_and_its_neighbours_are(here: Here) -> None:
    tried: list[int] = []

    def slow(stores: PostgresStores) -> None:
        tried.append(1)
        raise Unavailable("The database took too long.", reason="database-timeout")

    with here.busy(WRITERS) as threads:
        good = [threads.submit(here.tell, memory(f"Good {n}.")) for n in range(WRITERS - 1)]
        late = threads.submit(here.commit, here.world.admin, slow)

    assert outcomes(good) == [Outcome.CREATED] * (WRITERS - 1)
    assert isinstance(late.exception(), Unavailable)
    assert len(tried) == 1


def test_each_write_is_its_own_principals_and_of_its_own_trace(here: Here) -> None:
    agents = [here.world.as_other(role=Role.AGENT, agent_slug=f"bot{n}") for n in range(WRITERS)]

    def tell(number: int) -> Any:
        with within(f"00-{number + 1:032x}-{1:016x}-01"):
            return here.tell(memory(f"Of bot {number}."), who=agents[number])

    with here.busy(WRITERS) as threads:
        done = [threads.submit(tell, number) for number in range(WRITERS)]
    assert outcomes(done) == [Outcome.CREATED] * WRITERS
    browse = StoreTransactions(here.world.pool)
    with browse.reading(here.world.admin) as stores:
        entries = [item for item in stores.ledger.page(after=0, limit=50) if item.trace_id]
    told = {
        (entry.actor.id, entry.trace_id) for entry in entries if entry.type == "memory.remembered"
    }
    assert told == {(str(one.principal_id), f"{n + 1:032x}") for n, one in enumerate(agents)}


def test_a_workspace_that_is_none_is_said_to_each(here: Here) -> None:
    stranger = replace(here.world.admin, workspace_id=new_id())
    with pytest.raises(NotFound):
        here.group(stranger, lambda _: None)
