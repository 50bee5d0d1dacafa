"""Metrics of searches: on AWS a line each, on the laptop none, and never a word of anybody."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cairn.adapters.aws.metrics import NAMESPACE, UNITS, measured, values_of

GUIDE = Path(__file__).parents[4] / "docs" / "operate" / "deploy-aws.md"
SEARCH: dict[str, Any] = {
    "workspace_id": "0198f0a2-5c1e-7b3d-9e55-0d6a4b8c1f20",
    "ms": 41.5,
    "degraded": ["vector"],
}


def nothing(event: str, fields: dict[str, Any]) -> None:
    """The log."""


def test_the_guide_names_every_metric_with_its_unit() -> None:
    section = GUIDE.read_text(encoding="utf-8").partition("## Metrics")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE)
    assert dict(rows) == dict(UNITS)
    assert f"namespace `{NAMESPACE}`" in section


def test_on_aws_a_search_is_one_line_in_the_embedded_format(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logged: list[str] = []
    tell = measured("api", "prod", lambda event, _: logged.append(event))
    tell("recall.search", SEARCH)
    assert logged == ["recall.search"]
    line = json.loads(capsys.readouterr().out)
    [described] = line.pop("_aws")["CloudWatchMetrics"]
    assert described["Namespace"] == NAMESPACE
    assert described["Dimensions"] == [["service"]]
    assert {metric["Name"]: metric["Unit"] for metric in described["Metrics"]} == {
        "RecallMilliseconds": "Milliseconds",
        "RecallDegraded": "Count",
    }
    assert line == {
        "service": "cairn-api",
        "RecallMilliseconds": [41.5],
        "RecallDegraded": [1.0],
    }


def test_each_search_is_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    tell = measured("retrieve", "prod", nothing)
    for milliseconds in (1.0, 2.0):
        tell("recall.search", SEARCH | {"ms": milliseconds, "degraded": []})
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["RecallMilliseconds"] for line in lines] == [[1.0], [2.0]]
    assert [line["RecallDegraded"] for line in lines] == [[0.0], [0.0]]


def test_the_laptop_logs_only(capsys: pytest.CaptureFixture[str]) -> None:
    logged: list[str] = []
    tell = measured("api", "local", lambda event, _: logged.append(event))
    tell("recall.search", SEARCH)
    tell("recall.vector_leg_empty", {"excused": False})
    assert logged == ["recall.search", "recall.vector_leg_empty"]
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("excused", "values"), [(False, {"VectorLegEmpty": 1.0}), (True, {})])
def test_an_empty_vector_leg_counts_when_vectors_are_missing(
    excused: bool, values: dict[str, float]
) -> None:
    assert values_of("recall.vector_leg_empty", {"excused": excused}) == values


def test_what_is_no_metric_writes_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    measured("api", "prod", nothing)("report.made", {"ms": 3})
    assert capsys.readouterr().out == ""
