"""CloudWatch metrics of searches and of what waits, as lines of the log: counts and times.

On AWS only: elsewhere nothing reads such lines. The log lines themselves are written everywhere.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.metrics import EphemeralMetrics

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from cairn.recall.ports import Report

NAMESPACE = "Cairn"
VECTOR_LEG_EMPTY = "VectorLegEmpty"
RECALL_DEGRADED = "RecallDegraded"
RECALL_MILLISECONDS = "RecallMilliseconds"
FEEDBACK_USEFUL = "FeedbackUseful"
FEEDBACK_UNHELPFUL = "FeedbackUnhelpful"
OLDEST_OUTBOX_SECONDS = "OldestOutboxSeconds"
UNITS: Mapping[str, str] = MappingProxyType(
    {
        VECTOR_LEG_EMPTY: "Count",
        RECALL_DEGRADED: "Count",
        RECALL_MILLISECONDS: "Milliseconds",
        FEEDBACK_USEFUL: "Count",
        FEEDBACK_UNHELPFUL: "Count",
        OLDEST_OUTBOX_SECONDS: "Seconds",
    }
)
"""Every metric with CloudWatch's unit; the dimension is `service`, the name in the log."""


def measured(service: str, stage: Literal["local", "prod"], report: Report) -> Report:
    """Return `report` with a line of metrics after what it tells; on AWS only."""
    if stage == "local":
        return report

    def told(event: str, fields: dict[str, Any]) -> None:
        report(event, fields)
        if values := values_of(event, fields):
            _write(f"cairn-{service}", values)

    return told


def values_of(event: str, fields: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics that an event is, {} when it is none.

    An empty vector leg counts unless every node the words found has its vector.
    """
    if event == "recall.search":
        return {
            RECALL_MILLISECONDS: fields["ms"],
            RECALL_DEGRADED: float(bool(fields["degraded"])),
        }
    if event == "recall.vector_leg_empty" and not fields["excused"]:
        return {VECTOR_LEG_EMPTY: 1.0}
    if event == "recall.feedback":
        return {FEEDBACK_USEFUL if fields["useful"] else FEEDBACK_UNHELPFUL: 1.0}
    if event == "outbox.oldest":
        return {OLDEST_OUTBOX_SECONDS: float(fields["seconds"])}
    return {}


def _write(service: str, values: Mapping[str, float]) -> None:
    """Write one line in CloudWatch's embedded metric format."""
    metrics = EphemeralMetrics(namespace=NAMESPACE, service=service)
    for name, value in values.items():
        metrics.add_metric(name=name, unit=UNITS[name], value=value)
    metrics.flush_metrics()
