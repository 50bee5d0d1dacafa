"""Investigations, slots, approvals and actions: the same over the fake and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.agent_rows import action, approval, investigation, line
from tests.support.remembering import NOON, admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.investigations.ports import ActionState, ApprovalState, Move, Progress
from cairn.investigations.state import Spending, State, Verdict
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.kernel.stores import Stores

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

    from cairn.investigations.state import Investigation

SPENT = Spending(tokens=120, usd=Decimal("0.0125"), ms=900, iterations=3, unpriced_calls=1)
SUBJECT = new_id()


@pytest.fixture(params=["in memory", "postgres"])
def stores(request: pytest.FixtureRequest) -> Iterator[Stores]:
    """The stores of one writing transaction."""
    if request.param == "in memory":
        transactions, admin = InMemoryTransactions(), admin_of(new_id())
        transactions.create_workspace(admin.workspace_id)
        with transactions.writing(admin) as opened:
            yield cast("Stores", opened)
        return
    database: Database = request.getfixturevalue("database")
    name = f"agents-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url)
    with StoreTransactions(pool).writing(admin_of(workspace_id)) as opened:
        yield opened
    pool.close()


def started(stores: Stores, **changes: Any) -> "Investigation":
    one = investigation(workspace_of(stores), **changes)
    assert stores.investigations.add(one, b"sealed")
    return one


def workspace_of(stores: Any) -> UUID:
    return stores.ledger.head().workspace_id


def moved(stores: Stores, one: UUID, source: State, target: State, **changes: Any) -> bool:
    found = stores.investigations.find(one)
    given: dict[str, Any] = {"run": 1, "snapshot": b"later", "spending": SPENT, "now": NOON}
    given["since"] = found.moved_at if found else NOON
    return stores.investigations.move(
        Move(investigation_id=one, source=source, target=target, **given | changes)
    )


class TestInvestigations:
    def test_come_back_as_they_were_kept(self, stores: Stores) -> None:
        one = started(stores, data_subjects=(SUBJECT,), traceparent="00-aa-bb-01")
        assert stores.investigations.find(one.id) == one
        assert stores.investigations.snapshot(one.id) == b"sealed"
        assert stores.investigations.find(new_id()) is None

    def test_say_how_far_they_are(self, stores: Stores) -> None:
        one, other = started(stores), started(stores)
        assert stores.investigations.progress([]) == []
        [before] = stores.investigations.progress([one.id, new_id()])
        assert before == Progress(id=one.id, moved_at=one.moved_at, ended_at=None, seq=0)
        stores.investigations.add_steps(one.id, [line(), line()])
        assert moved(stores, other.id, State.CREATED, State.HALTED, now=NOON + timedelta(hours=1))
        assert stores.investigations.close(other.id, NOON + timedelta(hours=1))
        now = {each.id: each for each in stores.investigations.progress([one.id, other.id])}
        assert now[one.id] == replace(before, seq=2)
        assert now[other.id].ended_at == now[other.id].moved_at == NOON + timedelta(hours=1)

    def test_a_ticket_has_one_that_has_not_ended(self, stores: Stores) -> None:
        one = started(stores)
        again = replace(one, id=new_id())
        assert not stores.investigations.add(again, b"sealed")
        assert stores.investigations.find(again.id) is None
        assert moved(stores, one.id, State.CREATED, State.HALTED)
        assert stores.investigations.add(again, b"sealed")

    def test_move_from_where_they_are_and_from_nowhere_else(self, stores: Stores) -> None:
        one = started(stores)
        assert not moved(stores, one.id, State.PLANNING, State.VERDICT)
        assert stores.investigations.find(one.id) == one
        assert moved(stores, one.id, State.CREATED, State.PLANNING)
        assert not moved(stores, one.id, State.CREATED, State.PLANNING)
        found = stores.investigations.find(one.id)
        assert found == replace(one, state=State.PLANNING, spending=SPENT, moved_at=NOON)
        assert stores.investigations.snapshot(one.id) == b"later"

    @pytest.mark.parametrize("end", [State.DONE, State.HALTED])
    def test_an_end_is_closed_once_and_keeps_verdict_and_error(
        self, stores: Stores, end: State
    ) -> None:
        one = started(stores)
        assert not stores.investigations.close(one.id, NOON)
        moved(stores, one.id, State.CREATED, State.VERDICT, verdict=Verdict.FAILED, error="late")
        assert moved(stores, one.id, State.VERDICT, end)
        later = NOON + timedelta(seconds=9)
        for at in (None, later):
            found = stores.investigations.find(one.id)
            assert found is not None
            assert (found.verdict, found.error) == (Verdict.FAILED, "late")
            assert (found.ended_at, found.moved_at) == (at, NOON)
            assert stores.investigations.close(one.id, later) == (at is None)

    def test_keep_what_was_spent_without_a_transition(self, stores: Stores) -> None:
        one = started(stores)
        stores.investigations.spend(one.id, Spending(tokens=9), run=2)
        assert stores.investigations.find(one.id) == one
        stores.investigations.spend(one.id, SPENT, run=1)
        assert stores.investigations.find(one.id) == replace(one, spending=SPENT)

    def test_do_not_move_for_a_run_that_is_over(self, stores: Stores) -> None:
        one = started(stores, execution="a")
        stores.investigations.rerun(one.id, "b", NOON)
        assert not moved(stores, one.id, State.CREATED, State.PLANNING)
        assert stores.investigations.snapshot(one.id) == b"sealed"
        assert moved(stores, one.id, State.CREATED, State.PLANNING, run=2)

    def test_do_not_move_from_a_state_they_were_in_before(self, stores: Stores) -> None:
        one = started(stores, state=State.PLANNING)
        for at, (source, target) in enumerate(pairwise(("PLANNING", "RETRIEVING", "PLANNING"))):
            now = NOON + timedelta(seconds=at + 1)
            assert moved(stores, one.id, State(source), State(target), now=now)
        here = stores.investigations.find(one.id)
        late = moved(
            stores, one.id, State.PLANNING, State.VERDICT, since=one.moved_at, snapshot=b"old"
        )
        assert not late
        assert stores.investigations.find(one.id) == here
        assert stores.investigations.snapshot(one.id) == b"later"

    def test_count_their_executions_once_each(self, stores: Stores) -> None:
        one = started(stores, execution="a")
        later = NOON + timedelta(seconds=9)
        runs = [stores.investigations.rerun(one.id, name, later) for name in ("a", "b", "b")]
        assert runs == [1, 2, 2]
        found = stores.investigations.find(one.id)
        assert found == replace(one, run=2, execution="b", moved_at=later)

    def test_number_the_lines_of_their_timeline(self, stores: Stores) -> None:
        one, other = started(stores), started(stores)
        stores.investigations.add_steps(one.id, [line(), line(action="second", line=1)])
        stores.investigations.add_steps(other.id, [line()])
        stores.investigations.add_steps(one.id, [line(action="third", position=8)])
        stores.investigations.add_steps(one.id, [])
        every = stores.investigations.steps(one.id, after=0, limit=10)
        assert [each.seq for each in every] == [1, 2, 3]
        assert every[2] == line(seq=3, action="third", position=8)
        some = stores.investigations.steps(one.id, after=1, limit=1)
        assert [each.action for each in some] == ["second"]

    def test_are_listed_newest_first_by_state_and_ticket(self, stores: Stores) -> None:
        first, second, third = (started(stores) for _ in range(3))
        moved(stores, second.id, State.CREATED, State.PLANNING)
        listed: dict[str, Any] = {"before": None, "limit": 10, "state": None, "ticket_id": None}

        def ids(**changes: Any) -> list[UUID]:
            return [item.id for item in stores.investigations.page(**listed | changes)]

        assert ids() == [third.id, second.id, first.id]
        assert ids(limit=1) == [third.id]
        assert ids(before=third.id) == [second.id, first.id]
        assert ids(state=State.CREATED) == [third.id, first.id]
        assert ids(ticket_id=second.ticket_id) == [second.id]

    def test_that_should_move_and_do_not_are_stale(self, stores: Stores) -> None:
        early = NOON - timedelta(minutes=1)
        waiting, stuck, told, untold = (
            started(stores, created_at=early, moved_at=early) for _ in range(4)
        )
        moved(stores, waiting.id, State.CREATED, State.WAITING_APPROVAL)
        moved(stores, told.id, State.CREATED, State.HALTED)
        moved(stores, untold.id, State.CREATED, State.HALTED)
        stores.investigations.close(told.id, NOON)
        later = NOON + timedelta(minutes=1)
        found = [item.id for item in stores.investigations.stale(later, 10)]
        assert found == [stuck.id, untold.id]
        assert [item.id for item in stores.investigations.stale(NOON, 10)] == [stuck.id]
        assert [item.id for item in stores.investigations.stale(later, 1)] == [stuck.id]


class TestSlots:
    def test_are_as_many_as_may_run(self, stores: Stores) -> None:
        ids = [new_id() for _ in range(4)]
        taken = [stores.slots.take(id_, 3, NOON) for id_ in ids]
        assert taken == [True, True, True, False]
        assert stores.slots.taken() == 3

    def test_are_taken_once_however_often_asked(self, stores: Stores) -> None:
        one = new_id()
        assert [stores.slots.take(one, 1, NOON) for _ in range(3)] == [True] * 3
        assert stores.slots.taken() == 1

    def test_given_back_are_taken_again(self, stores: Stores) -> None:
        one, two = new_id(), new_id()
        stores.slots.take(one, 1, NOON)
        stores.slots.free(one)
        stores.slots.free(one)
        assert stores.slots.taken() == 0
        assert stores.slots.take(two, 1, NOON)

    def test_a_higher_limit_finds_one_more_and_a_lower_one_none(self, stores: Stores) -> None:
        ids = [new_id() for _ in range(3)]
        assert stores.slots.take(ids[0], 1, NOON)
        assert not stores.slots.take(ids[1], 1, NOON)
        assert stores.slots.take(ids[1], 1_000_000, NOON)
        assert not stores.slots.take(ids[2], 1, NOON)
        stores.slots.free(ids[1])
        assert not stores.slots.take(ids[2], 1, NOON)


class TestApprovals:
    def test_come_back_as_they_were_asked(self, stores: Stores) -> None:
        asked = approval(started(stores))
        stores.approvals.add(asked)
        assert stores.approvals.find(asked.id) == asked
        assert stores.approvals.find(new_id()) is None
        assert stores.approvals.pending() == 1

    def test_are_decided_once(self, stores: Stores) -> None:
        asked = approval(started(stores))
        stores.approvals.add(asked)
        given: dict[str, Any] = {"by": new_id(), "position": 7, "now": NOON}
        assert stores.approvals.decide(asked.id, ApprovalState.REJECTED, **given)
        assert not stores.approvals.decide(asked.id, ApprovalState.GRANTED, **given)
        found = stores.approvals.find(asked.id)
        assert found == replace(
            asked,
            state=ApprovalState.REJECTED,
            decided_at=NOON,
            decided_by=given["by"],
            decision_position=7,
        )
        assert stores.approvals.pending() == 0

    @pytest.mark.parametrize("end", [ApprovalState.EXPIRED, ApprovalState.VOID])
    def test_come_too_late_only_expire_or_are_void(
        self, stores: Stores, end: ApprovalState
    ) -> None:
        asked = approval(started(stores))
        stores.approvals.add(asked)
        given: dict[str, Any] = {"by": None, "position": 7, "now": asked.expires_at}
        for state in (ApprovalState.GRANTED, ApprovalState.REJECTED, ApprovalState.EDITED):
            assert not stores.approvals.decide(asked.id, state, **given)
        assert stores.approvals.decide(asked.id, end, **given)

    def test_granted_are_found_until_they_are_used_or_expire(self, stores: Stores) -> None:
        one = started(stores)
        asked = [approval(one), approval(one), approval(started(stores))]
        given: dict[str, Any] = {"by": new_id(), "position": 7, "now": NOON}
        for each in asked:
            stores.approvals.add(each)
            assert not stores.approvals.use(each.id)
        assert stores.approvals.granted(one.id, NOON) == []
        for each in asked:
            stores.approvals.decide(each.id, ApprovalState.GRANTED, **given)
        found = stores.approvals.granted(one.id, NOON)
        assert [each.id for each in found] == [asked[1].id, asked[0].id]
        assert stores.approvals.granted(one.id, asked[0].expires_at) == []
        assert stores.approvals.use(asked[1].id)
        assert not stores.approvals.use(asked[1].id)
        assert [each.id for each in stores.approvals.granted(one.id, NOON)] == [asked[0].id]
        assert [each.id for each in stores.approvals.of(one.id)] == [asked[1].id, asked[0].id]

    def test_pending_ones_that_expired_are_due_the_longest_first(self, stores: Stores) -> None:
        later = timedelta(hours=25)
        one = started(stores)
        asked = [approval(one, expires_at=NOON + later), approval(one), approval(one)]
        for each in asked:
            stores.approvals.add(each)
        stores.approvals.decide(
            asked[2].id, ApprovalState.VOID, by=None, position=7, now=NOON + later
        )
        found = stores.approvals.due(NOON + later, 10)
        assert [each.id for each in found] == [asked[1].id, asked[0].id]
        assert [each.id for each in stores.approvals.due(NOON + later, 1)] == [asked[1].id]
        assert stores.approvals.due(NOON, 10) == []

    def test_the_newest_task_token_of_a_decided_one_is_handed_out(self, stores: Stores) -> None:
        asked = approval(started(stores))
        stores.approvals.add(asked)
        for token in ("first", "second"):
            stores.approvals.keep_token(asked.id, token)
        assert stores.approvals.token(asked.id) is None
        stores.approvals.decide(asked.id, ApprovalState.GRANTED, by=new_id(), position=7, now=NOON)
        assert stores.approvals.token(asked.id) == "second"
        stores.approvals.keep_token(asked.id, "third")
        assert stores.approvals.token(asked.id) == "third"
        assert stores.approvals.token(new_id()) is None

    def test_are_listed_newest_first(self, stores: Stores) -> None:
        asked = [approval(started(stores)) for _ in range(3)]
        for item in asked:
            stores.approvals.add(item)
        stores.approvals.decide(
            asked[1].id, ApprovalState.REJECTED, by=new_id(), position=7, now=NOON
        )
        every = stores.approvals.page(state=None, before=None, limit=2)
        assert [item.id for item in every] == [asked[2].id, asked[1].id]
        rest = stores.approvals.page(state=ApprovalState.PENDING, before=asked[2].id, limit=2)
        assert [item.id for item in rest] == [asked[0].id]


class TestActions:
    def test_come_back_as_they_were_proposed_and_once(self, stores: Stores) -> None:
        proposed = action(started(stores), data_subjects=(SUBJECT,), session_id="s")
        stores.actions.add(proposed)
        stores.actions.add(replace(proposed, tool="other"))
        assert stores.actions.find(proposed.id) == proposed
        assert stores.actions.find(new_id()) is None

    def test_start_once_and_end_once(self, stores: Stores) -> None:
        proposed = action(started(stores))
        assert proposed.investigation_id is not None
        stores.actions.add(proposed)
        given: dict[str, Any] = {"output": b"out", "is_error": True, "error": "no", "now": NOON}
        assert not stores.actions.end(proposed.id, ActionState.APPLIED, **given)
        assert stores.actions.start(proposed.id, dry_run=True, now=NOON)
        assert not stores.actions.start(proposed.id, dry_run=True, now=NOON)
        assert [item.id for item in stores.actions.open(proposed.investigation_id)] == [proposed.id]
        assert stores.actions.end(proposed.id, ActionState.FAILED, **given)
        assert not stores.actions.end(proposed.id, ActionState.APPLIED, **given)
        assert stores.actions.open(proposed.investigation_id) == []
        assert stores.actions.find(proposed.id) == replace(
            proposed,
            state=ActionState.FAILED,
            dry_run=True,
            is_error=True,
            error="no",
            output=b"out",
            started_at=NOON,
            completed_at=NOON,
        )

    def test_are_denied_only_before_they_start(self, stores: Stores) -> None:
        one = started(stores)
        denied, begun = action(one), action(one)
        for each in (denied, begun):
            stores.actions.add(each)
        stores.actions.start(begun.id, dry_run=False, now=NOON)
        assert not stores.actions.deny(begun.id, error="not-in-scope", now=NOON)
        assert stores.actions.deny(denied.id, error="not-in-scope", now=NOON)
        assert not stores.actions.deny(denied.id, error="other", now=NOON)
        assert stores.actions.find(denied.id) == replace(
            denied, state=ActionState.DENIED, error="not-in-scope", completed_at=NOON
        )

    def test_the_same_is_the_newest_of_its_digest_that_was_not_denied(self, stores: Stores) -> None:
        one, other = started(stores), started(stores)
        older, newer = action(one), action(one)
        denied = action(one, state=ActionState.DENIED)
        elsewhere, different = action(other), action(one, digest="e" * 64)
        for each in (older, newer, denied, elsewhere, different):
            stores.actions.add(each)
        found = stores.actions.same(one.id, older.digest)
        assert found is not None
        assert found.id == newer.id
        assert stores.actions.same(one.id, "f" * 64) is None

    def test_what_other_investigations_of_a_ticket_did_or_may_have_is_found(
        self, stores: Stores
    ) -> None:
        done = {"state": ActionState.APPLIED}
        first = started(stores)
        moved(stores, first.id, State.CREATED, State.HALTED)
        second, stranger = started(stores, ticket_id=first.ticket_id), started(stores)
        applied, unknown = action(first, **done), action(first, state=ActionState.UNKNOWN)
        left_out = [
            action(first),
            action(first, state=ActionState.FAILED),
            action(first, lane="read", **done),
            action(first, dry_run=True, **done),
            action(first, tool="other", **done),
            action(first, connector="other", **done),
            action(second, **done),
            action(stranger, **done),
        ]
        for each in (applied, unknown, *left_out):
            stores.actions.add(each)
        given: dict[str, Any] = {"connector": applied.connector, "tool": applied.tool}
        found = stores.actions.earlier(first.ticket_id, second.id, **given, limit=9)
        assert found == [unknown, applied]
        found = stores.actions.earlier(first.ticket_id, second.id, **given, limit=1)
        assert found == [unknown]

    def test_are_listed_newest_first_by_investigation_and_connector(self, stores: Stores) -> None:
        one, other = started(stores), started(stores)
        caller = new_id()
        every = [
            action(one),
            action(other, principal_id=caller),
            action(one, connector="http"),
        ]
        for each in every:
            stores.actions.add(each)
        asked: dict[str, Any] = {
            "investigation_id": None,
            "connector": None,
            "session_id": None,
            "before": None,
            "limit": 10,
        }

        def ids(**changes: Any) -> list[UUID]:
            return [each.id for each in stores.actions.page(**asked | changes)]

        first, second, third = (each.id for each in every)
        assert ids() == [third, second, first]
        assert ids(investigation_id=one.id) == [third, first]
        assert ids(connector="http") == [third]
        assert ids(principal_id=caller) == [second]
        assert ids(before=third, limit=1) == [second]
