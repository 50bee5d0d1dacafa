"""`cairn cost`: what models have cost, and a million operations at list prices."""

import inspect
import json
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.api.cost_fakes import NOON, CostWorld
from tests.unit.api.fakes import WORKSPACE, World
from tests.unit.cli.fakes import Shell

from cairn.cli.cost import bill
from cairn.cli.cost.million import (
    LARGE_MB,
    MILLION,
    OPERATIONS,
    SMALL_MB,
    Operation,
    cost_of_million,
    millions,
    price_list,
)
from cairn.llm.configuration import PRICES

ROOT = Path(__file__).parents[3]
PERIOD = ("--since", "2026-03-01", "--until", "2026-03-15")


def spent() -> Shell:
    spending = CostWorld()
    spending.spend(WORKSPACE, usd="0.3")
    spending.spend(WORKSPACE, at=NOON - timedelta(days=1), model="[ours]", usd=None)
    return Shell(world=World(spending=spending))


def test_models_are_shown_with_bars_and_what_has_no_price_is_said() -> None:
    shown = spent().run("cost", *PERIOD)
    assert shown.exit_code == 0, shown.stderr
    assert "2026-03-01 to 2026-03-15: 0.3000 USD, 2048 tokens in 2 calls" in shown.stdout
    assert "█" in shown.stdout
    assert "[ours]" in shown.stdout
    assert "1 calls of models without a known price" in shown.stdout


@pytest.mark.parametrize(
    ("by", "names"),
    [("purpose", ["planner"]), ("day", ["2026-03-14", "2026-03-15"])],
)
def test_rows_are_what_was_asked_for(by: str, names: list[str]) -> None:
    told = json.loads(spent().run("cost", *PERIOD, "--by", by, "--json").stdout)
    assert [row["name"] for row in told["rows"]] == names
    assert told["million"]["region"] == "us-east-1"


def test_every_workspace_is_shown_to_the_owner_and_the_keys_own_to_others() -> None:
    shell = spent()
    own = json.loads(shell.run("cost", *PERIOD, "--by", "workspace", "--json").stdout)
    assert [row["name"] for row in own["rows"]] == [str(WORKSPACE)]
    shell.settings["database_url"] = "postgresql://owner@db/cairn"
    every = json.loads(shell.run("cost", *PERIOD, "--by", "workspace", "--json").stdout)
    assert [row["usd"] for row in every["rows"]] == [0.5]
    assert every["total"] == {"calls": 2, "tokens": 10, "usd": 0.5, "unpriced_calls": 0}
    assert shell.operator.made == ["2026-03-01 2026-03-15"]
    assert "0.5000" in shell.run("cost", *PERIOD, "--by", "workspace").stdout


def test_so_many_days_are_counted_back_from_the_last_one() -> None:
    told = json.loads(spent().run("cost", "--until", "2026-03-15", "--json").stdout)
    assert (told["since"], told["total"]["calls"]) == ("2026-02-14", 2)


def test_what_is_no_day_is_named() -> None:
    assert "until is a day such as" in Shell().run("cost", "--until", "soon").stderr


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (("--since", "soon"), 1),
        (("--until", "2026-02-30"), 1),
        (("--since", "2026-03-15", "--until", "2026-03-01"), 2),
        (("--by", "colour"), 2),
    ],
)
def test_a_period_that_is_none_is_refused(given: tuple[str, ...], status: int) -> None:
    assert Shell().run("cost", *given).exit_code == status


def test_without_the_million_only_what_was_spent_is_shown() -> None:
    told = json.loads(spent().run("cost", *PERIOD, "--no-million", "--json").stdout)
    assert "million" not in told
    assert "a million of" not in spent().run("cost", *PERIOD, "--no-million").stdout
    assert "a million of" in spent().run("cost", *PERIOD).stdout


def test_a_million_is_units_times_prices() -> None:
    one = Operation(name="x", what="", units={"sqs_request": Decimal(3), "kms_request": Decimal(0)})
    made = cost_of_million(one)
    price = Decimal(price_list()["prices"]["sqs_request"]["usd"])
    assert made.parts == {"sqs_request": 3 * price * MILLION}
    assert (made.aws, made.models) == (Decimal("1.2"), 0)


def test_every_part_has_a_price_with_its_source_and_every_price_is_used() -> None:
    prices = price_list()["prices"]
    used = {name for operation in OPERATIONS for name in operation.units}
    billed = re.findall(r'"(\w+_(?:hour|month))"', inspect.getsource(bill))
    domain = {name for name in prices if name.endswith(".search_hour")}
    assert used | set(billed) | domain == set(prices)
    assert all(Decimal(price["usd"]) > 0 for price in prices.values())
    assert all(price["source"].startswith("https://aws.amazon.com/") for price in prices.values())
    assert re.fullmatch(r"20\d\d-\d\d", price_list()["as_of"])


def test_models_of_an_operation_have_a_price() -> None:
    assert {model for operation in OPERATIONS for model in operation.usages} <= set(PRICES)
    assert all(one.models > 0 for one, op in zip(millions(), OPERATIONS, strict=True) if op.usages)


def test_a_million_writes_cost_twelve_dollars_and_a_million_searches_six_at_most() -> None:
    usd = {million.name: million.aws for million in millions()}
    assert usd["memory written"] <= 12
    assert usd["search"] <= 6


def test_the_guide_says_what_the_command_does() -> None:
    guide = (ROOT / "docs" / "operate" / "observability.md").read_text(encoding="utf-8")
    for million in millions():
        said = re.search(rf"\| {million.name} \|.*\| ([\d,.]+) \| [\d,.]+ \|", guide)
        assert said is not None, million.name
        assert abs(Decimal(said[1].replace(",", "")) - million.aws) < max(
            million.aws / 200, Decimal("0.01")
        )


def test_an_unknown_part_is_an_error() -> None:
    with pytest.raises(KeyError):
        cost_of_million(Operation(name="x", what="", units={"gold": Decimal(1)}))


def test_the_functions_have_the_memory_that_is_counted() -> None:
    found = {
        int(found[1])
        for file in (ROOT / "functions").glob("*/function.toml")
        if (found := re.search(r"memory_mb = (\d+)", file.read_text(encoding="utf-8")))
    }
    assert found == {LARGE_MB, SMALL_MB}


def test_the_guide_has_every_operation_and_every_price() -> None:
    guide = (ROOT / "docs" / "operate" / "observability.md").read_text(encoding="utf-8")
    for operation in OPERATIONS:
        assert f"| {operation.name} |" in guide
    for name, price in price_list()["prices"].items():
        assert f"| `{name}` | {price['usd']} |" in guide
