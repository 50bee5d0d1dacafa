"""One page that shows agents at work: a graph for each metric of `cairn.kernel.metrics`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from cairn.kernel.metrics import SHAPES, Metric, Sort
from infra.cdk.constructs.alarms import NAMESPACE
from infra.metric_titles import TITLES

if TYPE_CHECKING:
    from constructs import Construct

    from infra.cdk.config import Config

PERIOD = Duration.minutes(5)
GAUGE_PERIOD = Duration.hours(1)
"""Gauges are told hourly."""

THIRD_OF_A_ROW = 8
_STATISTICS = {
    Sort.COUNTER: ("Sum",),
    Sort.SPREAD: ("p50", "p95", "p99"),
    Sort.GAUGE: ("Maximum",),
}


def agents_dashboard(scope: Construct, *, config: Config) -> cloudwatch.Dashboard:
    """The dashboard `cairn-<stage>-agents`, three graphs a row: totals, and their parts."""
    page = cloudwatch.Dashboard(
        scope, "AgentsDashboard", dashboard_name=f"cairn-{config.stage}-agents"
    )
    graphs = [_graph(metric) for metric in Metric]
    for start in range(0, len(graphs), 3):
        page.add_widgets(*graphs[start : start + 3])
    return page


def _graph(metric: Metric) -> cloudwatch.GraphWidget:
    shape = SHAPES[metric]
    period = GAUGE_PERIOD if shape.sort is Sort.GAUGE else PERIOD
    totals = [
        cloudwatch.Metric(
            namespace=NAMESPACE,
            metric_name=metric.value,
            period=period,
            statistic=statistic,
            label=f"all, {statistic}",
        )
        for statistic in _statistics(metric)
    ]
    parts = [
        _by(metric, names, period) for names in shape.sets if names and "workspace" not in names
    ]
    return cloudwatch.GraphWidget(
        title=TITLES[metric], left=[*totals, *parts], width=THIRD_OF_A_ROW
    )


def _by(metric: Metric, names: tuple[str, ...], period: Duration) -> cloudwatch.MathExpression:
    """Every series of a set of labels, whatever their values are."""
    schema = ",".join((NAMESPACE, *names))
    statistic = _statistics(metric)[0]
    return cloudwatch.MathExpression(
        expression=(
            f"SEARCH('{{{schema}}} MetricName=\"{metric.value}\"', '{statistic}', "
            f"{round(period.to_seconds())})"
        ),
        label="",
        period=period,
        using_metrics={},
    )


def _statistics(metric: Metric) -> tuple[str, ...]:
    if metric is Metric.CONNECTOR_HEALTH:
        return ("Average",)
    if metric is Metric.RETRIEVAL_HIT_RATE:
        return ("Average", "p50")
    return _STATISTICS[SHAPES[metric].sort]
