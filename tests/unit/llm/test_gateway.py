"""The gateway asks the right model, counts what it costs, and refuses before it is too much."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.model_calls import InMemoryCallLog
from tests.support.chat import ScriptedModel
from tests.support.thinking import CALL, Watch, gateway

from cairn.kernel.errors import BudgetExceeded, Unavailable, ValidationFailed
from cairn.llm.budget import Budget, Limits, Spent, Terms, allowance_of, estimate_tokens
from cairn.llm.configuration import (
    CONFIGURATION,
    FREE,
    HEURISTIC,
    PRICES,
    Choice,
    Price,
    Route,
    configured,
    cost_of,
    price_of,
)
from cairn.llm.costs import Call, CallRecord, Spending
from cairn.llm.port import ChatAnswer, ChatRequest, Effort, Message, Purpose, Role, Usage
from cairn.llm.structured import AnswerShape
from cairn.llm.summaries import HeuristicModel, Level, Rules, summarise

TEXT = "The harbour pump failed in March. Ines Roth replaced the harbour pump the same day."


def request(purpose: Purpose = Purpose.SUMMARY, *, max_tokens: int = 100) -> ChatRequest:
    messages = (Message(role=Role.USER, text=TEXT),)
    return ChatRequest(
        purpose=purpose, system="Be brief.", messages=messages, max_tokens=max_tokens
    )


def still() -> float:
    return 0.0


def budget(**limits: object) -> Budget:
    return Budget(Limits(**limits), stopwatch=still)  # pyright: ignore[reportArgumentType]


def test_without_a_key_the_heuristic_provider_answers_and_says_so() -> None:
    spending = budget()
    answer = gateway(HeuristicModel()).chat(request(), CALL, spending)
    assert (answer.provider, answer.model, answer.cost_usd) == ("heuristic", "extractive-1", 0)
    assert spending.spent == Spent()


def test_without_a_key_a_purpose_that_needs_a_model_is_unavailable() -> None:
    asked = gateway(HeuristicModel())
    assert not asked.answers(Purpose.PLANNER, CALL.workspace_id)
    with pytest.raises(Unavailable) as nobody:
        asked.chat(request(Purpose.PLANNER), CALL, budget())
    assert nobody.value.reason == "no-model"


@pytest.mark.parametrize("purpose", Purpose)
def test_every_purpose_has_a_route_that_ends_with_the_heuristic(purpose: Purpose) -> None:
    assert CONFIGURATION[purpose].routes[-1] == HEURISTIC


@pytest.mark.parametrize(
    ("purpose", "model"),
    [
        (Purpose.CLASSIFIER, "claude-haiku-4-5"),
        (Purpose.VERDICT, "claude-haiku-4-5"),
        (Purpose.PLANNER, "claude-sonnet-4-6"),
        (Purpose.TOOL_SELECTOR, "claude-sonnet-4-6"),
        (Purpose.SUMMARIZER, "claude-sonnet-4-6"),
    ],
)
def test_small_questions_go_to_the_small_model(purpose: Purpose, model: str) -> None:
    scripted = ScriptedModel("yes")
    assert gateway(scripted, HeuristicModel()).chat(request(purpose), CALL, budget()).text == "yes"
    assert [asked for asked, _ in scripted.asked] == [model]


def test_a_call_costs_what_the_table_says_and_is_recorded() -> None:
    spending = budget()
    answer = gateway(ScriptedModel("short")).chat(request(), CALL, spending)
    assert answer.cost_usd == Decimal("0.0015")  # 1000 in at 1 USD, 100 out at 5 USD a million
    assert (spending.spent.tokens, spending.spent.usd) == (1100, Decimal("0.0015"))


def test_a_workspaces_own_rate_comes_before_the_table() -> None:
    asked = gateway(ScriptedModel("short"), terms=Terms(rates={"claude-haiku-4-5": FREE}))
    assert asked.chat(request(), CALL, budget()).cost_usd == 0


def test_a_model_without_a_price_costs_none_and_is_budgeted_by_tokens() -> None:
    house = Route(provider="anthropic", model="house-model")
    rows = {**CONFIGURATION, Purpose.SUMMARY: Choice(routes=(house,), max_tokens=100)}
    asked = gateway(ScriptedModel("one", "two"), terms=Terms(configuration=rows))
    spending = budget(tokens=1150, usd=Decimal("0.0001"))
    assert asked.chat(request(), CALL, spending).cost_usd is None
    assert spending.spent.unpriced_calls == 1
    with pytest.raises(BudgetExceeded) as spent:
        asked.chat(request(), CALL, spending)
    assert spent.value.reason == "budget-tokens"


def test_a_provider_that_is_down_is_followed_by_the_next() -> None:
    asked = gateway(ScriptedModel(Unavailable("down")), HeuristicModel())
    assert asked.chat(request(), CALL, budget()).provider == "heuristic"


def test_when_the_last_provider_is_down_its_failure_is_raised() -> None:
    with pytest.raises(Unavailable, match="overloaded"):
        gateway(ScriptedModel(Unavailable("overloaded"))).chat(request(), CALL, budget())


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"tokens": 100}, "budget-tokens"),
        ({"usd": Decimal("0.0004")}, "budget-usd"),
        ({"seconds": 5.0}, "budget-seconds"),
    ],
)
def test_a_call_that_would_pass_a_limit_is_never_made(
    limits: dict[str, object], reason: str
) -> None:
    ticks = iter([0.0, 6.0])
    spending = Budget(Limits(**limits), stopwatch=lambda: next(ticks))  # pyright: ignore[reportArgumentType]
    scripted = ScriptedModel("never said")
    with pytest.raises(BudgetExceeded) as refused:
        gateway(scripted).chat(request(), CALL, spending)
    assert refused.value.reason == reason
    assert scripted.asked == []


def test_a_loop_ends_when_its_iterations_do() -> None:
    spending = budget(iterations=2)
    spending.iterate()
    spending.iterate()
    with pytest.raises(BudgetExceeded) as refused:
        spending.iterate()
    assert refused.value.reason == "budget-iterations"
    assert spending.spent.iterations == 2


def test_a_resumed_task_carries_its_spending_on() -> None:
    spent = Spent(tokens=900, seconds=4.0)
    resumed = Budget(Limits(tokens=1000), stopwatch=still, spent=spent)
    resumed.check(tokens=100)
    assert resumed.spent == spent
    with pytest.raises(BudgetExceeded):
        resumed.check(tokens=101)


def test_the_estimate_of_a_prompt_is_not_below_its_words() -> None:
    assert estimate_tokens(request()) >= len(TEXT.split()) + 2


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("claude-haiku-4-5", True),
        ("claude-haiku-4-5-20251001", True),
        ("gpt-4o-mini-2024-07-18", True),
        ("gpt-4o-mini-turbo", False),
        ("house-model", False),
    ],
)
def test_a_date_in_a_models_name_does_not_change_its_price(model: str, known: bool) -> None:
    assert (price_of(model) is not None) is known


def test_cached_tokens_are_counted_at_their_own_rate() -> None:
    usage = Usage(input_tokens=0, cache_read_tokens=1_000_000, cache_write_tokens=1_000_000)
    assert cost_of(PRICES["claude-sonnet-4-6"], usage) == Decimal("4.05")  # 0.1 x 3 + 1.25 x 3
    assert usage.total == 2_000_000


def test_an_unknown_price_makes_an_unknown_cost() -> None:
    assert cost_of(None, Usage(input_tokens=5)) is None


def test_no_price_is_negative() -> None:
    def rates(price: Price) -> list[Decimal]:
        return [price.input, price.output, price.cache_read, price.cache_write]

    assert all(rate >= 0 for price in PRICES.values() for rate in rates(price))


def test_a_summary_by_rules_is_marked_as_an_extract() -> None:
    summary = summarise(Rules(), TEXT, Level.CHUNK, budget())
    assert summary.is_extract
    assert summary.text == TEXT


def test_a_summary_by_a_model_is_asked_for_with_the_text_as_data() -> None:
    scripted = ScriptedModel(" A pump failed. ")
    summary = summarise(gateway(scripted).of(CALL), TEXT, Level.SECTION, budget())
    assert (summary.text, summary.is_extract) == ("A pump failed.", False)
    [(_, asked)] = scripted.asked
    assert [message.text for message in asked.messages] == [TEXT]
    assert "one section" in asked.system
    assert "90" in asked.system


# The configuration, retries and providers


def test_what_a_request_leaves_open_the_configuration_says() -> None:
    rows = configured("anthropic:m?max_tokens=77&temperature=0.3&effort=high")
    scripted = ScriptedModel("one", "two")
    asked = gateway(scripted, terms=Terms(configuration=rows))
    asked.chat(replace(request(), max_tokens=None), CALL)
    asked.chat(replace(request(), max_tokens=5, temperature=1.0, effort=Effort.LOW), CALL)
    sent = [(one.max_tokens, one.temperature, one.effort) for _, one in scripted.asked]
    assert sent == [(77, 0.3, Effort.HIGH), (5, 1.0, Effort.LOW)]


def test_a_busy_server_is_asked_again_after_what_it_asks_for_and_some_jitter() -> None:
    watch = Watch()
    busy = [Unavailable("busy", reason="chat-busy", retry_after=7, status=429) for _ in range(2)]
    scripted = ScriptedModel(*busy, "at last")
    assert gateway(scripted, watch=watch).chat(request(), CALL).text == "at last"
    [first, second] = watch.pauses
    assert 7 <= first <= 7.5
    assert 7 <= second <= 8


@pytest.mark.parametrize(
    ("problem", "times"),
    [
        (Unavailable("", reason="chat-busy", status=429), 3),
        (Unavailable("", reason="chat-failed", status=500), 3),
        (Unavailable("", reason="chat-failed", status=502), 3),
        (Unavailable("", reason="chat-failed", status=503), 3),
        (Unavailable("", reason="chat-failed", status=529), 3),
        (Unavailable("", reason="chat-unreachable"), 3),
        (Unavailable("", reason="chat-timeout"), 3),
        (Unavailable("", reason="chat-credentials", status=401), 1),
        (Unavailable("", reason="chat-failed", status=307), 1),
        (Unavailable("", reason="chat-malformed"), 1),
    ],
    ids=lambda value: str(value) if isinstance(value, Unavailable) else None,
)
def test_what_may_pass_is_tried_three_times_and_then_the_next_provider(
    problem: Unavailable, times: int
) -> None:
    first, second = ScriptedModel(*[problem] * 3), ScriptedModel("here", provider="openai")
    answer = gateway(first, second).chat(request(), CALL)
    assert (answer.provider, len(first.asked)) == ("openai", times)


def test_a_pause_that_would_end_past_the_deadline_is_not_waited_for() -> None:
    watch = Watch()
    busy = Unavailable("busy", reason="chat-busy", retry_after=60, status=429)
    first, second = ScriptedModel(busy), ScriptedModel("here", provider="openai")
    call = replace(CALL, seconds=30)
    assert gateway(first, second, watch=watch).chat(request(), call).provider == "openai"
    assert watch.pauses == []


def test_a_request_waits_no_longer_than_the_deadline_leaves() -> None:
    watch = Watch()
    busy = Unavailable("busy", reason="chat-busy", retry_after=8, status=429)
    scripted = ScriptedModel(busy, "late")
    gateway(scripted, watch=watch).chat(request(), replace(CALL, seconds=10))
    waits = [one.timeout_s for _, one in scripted.asked]
    assert waits[0] == 10
    assert waits[1] is not None
    assert waits[1] <= 2


def test_when_nobody_answers_the_error_says_what_each_said_and_how_the_circuits_stand() -> None:
    down = [Unavailable("down", reason="chat-failed", status=500) for _ in range(6)]
    asked = gateway(ScriptedModel(*down), ScriptedModel(*down, provider="openai"))
    with pytest.raises(Unavailable) as failure:
        asked.chat(request(), CALL)
    assert failure.value.fields["tried"] == ("anthropic: chat-failed", "openai: chat-failed")
    assert failure.value.fields["circuits"] == {"anthropic": "closed", "openai": "closed"}


def test_a_circuit_opens_for_every_call_and_the_next_provider_answers_at_once() -> None:
    down = [Unavailable("down", reason="chat-failed", status=500) for _ in range(5)]
    first = ScriptedModel(*down, "well again")
    second = ScriptedModel(*["here"] * 3, provider="openai")
    watch = Watch()
    asked = gateway(first, second, watch=watch)
    for _ in range(3):
        assert asked.chat(request(), CALL).provider == "openai"
    assert len(first.asked) == 5
    assert asked.circuits() == {"anthropic": "open", "openai": "closed"}
    watch.now += 60
    assert asked.chat(request(), CALL).text == "well again"
    assert asked.circuits() == {"anthropic": "closed", "openai": "closed"}


def test_a_request_the_provider_refuses_as_such_is_not_sent_to_another() -> None:
    second = ScriptedModel("never said", provider="openai")
    with pytest.raises(ValidationFailed):
        gateway(Refusing(), second).chat(request(), CALL)
    assert second.asked == []


class Refusing(ScriptedModel):
    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        raise ValidationFailed("no", reason="chat-refused", status=400)


# Structured answers


class Verdict(AnswerShape):
    search: bool


def test_an_answer_of_the_shape_is_asked_for_once() -> None:
    scripted = ScriptedModel('{"search": true}')
    made = gateway(scripted).structured(request(), Verdict, CALL)
    assert (made.value.search, made.asked, made.cost_usd) == (True, 1, Decimal("0.0015"))
    assert scripted.asked[0][1].schema == Verdict.model_json_schema()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("Sure!", "Invalid JSON"),
        ('{"search": ', "Invalid JSON"),
        ('{"search": "perhaps"}', "search: Input should be a valid boolean"),
        ('{"search": true, "more": 1}', "more: Extra inputs are not permitted"),
        ("", "Invalid JSON"),
    ],
)
def test_a_model_that_misses_the_shape_is_told_why_and_both_answers_are_counted(
    wrong: str, said: str
) -> None:
    scripted, spending, calls = (
        ScriptedModel(wrong, '{"search": false}'),
        budget(),
        InMemoryCallLog(),
    )
    made = gateway(scripted, calls=calls).structured(request(), Verdict, CALL, spending)
    assert (made.value.search, made.asked, made.usage.total) == (False, 2, 2200)
    assert made.cost_usd == spending.spent.usd == Decimal("0.0030")
    again = scripted.asked[1][1].messages
    assert [item.role for item in again[-2:]] == [Role.ASSISTANT, Role.USER]
    assert again[-2].text == (wrong or "(nothing)")
    assert said in again[-1].text
    assert [record.outcome for record in calls.records] == ["chat-wrong-shape", "answered"]


def test_after_one_clarification_it_is_given_up_without_a_word_of_the_answer() -> None:
    scripted = ScriptedModel("no", "still no", '{"search": true}')
    with pytest.raises(Unavailable) as wrong:
        gateway(scripted).structured(request(), Verdict, CALL)
    assert wrong.value.reason == "chat-wrong-shape"
    assert "still no" not in str(wrong.value)
    assert len(scripted.asked) == 2


def test_the_clarification_is_not_sent_when_the_budget_does_not_allow_it() -> None:
    scripted = ScriptedModel("no", '{"search": true}')
    with pytest.raises(BudgetExceeded):
        gateway(scripted).structured(request(), Verdict, CALL, budget(tokens=1200))
    assert len(scripted.asked) == 1


def test_rules_are_not_asked_for_a_shape() -> None:
    with pytest.raises(Unavailable) as nobody:
        gateway(HeuristicModel()).structured(request(), Verdict, CALL)
    assert nobody.value.reason == "no-model"


# What is kept, and what a workspace may spend


def test_every_request_sent_is_kept_without_a_text() -> None:
    calls, down = InMemoryCallLog(), Unavailable("down", reason="chat-failed", status=500)
    gateway(ScriptedModel(down, "short"), calls=calls).chat(request(), CALL)
    failed, answered = calls.records
    assert (failed.outcome, failed.usage, failed.cost_usd) == ("chat-failed", Usage(), None)
    assert (answered.outcome, answered.usage.total) == ("answered", 1100)
    assert (answered.cost_usd, answered.model) == (Decimal("0.0015"), "claude-haiku-4-5")
    assert (answered.workspace_id, answered.run_id) == (CALL.workspace_id, CALL.run_id)
    assert "pump" not in repr(calls.records)


def test_rules_cost_nothing_and_are_no_call() -> None:
    calls = InMemoryCallLog()
    gateway(HeuristicModel(), calls=calls).chat(request(), CALL)
    assert calls.records == ()


@pytest.mark.parametrize("limits", ["day_usd=0.003", "run_usd=0.003", "day_tokens=2300"])
def test_a_workspace_is_refused_before_the_call_that_would_pass_its_day_or_its_run(
    limits: str,
) -> None:
    scripted = ScriptedModel("one", "two", "never said")
    asked = gateway(scripted, terms=Terms(allowance=allowance_of(limits)))
    asked.chat(request(), CALL)
    asked.chat(request(), CALL)
    with pytest.raises(BudgetExceeded) as spent:
        asked.chat(request(), CALL)
    assert spent.value.reason == f"budget-{limits.partition('=')[0].replace('_', '-')}"
    assert len(scripted.asked) == 2


def test_one_workspaces_spending_is_not_anothers() -> None:
    asked = gateway(
        ScriptedModel("one", "two"), terms=Terms(allowance=allowance_of("day_usd=0.002"))
    )
    asked.chat(request(), CALL)
    other = Call(workspace_id=UUID(int=9))
    assert asked.chat(request(), other).text == "two"


class Broken(InMemoryCallLog):
    def record(self, record: CallRecord) -> None:
        raise Unavailable("the database is gone", reason="database")


def test_an_answer_that_is_paid_for_is_not_lost_with_its_row_and_that_is_reported() -> None:
    told: list[tuple[str, dict[str, Any]]] = []
    asked = gateway(ScriptedModel("short"), calls=Broken(), told=told)
    assert asked.chat(request(), CALL).text == "short"
    [(event, fields)] = told
    assert (event, fields["reason"]) == ("llm.call_not_kept", "database")


class Unread(InMemoryCallLog):
    def spent(self, workspace_id: UUID, run_id: UUID | None, at: datetime) -> Spending:
        raise Unavailable("the database is gone", reason="database")


def test_nothing_is_asked_while_nobody_knows_what_was_spent() -> None:
    scripted = ScriptedModel("never said")
    with pytest.raises(Unavailable):
        gateway(scripted, calls=Unread()).chat(request(), CALL)
    assert scripted.asked == []
