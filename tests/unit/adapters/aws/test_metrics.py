"""The fifteen metrics: on AWS a line each, on the laptop none, and never more series than said."""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.model_calls import InMemoryCallLog

from cairn.adapters.aws.metrics import NAMESPACE
from cairn.bootstrap.parts import metrics
from cairn.kernel.ids import new_id
from cairn.kernel.metrics import MOST_CHARS, MOST_VALUES, OTHER, SHAPES, Metric, Sort, untold
from cairn.llm.costs import CallRecord, MeasuredCalls
from cairn.llm.port import Purpose, Usage

ROOT = Path(__file__).parents[4]
LABELS = {
    "workspace": "w",
    "connector": "http",
    "tool": "http.get",
    "model": "m",
    "purpose": "planner",
    "outcome": "applied",
    "surface": "api",
    "channel": "widget",
}


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def sets_of(line: dict[str, Any]) -> list[list[str]]:
    [described] = line["_aws"]["CloudWatchMetrics"]
    return described["Dimensions"]


def test_there_are_fifteen_and_each_has_a_shape() -> None:
    assert len(Metric) == 15
    assert set(SHAPES) == set(Metric)
    assert all(item.value.startswith("cairn_") for item in Metric)
    named = {name for shape in SHAPES.values() for names in shape.sets for name in names}
    assert named == set(LABELS)


@pytest.mark.parametrize("metric", Metric)
def test_a_line_has_its_unit_its_sets_and_every_label(
    metric: Metric, capsys: pytest.CaptureFixture[str]
) -> None:
    shape = SHAPES[metric]
    given = {name: LABELS[name] for names in shape.sets for name in names}
    metrics("prod")(metric, 3, **given)
    [line] = lines(capsys)
    [described] = line["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == NAMESPACE
    assert described["Metrics"] == [{"Name": metric.value, "Unit": shape.unit}]
    assert line[metric.value] == [3.0]
    assert {name: line[name] for name in given} == given
    if shape.sort is not Sort.GAUGE:
        assert sets_of(line) == [list(names) for names in shape.sets]


def test_a_gauge_is_kept_by_exactly_the_labels_it_comes_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell = metrics("prod")
    tell(Metric.APPROVALS_PENDING, 5)
    tell(Metric.APPROVALS_PENDING, 2, workspace="w")
    assert [sets_of(line) for line in lines(capsys)] == [[[]], [["workspace"]]]


def test_a_gauge_with_labels_of_no_set_is_no_total(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics("prod")(Metric.CONNECTOR_HEALTH, 1, connector="http")
    assert lines(capsys) == []


def test_labels_that_are_in_no_set_stay_on_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    metrics("prod")(Metric.LLM_USD, 0.5, workspace="w", model="m", purpose="planner")
    [line] = lines(capsys)
    assert line["purpose"] == "planner"
    assert ["purpose"] not in sets_of(line)


def test_labels_that_are_not_given_leave_out_their_sets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics("prod")(Metric.SAFETY_DENIALS, workspace=None, outcome="not-in-scope", connector="")
    [line] = lines(capsys)
    assert sets_of(line) == [[], ["outcome"]]
    assert "workspace" not in line


def test_a_label_takes_so_many_values_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    tell = metrics("prod")
    for number in range(MOST_VALUES + 5):
        tell(Metric.CONNECTOR_CALLS, connector=f"c{number}", tool="t", outcome="applied")
    tell(Metric.CONNECTOR_CALLS, connector="c0", tool="t", outcome="applied")
    shown = [line["connector"] for line in lines(capsys)]
    assert shown[MOST_VALUES:] == [OTHER] * 5 + ["c0"]
    assert len(set(shown)) == MOST_VALUES + 1


def test_a_long_or_blank_label_is_made_one_that_is_accepted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tell = metrics("prod")
    tell(Metric.CONNECTOR_CALLS, connector="x" * 100_000, tool="  ", outcome="ärger")
    [line] = lines(capsys)
    assert (len(line["connector"]), line["tool"]) == (MOST_CHARS, OTHER)
    assert line["outcome"] == "?rger"


def test_the_laptop_writes_none(capsys: pytest.CaptureFixture[str]) -> None:
    tell = metrics("local")
    assert tell is untold
    tell(Metric.INVESTIGATIONS, workspace="w", outcome="DONE")
    assert capsys.readouterr().out == ""


def test_a_call_of_a_model_counts_its_tokens_and_what_it_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = InMemoryCallLog()
    kept = MeasuredCalls(log, metrics("prod"))
    record = CallRecord(
        id=new_id(),
        workspace_id=new_id(),
        run_id=new_id(),
        purpose=Purpose.PLANNER,
        provider="anthropic",
        model="m",
        started_at=datetime(2026, 5, 1, tzinfo=UTC),
        usage=Usage(input_tokens=100, output_tokens=10),
        cost_usd=Decimal("0.01"),
    )
    kept.record(record)
    assert log.records == (record,)
    assert kept.spent(record.workspace_id, record.run_id, record.started_at).run.tokens == 110
    tokens, usd = lines(capsys)
    assert (tokens["cairn_llm_tokens_total"], tokens["purpose"]) == ([110.0], "planner")
    assert usd["cairn_llm_cost_usd_total"] == [0.01]


def test_a_call_that_failed_or_has_no_price_adds_to_no_cost(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept = MeasuredCalls(InMemoryCallLog(), metrics("prod"))
    failed = CallRecord(
        id=new_id(),
        workspace_id=new_id(),
        run_id=None,
        purpose=Purpose.VERDICT,
        provider="anthropic",
        model="m",
        started_at=datetime(2026, 5, 1, tzinfo=UTC),
        outcome="chat-busy",
    )
    kept.record(failed)
    assert lines(capsys) == []


def sources() -> dict[str, str]:
    folders = (ROOT / "shared" / "cairn", ROOT / "functions")
    files = [path for folder in folders for path in folder.rglob("*.py")]
    return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files}


def test_every_metric_is_told_by_somebody() -> None:
    told = "\n".join(
        text for name, text in sources().items() if not name.endswith("cairn/metrics.py")
    )
    assert not [item for item in Metric if f"Metric.{item.name}" not in told]


def test_the_guide_has_every_metric_with_its_unit() -> None:
    guide = (ROOT / "docs" / "operate" / "observability.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(cairn_\w+)` \| (\w+) \|", guide, re.MULTILINE))
    assert rows == {item.value: SHAPES[item].unit for item in Metric}
