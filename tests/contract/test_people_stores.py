"""Calls of people, channels, opinions and candidates: the same over the fake and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.agent_rows import action, investigation
from tests.support.people_rows import call, candidate, opinion
from tests.support.remembering import NOON, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.investigations.ports import ActionState, CandidateState, Channel, EscalationState, Move
from cairn.investigations.state import Spending, State, Verdict
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.kernel.stores import Stores
from cairn.tickets.ticket import Priority, TicketRow, TicketStatus
from cairn.writing.ports import Subject

if TYPE_CHECKING:
    from datetime import datetime

    from tests.plugins.postgres import Database

    from cairn.investigations.state import Investigation

LATER = NOON + timedelta(hours=1)


@pytest.fixture(params=["in memory", "postgres"])
def stores(request: pytest.FixtureRequest) -> Iterator[Stores]:
    """The stores of one writing transaction."""
    if request.param == "in memory":
        transactions, admin = InMemoryTransactions(), admin_of(new_id())
        transactions.create_workspace(admin.workspace_id)
        with transactions.writing(admin) as opened:
            yield opened
        return
    database: Database = request.getfixturevalue("database")
    name = f"people-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url)
    with StoreTransactions(pool).writing(admin_of(workspace_id)) as opened:
        yield opened
    pool.close()


def started(stores: Stores, **changes: Any) -> "Investigation":
    one = investigation(stores.ledger.head().workspace_id, **changes)
    assert stores.investigations.add(one, b"sealed")
    return one


def resolved(
    stores: Stores,
    at: "datetime" = NOON,
    verdict: Verdict = Verdict.AUTO_RESOLVED,
    **changes: Any,
) -> UUID:
    one = started(stores, **changes)
    way = (State.CREATED, State.VERDICT, State.WRITING_BACK, State.DONE)
    for source, target in pairwise(way):
        move = Move(
            investigation_id=one.id,
            source=source,
            since=one.moved_at if source is one.state else at,
            run=one.run,
            target=target,
            snapshot=b"s",
            spending=Spending(),
            now=at,
            verdict=verdict,
        )
        assert stores.investigations.move(move)
    assert stores.investigations.close(one.id, at)
    return one.id


class TestEscalations:
    def test_are_one_an_investigation(self, stores: Stores) -> None:
        one = call(started(stores))
        assert stores.escalations.add(one)
        assert not stores.escalations.add(replace(one, id=new_id()))
        assert stores.escalations.find(one.id) == stores.escalations.of(one.investigation_id) == one
        assert stores.escalations.find(new_id()) is None

    def test_count_tries_until_they_end_and_keep_a_note_for_good(self, stores: Stores) -> None:
        one = call(started(stores))
        stores.escalations.add(one)
        tried = {"channel": "slack:ops", "now": LATER}
        queued, failed = EscalationState.QUEUED, EscalationState.FAILED
        assert stores.escalations.tried(one.id, queued, noted=True, error="timeout", **tried)
        assert stores.escalations.tried(one.id, failed, noted=False, error="gone", **tried)
        assert not stores.escalations.tried(one.id, failed, noted=False, error=None, **tried)
        found = stores.escalations.find(one.id)
        assert found == replace(
            one,
            state=failed,
            channel="slack:ops",
            attempts=2,
            noted=True,
            error="gone",
            updated_at=LATER,
        )

    def test_that_failed_are_queued_anew_and_delivered(self, stores: Stores) -> None:
        one = call(started(stores))
        stores.escalations.add(one)
        assert not stores.escalations.requeue(one.id, LATER)
        ends = {"channel": "ticket-note", "noted": False, "now": LATER}
        stores.escalations.tried(one.id, EscalationState.FAILED, error="gone", **ends)
        assert stores.escalations.requeue(one.id, LATER)
        assert stores.escalations.tried(one.id, EscalationState.DELIVERED, error=None, **ends)
        found = stores.escalations.find(one.id)
        assert found is not None
        assert (found.attempts, found.delivered_at, found.error) == (1, LATER, None)

    def test_are_listed_newest_first_by_state(self, stores: Stores) -> None:
        first, second = call(started(stores)), call(started(stores))
        for item in (first, second):
            stores.escalations.add(item)
        asked: dict[str, Any] = {"state": None, "before": None, "limit": 9}
        assert [item.id for item in stores.escalations.page(**asked)] == [second.id, first.id]
        below = stores.escalations.page(**asked | {"before": second.id})
        assert [item.id for item in below] == [first.id]
        assert not stores.escalations.page(**asked | {"state": EscalationState.FAILED})


def test_channels_have_a_name_each(stores: Stores) -> None:
    made = [
        Channel(name=name, kind="slack", created_at=NOON, created_by=new_id())
        for name in ("ops", "desk")
    ]
    assert all(stores.channels.add(item, b"sealed") for item in made)
    assert not stores.channels.add(made[0], b"other")
    assert [item.name for item in stores.channels.all()] == ["desk", "ops"]
    assert stores.channels.find("ops") == (made[0], b"sealed")
    assert stores.channels.remove("ops")
    assert not stores.channels.remove("ops")
    assert stores.channels.find("ops") is None


def test_the_last_word_of_each_principal_stands(stores: Stores) -> None:
    one = resolved(stores)
    first = opinion(one, 2)
    stores.opinions.put(first)
    stores.opinions.put(opinion(one, 5, said_at=LATER))
    last = replace(first, id=new_id(), rating=None, said_at=LATER + timedelta(minutes=1))
    stores.opinions.put(last)
    stands = stores.opinions.of(one)
    assert [said.rating for said in stands] == [5, None]
    assert stands[1] == last
    assert stores.opinions.of(new_id()) == []


class TestCandidates:
    def test_are_one_an_investigation(self, stores: Stores) -> None:
        one = candidate(resolved(stores))
        assert stores.candidates.add(one)
        assert not stores.candidates.add(replace(one, id=new_id()))
        assert stores.candidates.find(one.id) == one

    def test_are_edited_while_they_wait_and_decided_once(self, stores: Stores) -> None:
        one, by = candidate(resolved(stores)), new_id()
        stores.candidates.add(one)
        assert stores.candidates.edit(one.id, b"better", NOON)
        said: dict[str, Any] = {"by": by, "reason": None, "content": None, "now": LATER}
        accepted = CandidateState.ACCEPTED
        assert stores.candidates.decide(one.id, accepted, **said)
        assert not stores.candidates.decide(one.id, CandidateState.REJECTED, **said)
        assert not stores.candidates.edit(one.id, b"worse", LATER)
        document, ingestion = new_id(), new_id()
        stores.candidates.stored(one.id, document, ingestion)
        assert stores.candidates.find(one.id) == replace(
            one,
            state=accepted,
            content=b"better",
            edited_at=NOON,
            decided_at=LATER,
            decided_by=by,
            document_id=document,
            ingestion_id=ingestion,
        )

    def test_keep_why_they_were_rejected(self, stores: Stores) -> None:
        one = candidate(resolved(stores))
        stores.candidates.add(one)
        said: dict[str, Any] = {"by": None, "reason": "disputed", "content": b"why", "now": LATER}
        assert stores.candidates.decide(one.id, CandidateState.REJECTED, **said)
        found = stores.candidates.find(one.id)
        assert found is not None
        assert (found.content, found.reason) == (b"why", "disputed")
        stores.candidates.stored(one.id, new_id(), new_id())
        assert stores.candidates.find(one.id) == found

    def test_that_nobody_decided_on_are_found_oldest_first(self, stores: Stores) -> None:
        late, early, done = (
            candidate(resolved(stores), staged_at=NOON + timedelta(minutes=minute))
            for minute in (2, 1, 0)
        )
        for item in (late, early, done):
            stores.candidates.add(item)
        said: dict[str, Any] = {"by": None, "reason": None, "content": None, "now": LATER}
        stores.candidates.decide(done.id, CandidateState.ACCEPTED, **said)
        found = stores.candidates.unreviewed(LATER, 9)
        assert [item.id for item in found] == [early.id, late.id]
        assert not stores.candidates.unreviewed(NOON, 9)

    def test_are_due_when_rated_well_or_old_and_never_when_disputed(self, stores: Stores) -> None:
        old, rated, disputed, fresh, known, poor = (
            resolved(stores, at)
            for at in (NOON, LATER, NOON, LATER, NOON + timedelta(seconds=1), LATER)
        )
        resolved(stores, verdict=Verdict.NEEDS_TECH)
        started(stores)
        stores.opinions.put(opinion(rated, 4))
        stores.opinions.put(opinion(disputed, None))
        stores.opinions.put(opinion(disputed, 5))
        stores.opinions.put(opinion(poor, 3))
        stores.opinions.put(opinion(resolved(stores, NOON), 1))
        stores.candidates.add(candidate(known))
        due = stores.candidates.due(LATER, 9)
        assert due == [(old, "undisputed"), (rated, "rated")]
        assert stores.candidates.due(LATER, 1) == [(old, "undisputed")]
        assert fresh not in {one for one, _ in due}

    def test_tell_what_was_done_again_and_again_for_one_customer(self, stores: Stores) -> None:
        acme, globex, person = new_id(), new_id(), new_id()
        for subject, kind, key in (
            (acme, "client", "acme"),
            (globex, "client", "globex"),
            (person, "person", "ada@acme.test"),
        ):
            stores.subjects.add(Subject(id=subject, kind=kind, natural_key=key), 1)
        unlocks = [_did(stores, (acme, person), "unlock", ActionState.APPLIED) for _ in range(3)]
        for _ in range(2):
            _did(stores, (globex,), "unlock", ActionState.APPLIED)
        for _ in range(3):
            _did(stores, (acme,), "look", ActionState.APPLIED, lane="read")
            _did(stores, (acme,), "try", ActionState.APPLIED, dry_run=True)
        seen = stores.candidates.observed(NOON - timedelta(days=1), 9)
        assert {item.tool for item in seen} == {"accounts.unlock"}
        mine = [item.investigation_id for item in seen if item.customer == "acme"]
        assert sorted(mine) == sorted(unlocks)
        assert stores.candidates.observed(LATER, 9) == []

    def test_tell_what_was_seen_last_first_however_often_it_was_seen(self, stores: Stores) -> None:
        for often, key in enumerate(("hooli", "acme", "globex")):
            subject = Subject(id=new_id(), kind="client", natural_key=key)
            stores.subjects.add(subject, 1)
            for _ in range(5 - often):
                done_at = NOON + timedelta(minutes=often)
                _did(stores, (subject.id,), "unlock", ActionState.APPLIED, now=done_at)
        seen = stores.candidates.observed(NOON, 4)
        assert [item.customer for item in seen] == ["globex"] * 3 + ["acme"]


def _did(
    stores: Stores, about: tuple[UUID, ...], tool: str, state: ActionState, **changes: Any
) -> UUID:
    ticket = TicketRow(
        id=new_id(),
        source="api",
        external_id=str(new_id()),
        status=TicketStatus.INVESTIGATING,
        priority=Priority.LOW,
        persona="default",
        sealed=b"sealed",
        mark=b"m",
        data_subjects=about,
        position=1,
        received_at=NOON,
    )
    stores.tickets.add(ticket)
    one = resolved(stores, ticket_id=ticket.id, data_subjects=about)
    kept = stores.investigations.find(one)
    assert kept is not None
    given: dict[str, Any] = {"connector": "accounts", "tool": tool, "lane": "write"}
    dry_run, now = changes.pop("dry_run", False), changes.pop("now", NOON)
    row = action(kept, **given | changes)
    stores.actions.add(row)
    assert stores.actions.start(row.id, dry_run=dry_run, now=NOON)
    ends: dict[str, Any] = {"output": b"", "is_error": False, "error": None, "now": now}
    assert stores.actions.end(row.id, state, **ends)
    return one
