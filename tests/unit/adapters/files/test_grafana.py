"""The Grafana dashboard is made of the metrics, and asks for nothing that `/metrics` has not."""

import json
import re
from pathlib import Path

from infra import grafana
from infra.metric_titles import TITLES
from prometheus_client.parser import text_string_to_metric_families

from cairn.adapters.files.prometheus import Exposition, label_names
from cairn.kernel.metrics import SHAPES, Metric, Sort

NAME = re.compile(r"cairn_\w+")
LABEL = re.compile(r'(\w+)(?:=~|!=|=)"')
BY = re.compile(r"by \(([^)]*)\)")
SUFFIX = re.compile(r"_(bucket|sum|count)$")


def expressions() -> list[str]:
    panels = json.loads(grafana.FILE.read_text(encoding="utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def test_the_file_is_what_the_metrics_make_of_it() -> None:
    assert grafana.FILE.read_text(encoding="utf-8") == grafana.text(), "python -m infra.grafana"


def test_every_metric_has_its_panel_and_no_panel_asks_for_what_is_not_emitted(
    tmp_path: Path,
) -> None:
    shown = Exposition(str(tmp_path), lambda tell: tell(Metric.TICKET_QUEUE_DEPTH, 0))().decode()
    emitted = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in text_string_to_metric_families(shown)
    }
    named = {SUFFIX.sub("", name) for each in expressions() for name in NAME.findall(each)}
    assert named == emitted == {metric.value for metric in TITLES}


def test_panels_choose_and_group_by_labels_that_their_metric_is_kept_by() -> None:
    for expression in expressions():
        metric = Metric(SUFFIX.sub("", NAME.findall(expression)[0]))
        grouped = [each for by in BY.findall(expression) for each in by.split(", ")]
        used = {*LABEL.findall(expression), *grouped} - {"le"}
        assert used <= set(label_names(SHAPES[metric])), expression
        assert ("_bucket" in expression) <= (SHAPES[metric].sort is Sort.SPREAD)
