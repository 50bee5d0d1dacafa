"""What wakes a person: failures, throttling, messages nobody took, documents that failed.

Thresholds are the smallest that mean something is wrong, not that much is going on.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

if TYPE_CHECKING:
    from aws_cdk import aws_apigatewayv2 as apigw
    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_stepfunctions as sfn

    from infra.cdk.constructs.worked_queue import WorkedQueue

PERIOD = Duration.minutes(5)
OLDEST_MESSAGE_SECONDS = 300
OLDEST_ROW_SECONDS = 900
NAMESPACE = "Cairn"
SEARCHING = ("api", "retrieve")
"""The functions that answer searches, and write the metrics of them."""


def function_metric(function: str, name: str, statistic: str) -> cloudwatch.Metric:
    """A metric that one function writes, by `cairn.adapters.aws.metrics`."""
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"service": f"cairn-{function}"},
        period=PERIOD,
        statistic=statistic,
    )


class Alarms(Construct):
    """Every alarm, sent to `email` when there is one."""

    def __init__(self, scope: Construct, *, email: str) -> None:
        """An empty `email` leaves the alarms in the console."""
        super().__init__(scope, "Alarms")
        self._action = actions.SnsAction(self._topic(email)) if email else None

    def watch_function(self, name: str, function: lambda_.Function) -> None:
        """Errors and throttles of one function."""
        self._alarm(f"{name}-errors", function.metric_errors(period=PERIOD), 0)
        self._alarm(f"{name}-throttles", function.metric_throttles(period=PERIOD), 0)

    def watch_queue(self, name: str, worked: WorkedQueue) -> None:
        """Dead letters at all, and messages older than five minutes."""
        dead = worked.dead_letters.metric_approximate_number_of_messages_visible(
            period=PERIOD, statistic="Maximum"
        )
        oldest = worked.queue.metric_approximate_age_of_oldest_message(
            period=PERIOD, statistic="Maximum"
        )
        self._alarm(f"{name}-dead-letters", dead, 0)
        self._alarm(f"{name}-oldest-message", oldest, OLDEST_MESSAGE_SECONDS)

    def watch_outbox(self) -> None:
        """Work that waits for a worker, measured before every sweep sends it again."""
        oldest = function_metric("audit", "OldestOutboxSeconds", "Maximum")
        self._alarm("outbox-oldest-row", oldest, OLDEST_ROW_SECONDS)

    def watch_machine(self, name: str, machine: sfn.StateMachine) -> None:
        """Executions that failed or ran out of time."""
        self._alarm(f"{name}-failed", machine.metric_failed(period=PERIOD), 0)
        self._alarm(f"{name}-timed-out", machine.metric_timed_out(period=PERIOD), 0)

    def watch_api(self, name: str, api: apigw.HttpApi) -> None:
        """Answers that say the fault is ours."""
        self._alarm(f"{name}-server-errors", api.metric_server_error(period=PERIOD), 0)

    def watch_searches(self, name: str) -> None:
        """Searches by one function that found words and no vectors, three times five minutes.

        What was just written waits for its vectors a few seconds; this does not go away.
        """
        empty = function_metric(name, "VectorLegEmpty", "Sum")
        self._alarm(f"{name}-vector-leg-empty", empty, 0, periods=3)

    def _alarm(
        self, name: str, metric: cloudwatch.Metric, above: float, *, periods: int = 1
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            name,
            alarm_description=f"Cairn: {name.replace('-', ' ')} above {above:g} in five minutes"
            + (f", {periods} times running" if periods > 1 else ""),
            metric=metric,
            threshold=above,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        if self._action:
            alarm.add_alarm_action(self._action)

    def _topic(self, email: str) -> sns.Topic:
        cloudwatch_service = iam.ServicePrincipal("cloudwatch.amazonaws.com")
        key = kms.Key(self, "Key", description="Cairn: alarm messages", enable_key_rotation=True)
        key.grant_encrypt_decrypt(cloudwatch_service)
        topic = sns.Topic(self, "Topic", master_key=key, enforce_ssl=True)
        topic.add_subscription(subscriptions.EmailSubscription(email))
        return topic
