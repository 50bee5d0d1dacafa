"""The fourteen metrics as lines of CloudWatch's embedded format; for the laptop's, see prometheus.

How many series there can be is bounded: a label of a metric takes at most `MOST_VALUES` values in a
process, the next ones are counted as `other`.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Literal

from cairn.kernel.metrics import SHAPES, Metric, Metrics, Shape, Sort, untold
from cairn.settings import metrics_folder

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from aws_lambda_powertools.metrics import EphemeralMetrics

    from cairn.llm.costs import CallLog, CallRecord, Spending

MOST_VALUES = 100
MOST_CHARS = 128
OTHER = "other"


def metrics(stage: Literal["local", "prod"]) -> Metrics:
    """Return the hook for use cases; on AWS each value is a line of its own."""
    if stage == "prod":
        return EmbeddedMetrics()
    if metrics_folder() is None:
        return untold
    from cairn.bootstrap.prometheus import PrometheusMetrics

    return PrometheusMetrics()


class Bounds:
    """Holds a label to so many values in a process: those that come later are `other`."""

    def __init__(self) -> None:
        self._seen: dict[tuple[Metric, str], set[str]] = {}
        self._lock = Lock()

    def __call__(self, metric: Metric, name: str, label: str) -> str:
        """Return a label in ASCII, short, and one of `MOST_VALUES`; an empty one stays empty."""
        label = label.encode("ascii", "replace").decode().strip()[:MOST_CHARS]
        with self._lock:
            seen = self._seen.setdefault((metric, name), set())
            if label not in seen and len(seen) >= MOST_VALUES:
                return OTHER
            seen.add(label)
        return label


class EmbeddedMetrics:
    """Writes metrics to standard output, where CloudWatch Logs takes them from."""

    def __init__(self) -> None:
        self._bounds = Bounds()

    def __call__(self, metric: Metric, value: float = 1, /, **labels: object) -> None:
        """As `Metrics`."""
        from aws_lambda_powertools.metrics import EphemeralMetrics

        from cairn.bootstrap.metrics import NAMESPACE

        shape = SHAPES[metric]
        named = {
            name: self._bounds(metric, name, str(label)) or OTHER
            for name, label in labels.items()
            if label
        }
        sets = _sets(shape, named)
        if not sets:  # a gauge that is kept otherwise: no line, rather than a wrong total
            return
        line = EphemeralMetrics(namespace=NAMESPACE)
        line.service = ""
        line.add_metric(name=metric, unit=shape.unit, value=value)
        for place, names in enumerate(sets):
            _add(line, {name: named[name] for name in names}, first=place == 0)
        kept = {name for names in shape.sets for name in names}
        for name in named.keys() - kept:
            line.add_metadata(key=name, value=named[name])
        line.flush_metrics()


@dataclass(frozen=True)
class MeasuredCalls:
    """A log of model calls that counts what it keeps."""

    log: CallLog
    metrics: Metrics

    def spent(self, workspace_id: UUID, run_id: UUID | None, at: datetime) -> Spending:
        """As `CallLog`."""
        return self.log.spent(workspace_id, run_id, at)

    def record(self, record: CallRecord) -> None:
        """As `CallLog`; a call without a known price adds nothing to the cost."""
        self.log.record(record)
        told = {"workspace": record.workspace_id, "model": record.model}
        if record.usage.total:
            self.metrics(
                Metric.LLM_TOKENS, record.usage.total, **told, purpose=record.purpose.value
            )
        if record.cost_usd is not None:
            self.metrics(Metric.LLM_USD, float(record.cost_usd), **told)


def _sets(shape: Shape, named: dict[str, str]) -> list[tuple[str, ...]]:
    """Return the sets of labels this value is kept by; a gauge by exactly its own."""
    if shape.sort is Sort.GAUGE:
        return [names for names in shape.sets if set(names) == set(named)]
    return [names for names in shape.sets if set(names) <= set(named)]


def _add(line: EphemeralMetrics, dimensions: dict[str, str], *, first: bool) -> None:
    """Add a set; the first is the line's own and may be empty: the total."""
    if not first:
        line.add_dimensions(**dimensions)
        return
    for name, value in dimensions.items():
        line.add_dimension(name=name, value=value)
