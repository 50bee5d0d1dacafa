"""Queueing what has no vector of the present model, over PostgreSQL."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.embedding import HASHING
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, Sent, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Denied
from cairn.kernel.ids import new_id
from cairn.reembedding import reindex as use_case
from cairn.reembedding.reindex import CountMissingVectors, Reindex
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database


@pytest.fixture
def empty(database: "Database") -> Iterator[Remembering]:
    name = f"reindex-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    transactions = StoreTransactions(pool)
    yield Remembering(transactions=transactions, principal=admin_of(workspace_id))
    pool.close()


@pytest.fixture
def system(empty: Remembering) -> Remembering:
    """A workspace of 250 memories that wait for nothing and have no vector."""
    empty.tell(*(fact(f"fact number {number}") for number in range(250)))
    finish(empty)
    return empty


def finish(system: Remembering) -> None:
    """Forget the waiting rows, as if their work were done, without storing any vector."""
    with system.transactions.writing(system.principal) as stores:
        stores.outbox.done([row.id for row in system.sent.rows])
    system.sent.rows.clear()


def reindexing(system: Remembering, **changes: Any) -> Reindex:
    given: dict[str, Any] = {"dispatcher": system.sent, "clock": lambda: NOON}
    return Reindex(platform=platform_of(system.transactions, **(given | changes)), model=HASHING)


def test_everything_that_lacks_a_vector_is_queued_once_in_small_rows(system: Remembering) -> None:
    told = reindexing(system)(system.principal)
    assert (told.missing, told.queued, told.more, told.after) == (250, 250, False, None)
    assert [len(row.node_ids) for row in system.sent.rows] == [100, 100, 50]
    assert {row.topic for row in system.sent.rows} == {Topic.EMBED}
    assert len({id_ for row in system.sent.rows for id_ in row.node_ids}) == 250


def test_what_waits_is_counted_and_not_queued_again(system: Remembering) -> None:
    reindex = reindexing(system)
    reindex(system.principal)
    system.sent.rows.clear()
    again = reindex(system.principal)
    assert (again.missing, again.queued) == (250, 0)
    assert system.sent.rows == []


def test_a_call_stops_after_so_many_nodes_and_the_next_goes_on_there(
    system: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_case, "PAGE", 60)
    monkeypatch.setattr(use_case, "REQUEST_NODES", 100)
    reindex, told = reindexing(system), list[int]()
    after: UUID | None = None
    for _ in range(9):
        part = reindex(system.principal, after=after)
        told.append(part.queued)
        after = part.after
        if not part.more:
            break
    assert told == [120, 120, 10]
    assert len({id_ for row in system.sent.rows for id_ in row.node_ids}) == 250


def test_a_call_stops_when_its_time_is_over(
    system: Remembering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(use_case, "PAGE", 60)
    seconds = count(step=5)
    told = reindexing(system, stopwatch=lambda: float(next(seconds)))(system.principal)
    assert (told.queued, told.more) == (60, True)


def test_rows_are_committed_before_they_are_sent(system: Remembering) -> None:
    class Looking(Sent):
        def send(self, rows: Any) -> None:
            with system.transactions.reading(system.principal) as stores:
                assert len(stores.outbox.find([row.id for row in rows])) == len(rows) > 0
            super().send(rows)

    reindexing(system, dispatcher=Looking())(system.principal)


@pytest.mark.parametrize("role", [Role.AGENT, Role.PUBLIC])
def test_only_an_admin_may_count_or_queue(system: Remembering, role: Role) -> None:
    other = Principal(
        workspace_id=system.principal.workspace_id,
        principal_id=new_id(),
        role=role,
        allowed_scopes=ALL_SCOPES,
        name="other",
    )
    with pytest.raises(Denied):
        reindexing(system)(other)
    with pytest.raises(Denied):
        CountMissingVectors(platform=platform_of(system.transactions), model=HASHING)(other)
    assert system.sent.rows == []


def test_the_count_says_what_lacks_a_vector_and_what_waits(system: Remembering) -> None:
    ask = CountMissingVectors(platform=platform_of(system.transactions), model=HASHING)
    found = ask(system.principal)
    assert (found.model, found.missing, found.waiting) == ("hashing", 250, 0)
    reindexing(system)(system.principal)
    found = ask(system.principal)
    assert (found.missing, found.waiting) == (250, 250)


def test_an_empty_workspace_has_nothing_to_queue(empty: Remembering) -> None:
    told = reindexing(empty)(empty.principal)
    assert (told.missing, told.queued, told.more) == (0, 0, False)


def test_the_clock_of_the_rows_is_the_callers(system: Remembering) -> None:
    later = NOON + timedelta(days=1)
    reindexing(system, clock=lambda: later)(system.principal)
    with system.transactions.reading(system.principal) as stores:
        head = stores.ledger.head()
    assert {row.position for row in system.sent.rows} == {head.position}
