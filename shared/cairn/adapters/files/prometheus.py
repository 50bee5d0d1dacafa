"""The fifteen metrics in the Prometheus format, where the processes of one machine share a folder.

Each process counts in a file of its own there, and `/metrics` adds them up (prometheus-client does
both). Gauges are measured when they are asked for. Not on AWS: CloudWatch has them there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from cairn.kernel.metrics import SHAPES, Bounds, Metric, Shape, Sort

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import Metric as Family

    from cairn.kernel.metrics import Metrics

SECONDS = (1, 5, 15, 60, 300, 900, 3600)
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 1)


class PrometheusMetrics:
    """Counts into this process's file; see `cairn.kernel.metrics.Metrics`."""

    def __init__(self) -> None:
        self._bounds = Bounds()
        self._series: dict[Metric, Any] = {}
        self._lock = Lock()

    def __call__(self, metric: Metric, value: float = 1, /, **labels: object) -> None:
        """As `Metrics`; gauges are not counted."""
        shape = SHAPES[metric]
        if shape.sort is Sort.GAUGE:
            return
        labelled = {
            name: self._bounds(metric, name, str(labels.get(name) or ""))
            for name in label_names(shape)
        }
        with self._lock:
            if metric not in self._series:
                self._series[metric] = _build_metric(metric, shape)
        series = self._series[metric].labels(**labelled) if labelled else self._series[metric]
        series.inc(value) if shape.sort is Sort.COUNTER else series.observe(value)


@dataclass(frozen=True, slots=True)
class Exposition:
    """What `/metrics` answers. `tell_gauges` tells the hook it is given how much stands now."""

    folder: str
    tell_gauges: Callable[[Metrics], object]

    def __call__(self) -> bytes:
        """Return every metric with its series; one that nobody counted yet is 0."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        counted = MultiProcessCollector(None, path=self.folder)
        registry.register(_Collector(counted.collect, self.tell_gauges))
        return generate_latest(registry)


@dataclass(slots=True, eq=False)
class _Collector:
    """Families of the registry: what was counted, what is measured now, and zeros."""

    counted: Callable[[], Iterable[Family]]
    tell_gauges: Callable[[Metrics], object]
    gauges: dict[Metric, list[tuple[dict[str, str], float]]] = field(
        default_factory=dict[Metric, "list[tuple[dict[str, str], float]]"]
    )

    def collect(self) -> Iterable[Family]:
        families = {family.name: family for family in self.counted()}
        self.tell_gauges(self._measured)
        for metric, shape in SHAPES.items():
            if shape.sort is Sort.GAUGE:
                yield self._gauge(metric, shape)
            else:
                yield families.get(_plain(metric)) or _zero(metric, shape)

    def _measured(self, metric: Metric, value: float = 1, /, **labels: object) -> None:
        texts = {name: str(label) for name, label in labels.items()}
        self.gauges.setdefault(metric, []).append((texts, value))

    def _gauge(self, metric: Metric, shape: Shape) -> Family:
        from prometheus_client.core import GaugeMetricFamily

        names = label_names(shape)
        family = GaugeMetricFamily(metric.value, metric.value, labels=names)
        for labels, value in self.gauges.get(metric, []):
            family.add_metric([labels.get(name, "") for name in names], value)
        return family


def label_names(shape: Shape) -> tuple[str, ...]:
    """Return every label a metric is kept by; where one says nothing it is empty."""
    return tuple(sorted({name for names in shape.sets for name in names}))


def _build_metric(metric: Metric, shape: Shape) -> Any:
    from prometheus_client import Counter, Histogram

    names, what = label_names(shape), metric.value
    if shape.sort is Sort.COUNTER:
        return Counter(what, what, names, registry=None)
    buckets = SECONDS if shape.unit == "Seconds" else SHARES
    return Histogram(what, what, names, buckets=buckets, registry=None)


def _zero(metric: Metric, shape: Shape) -> Family:
    from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

    what = metric.value
    if shape.sort is Sort.COUNTER:
        return CounterMetricFamily(what, what, value=0)
    return HistogramMetricFamily(what, what, buckets=[("+Inf", 0)], sum_value=0)


def _plain(metric: Metric) -> str:
    """Return the name a family has without the suffix of counters."""
    return metric.value.removesuffix("_total")
