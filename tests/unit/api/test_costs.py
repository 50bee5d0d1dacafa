"""`/v1/costs`: sums by model, purpose, day and workspace, who may ask, and bad periods."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.api.cost_fakes import NOON, CostWorld
from tests.unit.api.fakes import AGENT_KEY, PUBLIC_KEY, WORKSPACE, Client, World

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id
from cairn.llm.costs import MAX_DAYS, day_of
from cairn.llm.port import Purpose


def spent() -> World:
    spending = CostWorld()
    spending.spend(WORKSPACE)
    spending.spend(WORKSPACE, purpose=Purpose.VERDICT, model="claude-haiku-4-5", usd="0.001")
    spending.spend(WORKSPACE, at=NOON - timedelta(days=2), model="of-our-own", usd=None)
    spending.spend(WORKSPACE, at=NOON - timedelta(days=40), usd="5")
    spending.spend(new_id(), usd="100")
    return World(spending=spending)


def asked(query: str = "") -> dict[str, Any]:
    return Client(spent()).get(f"/v1/costs{query}").json()


def test_models_are_listed_the_dearest_first_over_the_last_thirty_days() -> None:
    report = asked()
    assert (report["since"], report["until"], report["by"]) == ("2026-02-14", "2026-03-15", "model")
    assert [row["name"] for row in report["rows"]] == [
        "claude-sonnet-4-6",
        "claude-haiku-4-5",
        "of-our-own",
    ]
    assert report["total"]["usd"] == pytest.approx(0.011)
    assert report["total"]["calls"] == 3
    assert report["total"]["tokens"] == 3 * 1024
    assert report["dropped_calls"] == 0


def test_a_model_without_a_price_is_counted_and_costs_nothing() -> None:
    row = asked()["rows"][2]
    assert (row["usd"], row["unpriced_calls"], row["input_tokens"]) == (0, 1, 900)


def test_rows_can_be_purposes_days_or_the_workspace() -> None:
    purposes = {row["name"]: row["calls"] for row in asked("?by=purpose")["rows"]}
    assert purposes == {"planner": 2, "verdict": 1}
    days = [row["name"] for row in asked("?by=day")["rows"]]
    assert days == ["2026-03-13", "2026-03-15"]
    [row] = asked("?by=workspace")["rows"]
    assert (row["name"], row["calls"]) == (str(WORKSPACE), 3)


def test_a_period_is_whole_days_both_included() -> None:
    report = asked("?since=2026-02-03&until=2026-02-03")
    assert (report["total"]["calls"], report["total"]["usd"]) == (1, 5.0)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?since=2026-03-15&until=2026-03-14", "query.until"),
        ("?since=2024-03-15&until=2026-03-14", "query.since"),
        ("?since=yesterday", "query.since"),
        ("?until=2026-02-30", "query.until"),
        ("?until=0", "query.until"),
        ("?since=1767225600", "query.since"),
        ("?by=colour", "query.by"),
    ],
)
def test_a_period_or_a_grouping_that_is_none_is_refused(query: str, field: str) -> None:
    refused = Client(World()).get(f"/v1/costs{query}")
    assert refused.status_code == 422
    assert [error["location"] for error in refused.json()["errors"]] == [field]


def test_the_first_days_there_are_have_costs_too() -> None:
    report = Client(World()).get("/v1/costs?until=0001-01-05").json()
    assert (report["since"], report["total"]["calls"]) == ("0001-01-01", 0)


@pytest.mark.parametrize("key", [AGENT_KEY, PUBLIC_KEY])
def test_keys_of_agents_and_public_keys_are_refused(key: str) -> None:
    refused = Client(World(), key=key).get("/v1/costs")
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")


def test_a_day_can_be_said_as_so_many_days() -> None:
    assert day_of("1d", NOON.date()).isoformat() == "2026-03-15"
    assert day_of("7d", NOON.date()).isoformat() == "2026-03-09"
    assert day_of("2026-01-02", NOON.date()).isoformat() == "2026-01-02"


@pytest.mark.parametrize("text", ["0d", f"{MAX_DAYS + 1}d", "-1d", "d", "", "last week", "٣d"])
def test_a_day_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed, match="since is a day"):
        day_of(text, NOON.date())
