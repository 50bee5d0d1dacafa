"""What an investigation may spend: looked at before each model and each tool, carried over runs."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.support.agent import Agents, FakeStopwatch, ScriptedPlanner, act, search

from cairn.connectors.port import ToolCall
from cairn.investigations.run.step import budget_of, spending_of
from cairn.investigations.state import Spending, State, Verdict
from cairn.kernel.errors import BudgetExceeded, Unavailable
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import DEFAULT, Persona

ACTS = replace(DEFAULT, autonomy=Autonomy.ACT)


def world(persona: Persona, *, tokens: int = 0, **given: Any) -> Agents:
    script = [search("locked"), act("accounts.find"), act("accounts.unlock")]
    made = Agents(persona=persona, planner=ScriptedPlanner([*script], tokens=tokens), **given)
    made.host.add("accounts.find", Lane.READ)
    made.host.add("accounts.unlock", Lane.WRITE)
    return made


def test_spending_is_carried_over_and_comes_back_as_it_was() -> None:
    spent = Spending(tokens=7, usd=Decimal("0.25"), ms=1500, iterations=3, unpriced_calls=1)
    budget = budget_of(ACTS, spent, lambda: 4.0)
    assert spending_of(budget) == spent


@pytest.mark.parametrize(
    ("spent", "reason"),
    [
        (Spending(tokens=50_001), "budget-tokens"),
        (Spending(usd=Decimal("0.51")), "budget-usd"),
        (Spending(ms=900_001), "budget-seconds"),
    ],
)
def test_each_limit_is_a_limit(spent: Spending, reason: str) -> None:
    with pytest.raises(BudgetExceeded) as refused:
        budget_of(ACTS, spent, lambda: 0.0).check()
    assert refused.value.reason == reason


@pytest.mark.parametrize("calls", range(7))
def test_a_breach_at_any_model_call_ends_with_a_template_and_no_further_call(calls: int) -> None:
    agents = world(replace(ACTS, max_tokens=calls * 100), tokens=100)
    one = agents.begin()
    assert agents.work(one).state is State.DONE
    assert agents.found_(one).verdict is Verdict.FAILED_BUDGET
    assert agents.found_(one).error == "budget-tokens"
    assert agents.found_(one).spending.tokens == calls * 100
    assert len(agents.planner.asked) == calls + 1  # the last one was refused
    said = agents.desk.written[one]
    assert said["summary"].startswith("The investigation of this ticket stopped at its budget: ")
    assert said["private"]
    assert agents.escalate.calls[one][0] is Verdict.FAILED_BUDGET


def test_enough_for_all_of_it_is_enough() -> None:
    agents = world(replace(ACTS, max_tokens=800), tokens=100)
    one = agents.begin()
    agents.work(one)
    assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED
    assert agents.found_(one).spending.tokens == 700
    assert agents.found_(one).spending.unpriced_calls == 7


@pytest.mark.parametrize("state", [State.PLANNING, State.RETRIEVING, State.SAFETY_CHECK])
def test_time_that_is_over_is_seen_at_the_next_step(state: State) -> None:
    agents = world(ACTS)
    one = agents.begin()
    agents.until(one, state)
    agents.stopwatch.step = 2_000.0
    assert agents.step(one).state is State.VERDICT
    agents.stopwatch.step = 0.001
    agents.work(one)
    assert agents.found_(one).error == "budget-seconds"


def test_no_tool_is_called_once_time_is_over() -> None:
    agents = world(ACTS)
    one = agents.begin()
    agents.until(one, State.ACTING)
    agents.stopwatch.step = 2_000.0
    assert agents.step(one).state is State.VERDICT
    assert agents.host.calls == []


def test_a_tool_is_waited_for_no_longer_than_time_is_left() -> None:
    agents = world(replace(ACTS, max_seconds=10))
    agents.work(agents.begin())
    assert [call.seconds for call in agents.host.calls] == [pytest.approx(10, abs=0.2)] * 2


def test_a_call_that_began_in_time_is_taken_note_of_though_it_took_too_long() -> None:
    agents = world(ACTS)

    def long(call: ToolCall) -> None:
        agents.stopwatch.seconds += 2_000.0

    agents.host.after = long
    one = agents.begin()
    agents.work(one)
    assert agents.found_(one).error == "budget-seconds"
    assert agents.memory(one).observations[0].outcome == "applied"


def test_iterations_are_counted_over_runs() -> None:
    agents = world(replace(ACTS, max_iterations=2))
    one = agents.begin()
    agents.until(one, State.ACTING)
    agents.resume.one(agents.admin, one)
    agents.work(one)
    assert agents.found_(one).spending.iterations == 2
    assert agents.found_(one).error == "budget-iterations"


def test_what_a_failed_step_spent_is_not_forgotten() -> None:
    agents = world(ACTS, tokens=100)

    def fail(question: Any) -> Any:
        raise Unavailable("No model answers.")

    agents.planner.script = [fail, fail]
    one = agents.begin()
    agents.step(one)
    for spent in (200, 300):
        with pytest.raises(Unavailable):
            agents.step(one)
        assert agents.found_(one).spending.tokens == spent
    assert agents.found_(one).state is State.PLANNING


def test_waiting_for_a_person_takes_no_time() -> None:
    agents = world(replace(ACTS, autonomy=Autonomy.PROPOSE))
    one = agents.begin()
    agents.work(one)
    assert agents.found_(one).state is State.WAITING_APPROVAL
    agents.clock.now += timedelta(hours=20)
    asked = agents.pending()
    agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
    agents.work(one)
    assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED
    assert agents.found_(one).spending.ms < 1_000


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(days=400)])
@pytest.mark.parametrize("state", [State.PLANNING, State.ACTING, State.VERDICT])
def test_a_clock_that_jumps_changes_nothing(jump: timedelta, state: State) -> None:
    agents = world(ACTS)
    one = agents.begin()
    agents.until(one, state)
    agents.clock.now += jump
    agents.work(one)
    assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED
    recorded = [entry.recorded_at for entry in agents.entries()]
    assert recorded == sorted(recorded)


def test_a_stopwatch_that_runs_backwards_gives_no_negative_time() -> None:
    agents = world(ACTS, stopwatch=FakeStopwatch(step=-1.0))
    one = agents.begin()
    agents.work(one)
    assert agents.found_(one).spending.ms == 0


def test_skipped_takes_a_template_and_asks_no_model_again() -> None:
    agents = world(ACTS)
    agents.planner.skips = "It is spam."
    one = agents.begin()
    agents.work(one)
    assert agents.planner.kinds() == ["triage"]
    summary = agents.desk.written[one]["summary"]
    ticket = agents.found_(one).ticket_id
    assert summary == f"This ticket was not investigated: It is spam [ticket:{ticket}]."
    assert agents.escalate.calls[one] == (Verdict.SKIPPED, "It is spam.")
