"""One page that shows whether Cairn is well: what comes in, what waits, what fails, how slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.cdk.constructs.alarms import SEARCHING, function_metric

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
    page.add_widgets(*_front(front))
    page.add_widgets(*_queue(pipeline))
    page.add_widgets(*_functions(functions))
    page.add_widgets(*_searches())
    page.add_widgets(*_feedback(functions))
    page.add_widgets(*_machines(pipeline))
    return page


def _front(front: ApiStack) -> list[cloudwatch.IWidget]:
    api = front.http.api
    requests = [api.metric_count(period=PERIOD), api.metric_server_error(period=PERIOD)]
    latency = [api.metric_latency(period=PERIOD, statistic=at) for at in ("p50", "p95")]
    return [_graph("Requests", requests), _graph("Latency of the API", latency)]


def _queue(pipeline: PipelineStack) -> list[cloudwatch.IWidget]:
    waiting, dead = pipeline.queues["embed"].queue, pipeline.queues["embed"].dead_letters
    messages = [
        queue.metric_approximate_number_of_messages_visible(period=PERIOD)
        for queue in (waiting, dead)
    ]
    oldest = [
        waiting.metric_approximate_age_of_oldest_message(period=PERIOD),
        function_metric("audit", "OldestOutboxSeconds", "Maximum"),
    ]
    return [_graph("Waiting to be embedded", messages), _graph("Oldest message and row", oldest)]


def _functions(functions: Mapping[str, lambda_.Function]) -> list[cloudwatch.IWidget]:
    each = functions.values()
    errors = [function.metric_errors(period=PERIOD) for function in each]
    duration = [function.metric_duration(period=PERIOD, statistic="p95") for function in each]
    return [_graph("Errors", errors), _graph("Duration, p95", duration)]


def _searches() -> list[cloudwatch.IWidget]:
    time = [
        function_metric(function, "RecallMilliseconds", at)
        for function in SEARCHING
        for at in ("p50", "p95")
    ]
    trouble = [
        function_metric(function, name, "Sum")
        for function in SEARCHING
        for name in ("RecallDegraded", "VectorLegEmpty")
    ]
    return [_graph("Searches, ms", time), _graph("Searches with a part missing", trouble)]


def _feedback(functions: Mapping[str, lambda_.Function]) -> list[cloudwatch.IWidget]:
    """What readers said of results: over time, and by recipe, reason and signal."""
    metrics = [
        function_metric("api", name, "Sum") for name in ("FeedbackUseful", "FeedbackUnhelpful")
    ]
    table = cloudwatch.LogQueryWidget(
        title="Feedback by recipe, reason and signal",
        log_group_names=[functions["api"].log_group.log_group_name],
        query_lines=[
            'filter message = "recall.feedback"',
            "stats count(*) as judged, avg(useful) as share by recipe, retrieval_reason, signal",
            "sort judged desc",
        ],
        view=cloudwatch.LogQueryVisualizationType.TABLE,
        width=HALF_A_ROW,
    )
    return [_graph("Feedback on results", metrics), table]


def _machines(pipeline: PipelineStack) -> list[cloudwatch.IWidget]:
    ends = {
        name: [
            machine.metric_started(period=PERIOD),
            machine.metric_succeeded(period=PERIOD),
            machine.metric_failed(period=PERIOD),
        ]
        for name, machine in pipeline.machines.items()
    }
    return [_graph(f"Executions: {name}", metrics) for name, metrics in ends.items()]


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=HALF_A_ROW)
