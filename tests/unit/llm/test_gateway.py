"""The gateway asks the right model, counts what it costs, and refuses before it is too much."""

from decimal import Decimal

import pytest
from tests.support.chat import ScriptedModel
from tests.support.thinking import CALL, gateway

from cairn.errors import BudgetExceeded, Unavailable
from cairn.llm.allowance import Terms
from cairn.llm.budget import Budget, Limits, Spent, estimate_tokens
from cairn.llm.configuration import CONFIGURATION, HEURISTIC, Choice, Route
from cairn.llm.heuristic import HeuristicModel, Rules
from cairn.llm.port import ChatRequest, Message, Purpose, Role, Usage
from cairn.llm.pricing import FREE, PRICES, Price, cost_of, price_of
from cairn.llm.summaries import Level, summarise

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
