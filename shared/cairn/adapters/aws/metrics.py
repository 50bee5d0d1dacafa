"""CloudWatch metrics as lines of the log: the fifteen, and those of searches and of what waits.

On AWS only: elsewhere nothing reads such lines; for the laptop's, see `adapters.files.prometheus`.
How many series there can be is bounded: `cairn.kernel.metrics.Bounds`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.kernel.metrics import OTHER, SHAPES, Bounds, Metric, Shape, Sort

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from aws_lambda_powertools.metrics import EphemeralMetrics

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

    def report_and_measure(event: str, fields: dict[str, Any]) -> None:
        report(event, fields)
        if values := values_of(event, fields):
            _write(f"cairn-{service}", values)

    return report_and_measure


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
    from aws_lambda_powertools.metrics import EphemeralMetrics

    metrics = EphemeralMetrics(namespace=NAMESPACE, service=service)
    for name, value in values.items():
        metrics.add_metric(name=name, unit=UNITS[name], value=value)
    metrics.flush_metrics()


class EmbeddedMetrics:
    """Writes metrics to standard output, where CloudWatch Logs takes them from."""

    def __init__(self) -> None:
        self._bounds = Bounds()

    def __call__(self, metric: Metric, value: float = 1, /, **labels: object) -> None:
        """As `Metrics`."""
        from aws_lambda_powertools.metrics import EphemeralMetrics

        shape = SHAPES[metric]
        labelled = {
            name: self._bounds(metric, name, str(label)) or OTHER
            for name, label in labels.items()
            if label
        }
        sets = _sets(shape, labelled)
        if not sets:  # a gauge that is kept otherwise: no line, rather than a wrong total
            return
        line = EphemeralMetrics(namespace=NAMESPACE)
        line.service = ""
        line.add_metric(name=metric, unit=shape.unit, value=value)
        for place, names in enumerate(sets):
            _add(line, {name: labelled[name] for name in names}, first=place == 0)
        used = {name for names in shape.sets for name in names}
        for name in labelled.keys() - used:
            line.add_metadata(key=name, value=labelled[name])
        line.flush_metrics()


def _sets(shape: Shape, labelled: dict[str, str]) -> list[tuple[str, ...]]:
    """Return the sets of labels this value is kept by; a gauge by exactly its own."""
    if shape.sort is Sort.GAUGE:
        return [names for names in shape.sets if set(names) == set(labelled)]
    return [names for names in shape.sets if set(names) <= set(labelled)]


def _add(line: EphemeralMetrics, dimensions: dict[str, str], *, first: bool) -> None:
    """Add a set; the first is the line's own and may be empty: the total."""
    if not first:
        line.add_dimensions(**dimensions)
        return
    for name, value in dimensions.items():
        line.add_dimension(name=name, value=value)
