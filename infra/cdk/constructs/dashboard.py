"""One page that shows whether Cairn is well: what comes in, what waits, what fails, how slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aws_cdk import aws_lambda as lambda_
    from constructs import Construct

    from infra.cdk.config import Config
    from infra.cdk.stacks.api import ApiStack
    from infra.cdk.stacks.pipeline import PipelineStack

PERIOD = Duration.minutes(5)
HALF_A_ROW = 12


def dashboard(
    scope: Construct,
    *,
    config: Config,
    functions: Mapping[str, lambda_.Function],
    pipeline: PipelineStack,
    front: ApiStack,
) -> cloudwatch.Dashboard:
    """The dashboard `cairn-<stage>`, two graphs a row."""
    page = cloudwatch.Dashboard(scope, "Dashboard", dashboard_name=f"cairn-{config.stage}")
    api, queue, machine = front.http.api, pipeline.embed, pipeline.machine
    each = functions.values()
    page.add_widgets(
        _graph(
            "Requests", [api.metric_count(period=PERIOD), api.metric_server_error(period=PERIOD)]
        ),
        _graph(
            "Latency of the API",
            [api.metric_latency(period=PERIOD, statistic=at) for at in ("p50", "p95")],
        ),
    )
    page.add_widgets(
        _graph(
            "Waiting to be embedded",
            [
                queue.queue.metric_approximate_number_of_messages_visible(period=PERIOD),
                queue.dead_letters.metric_approximate_number_of_messages_visible(period=PERIOD),
            ],
        ),
        _graph("Oldest message", [queue.queue.metric_approximate_age_of_oldest_message()]),
    )
    page.add_widgets(
        _graph("Errors", [function.metric_errors(period=PERIOD) for function in each]),
        _graph(
            "Duration, p95",
            [function.metric_duration(period=PERIOD, statistic="p95") for function in each],
        ),
    )
    page.add_widgets(
        _graph(
            "Documents",
            [
                machine.metric_started(period=PERIOD),
                machine.metric_succeeded(period=PERIOD),
                machine.metric_failed(period=PERIOD),
            ],
        ),
    )
    return page


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=HALF_A_ROW)
