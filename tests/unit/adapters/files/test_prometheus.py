"""Processes count into one folder, and whoever has the token reads the sums at `/metrics`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.unit.api.fakes import Client, World

from cairn.api.options import ApiOptions
from cairn.kernel.metrics import Metric

COUNT = """
from cairn.bootstrap.parts import metrics
from cairn.kernel.metrics import Metric
tell = metrics("local")
tell(Metric.CONNECTOR_CALLS, connector="desk", tool="reset", outcome="done")
tell(Metric.INVESTIGATION_SECONDS, 70, workspace="w", outcome="DONE")
tell(Metric.TICKET_QUEUE_DEPTH, 99)
for number in range(150):
    tell(Metric.RATE_LIMIT_REJECTIONS, surface=f"s{number}")
"""
SHOW = """
import sys
from cairn.adapters.files.prometheus import Exposition
from cairn.kernel.metrics import Metric
from cairn.settings import metrics_folder
def gauges(tell):
    tell(Metric.TICKET_QUEUE_DEPTH, 3)
    tell(Metric.TICKET_QUEUE_DEPTH, 2, workspace="w")
sys.stdout.buffer.write(Exposition(metrics_folder(), gauges)())
"""


def run(program: str, folder: Path) -> str:
    env = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def test_what_every_process_counted_is_added_up_and_gauges_are_measured_now(tmp_path: Path) -> None:
    run(COUNT, tmp_path)
    run(COUNT, tmp_path)
    families = {
        family.name: family for family in text_string_to_metric_families(run(SHOW, tmp_path))
    }
    assert set(families) == {metric.value.removesuffix("_total") for metric in Metric}

    def samples(name: str) -> list[tuple[dict[str, str], float]]:
        return [(dict(each.labels), each.value) for each in families[name].samples]

    called = {"connector": "desk", "tool": "reset", "outcome": "done"}
    assert samples("cairn_connector_calls") == [(called, 2.0)]
    assert samples("cairn_ticket_queue_depth") == [
        ({"workspace": ""}, 3.0),
        ({"workspace": "w"}, 2.0),
    ]
    slow = {"le": "60.0", "outcome": "DONE", "workspace": "w"}
    assert (slow, 0.0) in samples("cairn_investigations_duration_seconds")
    assert (slow | {"le": "300.0"}, 2.0) in samples("cairn_investigations_duration_seconds")
    assert samples("cairn_llm_tokens") == [({}, 0.0)]
    rejections = samples("cairn_rate_limit_rejections")
    assert len(rejections) == 101
    assert ({"surface": "other"}, 100.0) in rejections


@pytest.mark.parametrize(
    ("token", "given", "status"),
    [
        ("right", {"authorization": "Bearer right"}, 200),
        ("right", {"authorization": "Bearer wrong"}, 401),
        ("right", {}, 401),
        (None, {"authorization": "Bearer None"}, 404),
    ],
)
def test_metrics_are_for_whoever_has_the_token(
    token: str | None, given: dict[str, str], status: int
) -> None:
    answer = Client(World(), key=None, options=ApiOptions(metrics_token=token)).get(
        "/metrics", headers=given
    )
    assert answer.status_code == status
    assert answer.text.startswith("# HELP") == (status == 200)
