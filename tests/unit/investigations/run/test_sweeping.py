"""What nobody moves on any more is taken up every hour, and a person is called where that fails."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from tests.support.agent import Agents, ScriptedPlanner, act

from cairn.connectors.connector import Connector, Transport
from cairn.connectors.port import ConnectorUnauthorised, ToolCall
from cairn.investigations.run.resume import MOST_BY_ITSELF, answer_to
from cairn.investigations.state import State, Verdict
from cairn.kernel.errors import Conflict, Unavailable
from cairn.kernel.ids import new_id
from cairn.ledger.keys import SubjectForgotten
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import DEFAULT
from cairn.tickets.ticket import TicketStatus
from cairn.writing.ports import OutboxRow, Topic

HOUR = timedelta(hours=1)


def hours(agents: Agents, count: int) -> list[int]:
    """Let hours go by with a sweep each; how many were resumed in each."""
    resumed: list[int] = []
    for _ in range(count):
        agents.clock.now += HOUR
        resumed.append(agents.sweep()["resumed"])
    return resumed


def waiting() -> Agents:
    planner = ScriptedPlanner([act("accounts.unlock")])
    agents = Agents(persona=replace(DEFAULT, autonomy=Autonomy.PROPOSE), planner=planner)
    agents.host.add("accounts.unlock", Lane.WRITE)
    return agents


def test_executions_that_vanish_are_followed_by_others_and_hold_no_slot_for_ever() -> None:
    agents = Agents(at_once=1)
    one, second = agents.begin(), agents.ticket()
    assert hours(agents, 3) == [1, 1, 1]
    assert (agents.found_(one).run, agents.escalate.calls) == (4, {})
    assert hours(agents, 1) == [1]
    assert agents.escalate.calls[one][0] is Verdict.FAILED
    assert agents.of_ticket(second) != one
    assert hours(agents, 3) == [2, 2, 2]
    assert agents.work(one).state is State.DONE
    assert agents.found_(one).ended_at is not None


def test_a_help_desk_that_is_away_for_hours_gets_its_answer_and_a_person_is_called() -> None:
    agents = Agents()
    agents.desk.fails = Unavailable("down", reason="source")
    one = agents.begin()
    for run in range(1, 8):
        with pytest.raises(Unavailable):
            agents.work(one)
        agents.execution_ended(agents.workspace_id, one, run=run, status="FAILED")
        if run > MOST_BY_ITSELF:
            assert one in agents.escalate.calls
            assert agents.slots() == 0
            assert hours(agents, 1) == [1]
        assert agents.found_(one).run == run + 1
    agents.desk.fails = None
    assert agents.work(one).state is State.DONE
    assert agents.types().count("investigation.ended") == 1
    assert list(agents.desk.written) == [one]


def test_a_person_is_called_though_the_first_try_failed() -> None:
    class Late:
        calls = 0

        def __call__(self, *_: object, **__: object) -> None:
            self.calls += 1
            if self.calls == 1:
                raise Unavailable("down", reason="database")

    agents, late = Agents(), Late()
    one = agents.begin()
    for run in (1, 2, 3):
        agents.execution_ended(agents.workspace_id, one, run=run, status="FAILED")
    agents.leave = replace(agents.leave, escalate=late)
    agents.execution_ended = replace(agents.execution_ended, leave=agents.leave)
    with pytest.raises(Unavailable):
        agents.execution_ended(agents.workspace_id, one, run=4, status="FAILED")
    assert agents.slots() == 0
    agents.execution_ended(agents.workspace_id, one, run=4, status="FAILED")
    assert late.calls == 2


def test_whom_nobody_may_speak_of_any_more_is_left_without_a_call() -> None:
    def forgotten(*_: object, **__: object) -> None:
        raise SubjectForgotten(new_id())

    agents = Agents()
    one = agents.begin()
    replace(agents.leave, escalate=forgotten)(agents.workspace_id, one)
    assert agents.slots() == 0


@pytest.mark.parametrize("runs", [0, MOST_BY_ITSELF + 1])
@pytest.mark.parametrize("state", [State.DONE, State.HALTED])
def test_an_end_that_was_not_closed_is_closed_whatever_its_run(state: State, runs: int) -> None:
    agents = Agents()
    one = agents.begin()
    if state is State.DONE:
        agents.until(one, State.DONE)
    else:
        agents.halt(agents.workspace_id, one, error="KeyError", cause="Traceback ...")
    for _ in range(runs):
        agents.resume.one(agents.admin, one)
    assert hours(agents, 2) == [1, 0]
    assert agents.found_(one).ended_at is not None
    assert agents.found_(one).run == runs + 1
    assert agents.slots() == 0


def test_one_that_cannot_be_taken_up_keeps_no_other_waiting() -> None:
    agents = Agents()
    first, second = agents.begin(), agents.begin()
    agents.until(first, State.DONE)

    def fails(*_: object, **__: object) -> object:
        raise Conflict("no", reason="never")

    agents.sweep = replace(agents.sweep, close=fails)
    assert hours(agents, 1) == [1]
    assert agents.found_(second).run == 2
    [(event, told)] = agents.told
    assert (event, told["reason"]) == ("investigation.not_taken_up", "never")


def test_what_was_mended_while_its_ticket_was_worked_on_puts_the_ticket_back() -> None:
    planner = ScriptedPlanner([act("accounts.find")])
    agents = Agents(planner=planner)
    agents.host.add("accounts.find", Lane.READ)

    def out(call: ToolCall) -> None:
        raise ConnectorUnauthorised("401")

    agents.host.before = out
    ticket = agents.ticket()
    agents.admit(agents.workspace_id)
    one = agents.of_ticket(ticket)
    agents.until(one, State.ACTING)
    agents.step(one)
    agents.clock.now += timedelta(seconds=5)
    mended = Connector(
        id=new_id(),
        name="accounts",
        transport=Transport.IN_PROCESS,
        builtin="accounts",
        created_at=agents.clock(),
        changed_at=agents.clock(),
    )
    with agents.transactions.writing(agents.admin) as stores:
        stores.connectors.add(mended, b"sealed")
        assert stores.tickets.waiting("connector:accounts", 10) == []
    agents.work(one)
    agents.host.before = lambda call: None
    assert agents.sweep()["started"] == 1
    assert agents.of_ticket(ticket) != one
    agents.work(agents.of_ticket(ticket))
    assert agents.sweep()["started"] == 0


class TestAfterARestart:
    """Every execution is gone: the moment of the restart is told."""

    def test_what_was_under_way_goes_on_at_once(self) -> None:
        agents = Agents()
        one, two = agents.begin(), agents.begin()
        agents.step(one, 2)
        agents.clock.now += timedelta(seconds=5)
        assert agents.sweep()["resumed"] == 0
        assert agents.sweep(lost_before=agents.clock())["resumed"] == 2
        assert agents.work(one).state is agents.work(two).state is State.DONE

    def test_the_same_restart_told_twice_starts_one_execution(self) -> None:
        agents = Agents()
        one = agents.begin()
        agents.clock.now += timedelta(seconds=5)
        moment = agents.clock()
        assert [agents.sweep(lost_before=moment)["resumed"] for _ in range(2)] == [1, 0]
        assert agents.found_(one).run == 2

    def test_what_began_after_it_is_left_alone(self) -> None:
        agents = Agents()
        moment = agents.clock()
        agents.clock.now += timedelta(seconds=5)
        one = agents.begin()
        assert agents.sweep(lost_before=moment)["resumed"] == 0
        assert agents.found_(one).run == 1

    def test_nobody_is_called_because_a_laptop_was_switched_off_often(self) -> None:
        agents = Agents()
        one = agents.begin()
        for _ in range(MOST_BY_ITSELF + 3):
            agents.clock.now += timedelta(seconds=5)
            agents.sweep(lost_before=agents.clock())
        assert agents.escalate.calls == {}
        assert agents.work(one).state is State.DONE

    def test_who_waits_for_a_person_goes_on_waiting(self) -> None:
        agents = waiting()
        one = agents.begin()
        assert agents.work(one).state is State.WAITING_APPROVAL
        agents.clock.now += timedelta(seconds=5)
        assert agents.sweep(lost_before=agents.clock())["resumed"] == 0
        assert agents.found_(one).run == 1

    def test_queued_tickets_are_taken_up(self) -> None:
        agents = Agents()
        ticket = agents.ticket()
        assert agents.sweep(lost_before=agents.clock())["started"] == 1
        with agents.transactions.reading(agents.admin) as stores:
            assert stores.tickets.find(ticket).status is TicketStatus.INVESTIGATING


class TestDecidedWithoutAnExecution:
    """Whoever waited is gone when the answer comes: another execution carries it out, once."""

    def test_the_decision_is_carried_out(self) -> None:
        agents, one, asked = decided()
        assert agents.resume.decided(agents.workspace_id, asked).run == 2  # type: ignore[union-attr]
        [row] = [row for row in agents.woken(Topic.INVESTIGATION) if row.batch == 2]
        assert row.reference == one
        assert agents.work(one).state is State.DONE
        assert len(agents.host.effects) == 1
        assert len(agents.questions()) == 1

    def test_the_same_decision_starts_one_execution(self) -> None:
        agents, one, asked = decided()
        agents.clock.now += timedelta(seconds=1)
        agents.resume.decided(agents.workspace_id, asked)
        assert agents.resume.decided(agents.workspace_id, asked) is None
        assert agents.found_(one).run == 2

    def test_what_has_moved_on_is_left_alone(self) -> None:
        agents, one, asked = decided()
        agents.clock.now += timedelta(seconds=1)
        agents.step(one)
        assert agents.resume.decided(agents.workspace_id, asked) is None
        agents.work(one)
        assert agents.resume.decided(agents.workspace_id, asked) is None
        assert agents.found_(one).run == 1

    def test_an_open_question_starts_nothing(self) -> None:
        agents = waiting()
        one = agents.begin()
        agents.work(one)
        assert agents.resume.decided(agents.workspace_id, agents.pending().id) is None
        assert agents.resume.decided(agents.workspace_id, new_id()) is None

    def test_an_answer_for_an_old_run_does_nothing_beside_the_new_one(self) -> None:
        agents, one, asked = decided()
        agents.resume.decided(agents.workspace_id, asked)
        with pytest.raises(Conflict, match="taken this one's place"):
            agents.run(agents.workspace_id, one, state=agents.found_(one).state, run=1)
        assert agents.host.effects == []

    def test_an_expired_question_is_closed(self) -> None:
        agents = waiting()
        one = agents.begin()
        agents.work(one)
        agents.clock.now += timedelta(days=2)
        agents.sweep()
        assert agents.found_(one).state is State.HALTED
        agents.resume.decided(agents.workspace_id, agents.pending().id)
        assert agents.work(one).state is State.HALTED
        assert agents.found_(one).ended_at is not None

    @pytest.mark.parametrize("token", [None, "t"])
    def test_the_dispatcher_is_told_which_execution_waits(self, token: str | None) -> None:
        agents = waiting()
        one = agents.begin()
        agents.work(one)
        if token is not None:
            agents.wait(agents.workspace_id, one, token=token, run=1)
        asked = agents.pending()
        row = OutboxRow(
            workspace_id=agents.workspace_id,
            id=new_id(),
            topic=Topic.APPROVAL,
            position=1,
            reference=asked.id,
        )
        assert answer_to(agents.transactions, row) is None
        agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
        told = answer_to(agents.transactions, row)
        assert told is not None
        assert (told.token, told.execution) == (token, f"{one}-1")
        assert told.output["state"] == State.ACTING.value


def decided() -> tuple[Agents, UUID, UUID]:
    """An investigation that waited, its question decided, its execution gone."""
    agents = waiting()
    one = agents.begin()
    agents.work(one)
    asked = agents.pending()
    agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
    return agents, one, asked.id
