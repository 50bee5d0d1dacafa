"""Reading investigations from PostgreSQL: texts are opened where the ledger has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.keys import InMemoryKeyStore
from tests.support.agent_rows import action, approval, investigation, line
from tests.support.remembering import NOON
from tests.support.world import open_world

from cairn.adapters.postgres.agents.model_calls import PostgresCallLog
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.investigations.browse import BrowseInvestigations
from cairn.investigations.journal import Opener
from cairn.investigations.ports import ActionState, Move
from cairn.investigations.state import Spending, State, Verdict
from cairn.kernel.access import Role, Scope
from cairn.kernel.errors import Denied, NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.entry import Actor, ActorKind
from cairn.ledger.keys import BodyCipher, BodyUnreadable, key_subjects
from cairn.llm.costs import CallRecord, CostBy
from cairn.llm.port import Purpose, Usage
from cairn.writing.append import append
from cairn.writing.entries import Entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from uuid import UUID

    from tests.plugins.postgres import Database
    from tests.support.world import World

    from cairn.investigations.state import Investigation

AGENT = Actor(kind=ActorKind.AGENT, id="default")
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@dataclass
class Desk:
    """A workspace whose investigations a test writes and reads."""

    world: World
    keys: InMemoryKeyStore
    subject: UUID

    @property
    def transactions(self) -> StoreTransactions:
        return StoreTransactions(self.world.pool)

    @property
    def browse(self) -> BrowseInvestigations:
        return BrowseInvestigations(
            transactions=self.transactions, open=Opener(keys=self.keys, cipher=BodyCipher())
        )

    def seal(self, entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
        workspace_id = self.world.workspace_id
        keys = self.keys.get_or_create(workspace_id, key_subjects(workspace_id, subjects))
        return BodyCipher().seal(entry_id, workspace_id, keys, body)

    def begin(self, **changes: Any) -> Investigation:
        given = {"data_subjects": (self.subject,), "traceparent": TRACEPARENT} | changes
        one = investigation(self.world.workspace_id, **given)
        with self.transactions.writing(self.world.admin) as stores:
            assert stores.investigations.add(one, b"")
        return one

    def write(self, one: Investigation, *details: str) -> int:
        """Append an entry with these lines, and their rows; return its position."""
        with self.transactions.writing(self.world.admin) as stores:
            entries = Entries(
                workspace_id=self.world.workspace_id,
                actor=AGENT,
                now=NOON,
                next_position=stores.ledger.head().position + 1,
                new_id=new_id,
                seal=self.seal,
            )
            body = {"lines": [{"detail": detail, "citations": ["[doc:a#1]"]} for detail in details]}
            position = entries.add(
                "investigation.moved", {}, body, data_subjects=(self.subject,), occurred_at=NOON
            )
            append(stores, entries.planned, NOON, new_id)
            rows = [line(position=position, line=place) for place in range(len(details))]
            stores.investigations.add_steps(one.id, rows)
        return position

    def end(self, one: Investigation) -> None:
        move = Move(
            investigation_id=one.id,
            run=one.run,
            source=State.CREATED,
            since=one.moved_at,
            target=State.HALTED,
            snapshot=b"",
            spending=Spending(tokens=60_000, usd=Decimal("0.2"), ms=1_500, iterations=3),
            now=NOON + timedelta(seconds=3),
            verdict=Verdict.NEEDS_TECH,
        )
        with self.transactions.writing(self.world.admin) as stores:
            assert stores.investigations.move(move)
            assert stores.investigations.close(one.id, NOON + timedelta(seconds=4))


@pytest.fixture
def desk(database: Database) -> Iterator[Desk]:
    world = open_world(database.owner_url, database.app_url, f"seen {new_id()}")
    yield Desk(world, InMemoryKeyStore(), new_id())
    world.pool.close()


def test_steps_have_the_texts_that_the_ledger_holds(desk: Desk) -> None:
    one = desk.begin()
    first = desk.write(one, "Looked at the ticket.", "Asked the memory.")
    second = desk.write(one, "Found <EMAIL_1>.")
    steps = desk.browse.steps(desk.world.admin, one.id, after=0, limit=10)
    assert [(each.seq, each.detail, each.position) for each in steps.items] == [
        (1, "Looked at the ticket.", first),
        (2, "Asked the memory.", first),
        (3, "Found <EMAIL_1>.", second),
    ]
    assert steps.items[0].citations == ("[doc:a#1]",)
    assert (steps.after, steps.ended, steps.state) == (3, False, State.CREATED)
    rest = desk.browse.steps(desk.world.admin, one.id, after=2, limit=10)
    assert [each.detail for each in rest.items] == ["Found <EMAIL_1>."]


def test_it_has_ended_only_when_every_step_was_given(desk: Desk) -> None:
    one = desk.begin()
    desk.write(one, "One.", "Two.")
    desk.end(one)
    first = desk.browse.steps(desk.world.admin, one.id, after=0, limit=2)
    assert (first.ended, first.after) == (False, 2)
    last = desk.browse.steps(desk.world.admin, one.id, after=2, limit=2)
    assert (last.ended, last.after, last.items) == (True, 2, ())


def test_of_whom_was_forgotten_the_timeline_stays_without_its_words(desk: Desk) -> None:
    one = desk.begin()
    desk.write(one, "Found Ada.")
    sealed = desk.seal(call_id := new_id(), (desk.subject,), {"arguments": '{"user": "ada"}'})
    given = {"id": call_id, "input": sealed, "data_subjects": (desk.subject,)}
    with desk.transactions.writing(desk.world.admin) as stores:
        stores.actions.add(action(one, **given))
    desk.keys.destroy(desk.world.workspace_id, desk.subject)
    [step] = desk.browse.steps(desk.world.admin, one.id, after=0, limit=9).items
    assert (step.detail, step.readable, step.system) == (None, False, "plan")
    [call] = desk.browse.show(desk.world.admin, one.id).actions
    assert (call.input, call.output, call.readable) == (None, None, False)


def test_a_text_that_was_altered_is_no_text(desk: Desk) -> None:
    one = desk.begin()
    foreign = desk.seal(new_id(), (), {"arguments": "somebody else's"})
    with desk.transactions.writing(desk.world.admin) as stores:
        stores.actions.add(action(one, input=foreign))
    with pytest.raises(BodyUnreadable, match="not what was sealed"):
        desk.browse.show(desk.world.admin, one.id)


def test_costs_are_summed_by_investigation_and_persona_and_what_else_was_asked_is_in_none(
    desk: Desk,
) -> None:
    one = desk.begin()
    log = PostgresCallLog(desk.world.pool)
    for run_id in (one.id, one.id, new_id(), None):
        record = CallRecord(
            id=new_id(), workspace_id=desk.world.workspace_id, run_id=run_id,
            purpose=Purpose.PLANNER, provider="anthropic", model="m", started_at=NOON,
            usage=Usage(input_tokens=100), cost_usd=Decimal("0.01"),
        )  # fmt: skip
        log.record(record)
    for by, name in ((CostBy.INVESTIGATION, str(one.id)), (CostBy.PERSONA, one.persona)):
        with desk.transactions.reading(desk.world.admin) as stores:
            rows = stores.costs.grouped(by, NOON.date(), NOON.date())
        assert [(row.name, row.calls, row.tokens) for row in rows] == [(name, 2, 200)]


def test_one_is_shown_with_its_costs_its_questions_and_what_is_left(desk: Desk) -> None:
    one = desk.begin()
    desk.end(one)
    log = PostgresCallLog(desk.world.pool)
    for purpose in (Purpose.PLANNER, Purpose.PLANNER, Purpose.VERDICT):
        record = CallRecord(
            id=new_id(),
            workspace_id=desk.world.workspace_id,
            run_id=one.id,
            purpose=purpose,
            provider="anthropic",
            model="claude-sonnet-4-6",
            started_at=NOON,
            usage=Usage(input_tokens=100, output_tokens=10),
            cost_usd=Decimal("0.01"),
        )
        log.record(record)
    call_id = new_id()
    done = action(
        one,
        id=call_id,
        state=ActionState.PROPOSED,
        input=desk.seal(call_id, (), {"arguments": '{"user": "<EMAIL_1>"}'}),
    )
    with desk.transactions.writing(desk.world.admin) as stores:
        stores.approvals.add(approval(one))
        stores.actions.add(done)
    shown = desk.browse.show(desk.world.admin, one.id)
    assert [(row.name, row.calls, row.usd) for row in shown.spent_by_purpose] == [
        ("planner", 2, 0.02),
        ("verdict", 1, 0.01),
    ]
    assert (shown.budget.tokens, shown.left.tokens, shown.left.usd) == (50_000, 0, 0.3)
    assert (shown.left.seconds, shown.left.iterations) == (898.5, 17)
    assert [each.tool for each in shown.approvals] == ["accounts.unlock"]
    [call] = shown.actions
    assert (call.owner, call.tool, call.input) == (
        "accounts",
        "accounts.unlock",
        '{"user": "<EMAIL_1>"}',
    )
    assert shown.investigation.trace_id == TRACEPARENT[3:35]
    assert (shown.investigation.verdict, shown.investigation.state) == ("needs_tech", "HALTED")


def test_lists_are_of_this_workspace_and_of_what_was_asked_for(
    desk: Desk, database: Database
) -> None:
    one, other = desk.begin(), desk.begin(traceparent=None)
    with desk.transactions.writing(desk.world.admin) as stores:
        stores.actions.add(action(one))
        stores.actions.add(action(other, connector="http", tool="get"))
    browse, who = desk.browse, desk.world.as_other()
    found = browse.page(who, state=None, ticket_id=None, before=None, limit=9)
    assert [each.id for each in found] == [other.id, one.id]
    assert found[0].trace_id is None
    of_one = browse.page(who, state=None, ticket_id=one.ticket_id, before=None, limit=9)
    assert [each.id for each in of_one] == [one.id]
    calls = browse.tool_calls(
        who, investigation_id=None, connector="http", session_id=None, before=None, limit=9
    )
    assert [each.tool for each in calls] == ["http.get"]
    assert browse.tool_call(who, calls[0].id) == calls[0]
    theirs = open_world(database.owner_url, database.app_url, f"others {new_id()}")
    stranger = Desk(theirs, desk.keys, desk.subject)
    assert (
        stranger.browse.page(theirs.admin, state=None, ticket_id=None, before=None, limit=9) == ()
    )
    with pytest.raises(NotFound):
        stranger.browse.steps(theirs.admin, one.id, after=0, limit=9)
    with pytest.raises(NotFound):
        stranger.browse.show(theirs.admin, one.id)
    with pytest.raises(NotFound):
        stranger.browse.tool_call(theirs.admin, calls[0].id)
    theirs.pool.close()


def test_an_agent_key_without_the_scope_admin_reads_its_own_tool_calls_only(desk: Desk) -> None:
    one = desk.begin()
    agent = desk.world.as_other(allowed_scopes=frozenset({Scope.PUBLIC, Scope.SHARED}))
    theirs, own = action(one), action(one, principal_id=agent.principal_id)
    with desk.transactions.writing(desk.world.admin) as stores:
        stores.actions.add(theirs)
        stores.actions.add(own)
    browse = desk.browse
    for asked in (None, one.id):
        calls = browse.tool_calls(
            agent, investigation_id=asked, connector=None, session_id=None, before=None, limit=9
        )
        assert [each.id for each in calls] == [own.id]
    assert browse.tool_call(agent, own.id).id == own.id
    with pytest.raises(NotFound):
        browse.tool_call(agent, theirs.id)
    for read in (
        lambda: browse.show(agent, one.id),
        lambda: browse.steps(agent, one.id, after=0, limit=1),
    ):
        with pytest.raises(Denied, match="scope"):
            read()


def test_public_keys_read_none_of_it(desk: Desk) -> None:
    one = desk.begin()
    public = desk.world.as_other(role=Role.PUBLIC)
    browse = desk.browse
    for read in (
        lambda: browse.show(public, one.id),
        lambda: browse.steps(public, one.id, after=0, limit=1),
        lambda: browse.glance(public, one.id),
        lambda: browse.page(public, state=None, ticket_id=None, before=None, limit=1),
        lambda: browse.tool_calls(
            public, investigation_id=None, connector=None, session_id=None, before=None, limit=1
        ),
        lambda: browse.tool_call(public, one.id),
    ):
        with pytest.raises(Denied):
            read()
