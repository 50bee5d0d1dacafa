"""What workspaces may spend, and what else they may set about models."""

from decimal import Decimal
from typing import Any

import pytest

from cairn.kernel.errors import BudgetExceeded, ValidationFailed
from cairn.llm.budget import Allowance, Limits, Spent, Terms, allowance_of, terms_for
from cairn.llm.configuration import (
    CONFIGURATION,
    HEURISTIC,
    UNKNOWN_WINDOW,
    Price,
    Route,
    configured,
    window_of,
)
from cairn.llm.costs import Spending
from cairn.llm.port import Effort, Purpose

BASE = Terms()


def test_nothing_set_is_fifty_dollars_a_day_and_five_a_run() -> None:
    allowed = allowance_of("")
    assert (allowed.day.usd, allowed.run.usd) == (50, 5)
    assert (allowed.day.tokens, allowed.run.tokens) == (20_000_000, 2_000_000)


def test_a_limit_that_is_set_leaves_the_others() -> None:
    allowed = allowance_of("day_usd=0.5, run_tokens=1000")
    assert allowed.day == Limits(usd=Decimal("0.5"), tokens=20_000_000)
    assert allowed.run == Limits(usd=Decimal(5), tokens=1000)


@pytest.mark.parametrize(
    "limits", ["day", "day_usd", "day_usd=", "week_usd=1", "day_eur=1", "run_usd=-1", "run_usd=NaN"]
)
def test_what_is_no_limit_is_refused(limits: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        allowance_of(limits)
    assert refused.value.reason == "unknown-model-budget"


@pytest.mark.parametrize(
    ("spending", "reason"),
    [
        (Spending(day=Spent(usd=Decimal("0.95"))), "budget-day-usd"),
        (Spending(day=Spent(tokens=950)), "budget-day-tokens"),
        (Spending(run=Spent(usd=Decimal("0.45"))), "budget-run-usd"),
        (Spending(run=Spent(tokens=450)), "budget-run-tokens"),
    ],
)
def test_a_call_that_would_pass_what_a_day_or_a_run_may_cost_is_refused(
    spending: Spending, reason: str
) -> None:
    allowed = Allowance(
        day=Limits(usd=Decimal(1), tokens=1000), run=Limits(usd=Decimal("0.5"), tokens=500)
    )
    allowed.check(spending, tokens=50, usd=Decimal("0.05"))
    with pytest.raises(BudgetExceeded) as refused:
        allowed.check(spending, tokens=51, usd=Decimal("0.06"))
    assert refused.value.reason in {reason, reason.replace("tokens", "usd")}
    with pytest.raises(BudgetExceeded):
        allowed.check(spending, tokens=51, usd=Decimal("0.051"))


def test_a_call_without_a_price_is_checked_by_its_tokens() -> None:
    allowed = Allowance(day=Limits(usd=Decimal(1), tokens=100), run=Limits())
    with pytest.raises(BudgetExceeded) as refused:
        allowed.check(Spending(day=Spent(tokens=60)), tokens=50, usd=None)
    assert refused.value.reason == "budget-day-tokens"


# What a workspace sets


def test_a_workspace_that_sets_nothing_has_the_deployments_terms() -> None:
    assert terms_for(BASE, {"recall": {}}) == (BASE, ())


def test_a_workspace_has_its_own_models_rates_budgets_and_options() -> None:
    terms, wrong = terms_for(
        BASE,
        {
            "models": {
                "chat": "consolidation=openai:house",
                "budgets": {"day_usd": 2, "run_tokens": "900"},
                "rates": {"house": {"input": "0.5", "output": 2, "cache_read": 0.1}},
                "options": {"rewrite": {"temperature": 0.2, "effort": "low", "max_tokens": 90}},
            }
        },
    )
    assert wrong == ()
    assert terms.configuration[Purpose.CONSOLIDATION].routes == (
        Route(provider="openai", model="house"),
        HEURISTIC,
    )
    assert terms.configuration[Purpose.PLANNER] == CONFIGURATION[Purpose.PLANNER]
    assert (terms.allowance.day.usd, terms.allowance.run.tokens) == (2, 900)
    assert terms.rates["house"] == Price(
        input=Decimal("0.5"),
        output=Decimal(2),
        cache_read=Decimal("0.1"),
        cache_write=Decimal("0.5"),
    )
    rewrite = terms.configuration[Purpose.REWRITE]
    assert (rewrite.temperature, rewrite.effort, rewrite.max_tokens) == (0.2, Effort.LOW, 90)
    assert rewrite.routes == CONFIGURATION[Purpose.REWRITE].routes


@pytest.mark.parametrize(
    ("models", "wrong"),
    [
        ("all of them", ("models",)),
        ({"chats": "x"}, ("models.chats",)),
        ({"chat": "gpt"}, ("models.chat",)),
        ({"chat": {"all": "openai:x"}}, ("models.chat.all",)),
        ({"budgets": {"day_usd": -1}}, ("models.budgets.day_usd",)),
        ({"budgets": {"day_usd": True}}, ("models.budgets.day_usd",)),
        ({"budgets": 5}, ("models.budgets",)),
        ({"rates": {"house": {"input": "1"}}}, ("models.rates.house",)),
        ({"rates": {"house": {"input": 1, "output": "Infinity"}}}, ("models.rates.house",)),
        ({"rates": {"house": 3}}, ("models.rates.house",)),
        ({"options": {"rewrite": {"temperature": 3}}}, ("models.options.rewrite",)),
        ({"options": {"rewrite": {"top_p": 1}}}, ("models.options.rewrite",)),
        ({"options": {"rewriting": {"max_tokens": 5}}}, ("models.options.rewriting",)),
    ],
)
def test_what_nobody_can_use_is_left_out_and_named(models: Any, wrong: tuple[str, ...]) -> None:
    assert terms_for(BASE, {"models": models}) == (BASE, wrong)


def test_a_limit_nobody_can_use_leaves_the_deployments_and_not_none() -> None:
    terms, _ = terms_for(BASE, {"models": {"budgets": {"day_usd": None, "run_usd": 1}}})
    assert (terms.allowance.day.usd, terms.allowance.run.usd) == (50, 1)


# The deployment's own


def test_options_follow_a_model() -> None:
    rows = configured("consolidation=openai:gpt-5-mini?effort=low&max_tokens=9000&temperature=1")
    row = rows[Purpose.CONSOLIDATION]
    assert row.routes[0] == Route(provider="openai", model="gpt-5-mini")
    assert (row.effort, row.max_tokens, row.temperature) == (Effort.LOW, 9000, 1.0)


@pytest.mark.parametrize(
    "options",
    [
        "effort=huge",
        "effort=",
        "max_tokens=0",
        "max_tokens=many",
        "window=1",
        "temperature=-1",
        "x=1",
    ],
)
def test_an_option_that_is_none_is_refused_with_what_there_is(options: str) -> None:
    with pytest.raises(ValidationFailed, match="minimal, low, medium, high, xhigh"):
        configured(f"openai:m?{options}")


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-haiku-4-5", 200_000),
        ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", 200_000),
        ("gpt-4.1-mini", 1_000_000),
        ("us.amazon.nova-micro-v1:0", 128_000),
        ("amazon.nova-pro-v1:0", 300_000),
        ("qwen2.5:7b", UNKNOWN_WINDOW),
    ],
)
def test_the_window_of_a_model_is_known_by_its_name(model: str, tokens: int) -> None:
    assert window_of(model) == tokens
