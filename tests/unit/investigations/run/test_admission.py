"""Who is investigated next, how many at once, and what an ended execution leaves behind."""

from dataclasses import replace
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from tests.fakes.agent import InMemorySlots
from tests.fakes.tickets import InMemoryTickets
from tests.support.agent import Agents, ScriptedPlanner, act
from tests.support.remembering import admin_of

from cairn.investigations.run.step import execution_name
from cairn.investigations.state import State, Verdict
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, Denied, NotFound, Unavailable
from cairn.kernel.ids import new_id
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import DEFAULT
from cairn.tickets.ticket import Priority, TicketStatus
from cairn.writing.ports import Topic

ENDS = ["FAILED", "TIMED_OUT", "ABORTED"]


def status(agents: Agents, ticket_id: Any) -> TicketStatus:
    with agents.transactions.reading(agents.admin) as stores:
        return stores.tickets.find(ticket_id).status


def unavailable(*_: Any) -> None:
    raise Unavailable("The desk does not answer.")


def not_now(*_: Any) -> None:
    return None


class TestAdmitting:
    def test_as_many_run_as_there_are_slots_and_the_rest_wait_in_order(self) -> None:
        agents = Agents(at_once=2)
        tickets = [agents.ticket(priority=item) for item in (Priority.LOW, *[Priority.HIGH] * 3)]
        assert agents.admit(agents.workspace_id) == 2
        assert agents.admit(agents.workspace_id) == 0
        expected = [TicketStatus.QUEUED, *[TicketStatus.INVESTIGATING] * 2, TicketStatus.QUEUED]
        assert [status(agents, ticket) for ticket in tickets] == expected
        assert agents.slots() == 2

    def test_each_is_started_through_the_outbox_under_its_run_s_name(self) -> None:
        agents = Agents()
        one = agents.begin()
        [row] = agents.woken(Topic.INVESTIGATION)
        assert (row.reference, row.batch) == (one, 1)
        assert agents.found_(one).execution == execution_name(one, 1) == f"{one}-1"
        assert agents.types() == ["investigation.started"]

    def test_without_a_slot_no_ticket_is_claimed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        agents = Agents()
        ticket = agents.ticket()
        with monkeypatch.context() as held:
            held.setattr(InMemorySlots, "take", not_now)
            assert agents.admit(agents.workspace_id) == 0
        assert status(agents, ticket) is TicketStatus.QUEUED
        assert agents.admit(agents.workspace_id) == 1

    def test_without_a_ticket_no_slot_is_held(self, monkeypatch: pytest.MonkeyPatch) -> None:
        agents = Agents()
        agents.ticket()
        with monkeypatch.context() as gone:
            gone.setattr(InMemoryTickets, "claim", not_now)
            assert agents.admit(agents.workspace_id) == 0
        assert agents.slots() == 0

    def test_an_end_that_cannot_be_told_makes_room_all_the_same(self) -> None:
        agents = Agents(at_once=1)
        first = agents.begin()
        second = agents.ticket()
        settle, agents.desk.settle = agents.desk.settle, unavailable
        with pytest.raises(Unavailable):
            agents.work(first)
        assert agents.found_(first).ended_at is None
        assert status(agents, second) is TicketStatus.INVESTIGATING
        agents.desk.settle = settle
        agents.close(agents.workspace_id, first)
        assert agents.found_(first).ended_at is not None
        assert agents.slots() == 1

    def test_what_ends_makes_room_for_the_next(self) -> None:
        agents = Agents(at_once=1)
        first = agents.begin()
        second = agents.ticket()
        assert status(agents, second) is TicketStatus.QUEUED
        agents.work(first)
        assert status(agents, second) is TicketStatus.INVESTIGATING
        assert agents.slots() == 1

    def test_who_waits_for_a_person_makes_room_too(self) -> None:
        persona = replace(DEFAULT, autonomy=Autonomy.PROPOSE)
        planner = ScriptedPlanner([act("accounts.unlock")])
        agents = Agents(at_once=1, persona=persona, planner=planner)
        agents.host.add("accounts.unlock", Lane.WRITE)
        one, second = agents.begin(), agents.ticket()
        agents.work(one)
        agents.wait(agents.workspace_id, one, token="t")
        assert status(agents, second) is TicketStatus.INVESTIGATING

    def test_many_at_once_never_start_a_ticket_twice_nor_too_many(self) -> None:
        agents = Agents(at_once=5)
        tickets = [agents.ticket() for _ in range(12)]
        threads = [Thread(target=agents.admit, args=(agents.workspace_id,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert agents.slots() == 5
        taken = [
            ticket for ticket in tickets if status(agents, ticket) is TicketStatus.INVESTIGATING
        ]
        assert len(taken) == agents.types().count("investigation.started") == 5

    def test_fifty_complete_with_eight_at_a_time(self) -> None:
        agents = Agents(at_once=8)
        for _ in range(50):
            agents.ticket()
        agents.admit(agents.workspace_id)
        running = [row.reference for row in agents.woken(Topic.INVESTIGATION)]
        for done in range(50):
            assert agents.slots() <= 8
            agents.work(running[done])
            running = [row.reference for row in agents.woken(Topic.INVESTIGATION)]
        assert len(set(running)) == 50
        assert agents.slots() == 0


class TestStarting:
    def test_a_ticket_is_investigated_because_somebody_asks(self) -> None:
        agents = Agents()
        ticket_id = agents.ticket()
        now = agents.start(agents.admin, ticket_id)
        assert now is not None
        assert now.state is State.CREATED

    def test_without_room_it_waits_in_the_queue(self) -> None:
        agents = Agents(at_once=0)
        assert agents.start(agents.admin, agents.ticket()) is None

    def test_one_that_was_handed_over_is_not_handed_over_again_unasked(self) -> None:
        agents = Agents()
        one = agents.begin()
        agents.work(one)
        before = agents.types()
        with pytest.raises(Conflict, match="ticket-ended"):
            agents.start(agents.admin, agents.found_(one).ticket_id)
        assert agents.types() == before

    def test_one_under_way_is_not_begun_twice(self) -> None:
        agents = Agents()
        one = agents.begin()
        with pytest.raises(Conflict, match="investigated-already"):
            agents.start(agents.admin, agents.found_(one).ticket_id)

    def test_agents_that_are_off_are_off(self) -> None:
        agents = Agents(persona=replace(DEFAULT, autonomy=Autonomy.OFF))
        with pytest.raises(Denied, match="autonomy-off"):
            agents.start(agents.admin, agents.ticket())

    def test_switched_off_meanwhile_it_is_skipped(self) -> None:
        agents = Agents()
        one = agents.begin()
        agents.desk.personas["default"] = replace(DEFAULT, autonomy=Autonomy.OFF)
        agents.work(one)
        assert agents.found_(one).verdict is Verdict.SKIPPED
        assert agents.planner.asked == []

    def test_strangers_and_the_public_start_nothing(self) -> None:
        agents = Agents()
        ticket_id, elsewhere = agents.ticket(), new_id()
        agents.transactions.create_workspace(elsewhere)
        with pytest.raises(NotFound):
            agents.start(admin_of(elsewhere), ticket_id)
        with pytest.raises(Denied):
            agents.start(replace(agents.admin, role=Role.PUBLIC), ticket_id)


class TestEndedExecutions:
    @pytest.mark.parametrize("how", ENDS)
    def test_three_are_followed_by_another_and_the_fourth_is_left_to_a_person(
        self, how: str
    ) -> None:
        agents = Agents()
        one = agents.begin()
        for run in (1, 2, 3):
            now = agents.execution_ended(agents.workspace_id, one, run=run, status=how)
            assert now.run == run + 1
        now = agents.execution_ended(agents.workspace_id, one, run=4, status=how)
        assert (now.run, now.state) == (4, State.CREATED)
        assert agents.slots() == 0
        agents.resume.one(agents.admin, one)
        assert agents.work(one).state is State.DONE

    def test_the_end_of_an_older_run_changes_nothing(self) -> None:
        agents = Agents()
        one = agents.begin()
        agents.resume.one(agents.admin, one)
        before = agents.entries()
        agents.execution_ended(agents.workspace_id, one, run=1, status="ABORTED")
        assert agents.entries() == before

    def test_the_same_event_twice_starts_one_execution(self) -> None:
        agents = Agents()
        one = agents.begin()
        for _ in range(2):
            agents.execution_ended(agents.workspace_id, one, run=1, status="FAILED")
        assert agents.found_(one).run == 2

    def test_a_slot_that_was_freed_is_the_next_ticket_s(self) -> None:
        agents = Agents(at_once=1)
        one, second = agents.begin(), agents.ticket()
        for run in (1, 2, 3, 4):
            agents.execution_ended(agents.workspace_id, one, run=run, status="FAILED")
        assert status(agents, second) is TicketStatus.INVESTIGATING

    @pytest.mark.parametrize("state", [State.DONE, State.HALTED])
    def test_an_end_that_was_not_closed_is_closed(self, state: State) -> None:
        agents = Agents()
        one = agents.begin()
        if state is State.DONE:
            agents.until(one, State.DONE)
        else:
            agents.halt(agents.workspace_id, one, error="KeyError", cause="Traceback ...")
        agents.execution_ended(agents.workspace_id, one, run=1, status="FAILED")
        assert agents.found_(one).ended_at is not None
        assert len(agents.desk.endings) == 1
        assert agents.slots() == 0

    def test_success_is_nothing_to_do(self) -> None:
        agents = Agents()
        one = agents.begin()
        agents.execution_ended(agents.workspace_id, one, run=1, status="SUCCEEDED")
        assert agents.found_(one).run == 1


class TestResuming:
    def test_only_admins_resume_and_only_what_is_not_over(self) -> None:
        agents = Agents()
        one = agents.begin()
        with pytest.raises(Denied):
            agents.resume.one(replace(agents.admin, role=Role.AGENT), one)
        with pytest.raises(Denied):
            agents.resume.stale(replace(agents.admin, role=Role.AGENT))
        with pytest.raises(NotFound):
            agents.resume.one(agents.admin, new_id())
        agents.work(one)
        with pytest.raises(Conflict, match="ended"):
            agents.resume.one(agents.admin, one)

    @pytest.mark.parametrize("state", [item for item in State if not item.is_end])
    def test_from_every_state_it_goes_on_to_the_end(self, state: State) -> None:
        persona = replace(DEFAULT, autonomy=Autonomy.PROPOSE)
        from tests.support.agent import search

        agents = Agents(
            persona=persona, planner=ScriptedPlanner([search("it"), act("accounts.unlock")])
        )
        agents.planner.at = lambda question: (
            len(question.memory.queries) + len(question.memory.observations)
        )
        agents.host.add("accounts.unlock", Lane.WRITE)
        one = agents.begin()
        for _ in range(30):
            if agents.found_(one).state is state:
                break
            if agents.found_(one).state is State.WAITING_APPROVAL:
                asked = agents.pending()
                agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
            else:
                agents.step(one)
        assert agents.found_(one).state is state
        agents.clock.now += timedelta(hours=1)
        agents.resume.one(agents.admin, one)
        if agents.work(one).state is State.WAITING_APPROVAL:
            asked = agents.pending()
            agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
            agents.work(one)
        assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED
        assert len(agents.host.effects) == 1
        assert len(agents.questions()) == 1
        assert len(agents.desk.written) == 1

    def test_an_older_run_neither_halts_nor_waits_for_a_newer_one(self) -> None:
        planner = ScriptedPlanner([act("accounts.unlock")])
        agents = Agents(persona=replace(DEFAULT, autonomy=Autonomy.PROPOSE), planner=planner)
        agents.host.add("accounts.unlock", Lane.WRITE)
        one = agents.begin()
        agents.work(one)
        agents.resume.one(agents.admin, one)
        agents.wait(agents.workspace_id, one, token="new", run=2)
        agents.wait(agents.workspace_id, one, token="old", run=1)
        halted = agents.halt(agents.workspace_id, one, error="KeyError", run=1)
        assert halted.state is State.WAITING_APPROVAL
        asked = agents.pending()
        agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
        with agents.transactions.reading(agents.admin) as stores:
            assert stores.approvals.token(asked.id) == "new"
